package door

import (
	"sync"
	"time"
)

const (
	budgetWindow = time.Minute
	budgetWho    = 1024 // people of whom lines are counted apart; past it all others are one
)

// Budget is how much may be written in a minute: so many bytes, and so many lines about one who. 0 is no limit of that
// kind. Any number of goroutines may use it.
type Budget struct {
	Bytes, Lines int

	mu      sync.Mutex
	since   time.Time
	spent   int
	omitted int // since the last line that was written
	who     map[string]int
	now     func() time.Time // nil: the clock
}

// Spend tells whether a line is to be written, and how many were not before it. who is whom the line is about; "" is
// nobody. The first line of a minute always is.
func (b *Budget) Spend(who string, bytes int) (more int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.now != nil {
		now = b.now()
	}
	if past := now.Sub(b.since); past < 0 || past >= budgetWindow {
		b.since, b.spent, b.who = now, 0, nil
	}
	if !b.fits(who, bytes) {
		b.omitted++
		return 0, false
	}
	b.spent += bytes
	more, b.omitted = b.omitted, 0
	return more, true
}

// fits counts a line about somebody, if there is room for it.
func (b *Budget) fits(who string, bytes int) bool {
	if b.Bytes > 0 && b.spent > 0 && b.spent+bytes > b.Bytes {
		return false
	}
	if b.Lines <= 0 || who == "" {
		return true
	}
	if b.who == nil {
		b.who = map[string]int{}
	}
	if _, known := b.who[who]; !known && len(b.who) >= budgetWho {
		who = "" // all others
	}
	if b.who[who] >= b.Lines {
		return false
	}
	b.who[who]++
	return true
}
