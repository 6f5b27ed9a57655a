package door

import (
	"sync"
	"time"
)

const (
	lineInterval = time.Minute // between two log records of one cause and one address
	maxLines     = 1024        // causes and addresses that are told apart; past it all others are one
)

// Lines bounds what strangers make the log say. The zero value is ready. The first of a cause and an address is written
// at once; how many more there were is in the next record of the same kind, a minute later at the earliest.
type Lines struct {
	mu   sync.Mutex
	seen map[lineKey]*lineCount
	now  func() time.Time // nil: the clock
}

type lineKey struct{ cause, from string }

type lineCount struct {
	last time.Time
	more int
}

// Due tells whether a record is to be written, and how many were not before it. from is the address, or whoever else it
// is about.
func (l *Lines) Due(cause, from string) (more int, ok bool) {
	key := lineKey{cause, from}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.now != nil {
		now = l.now()
	}
	c := l.seen[key]
	if c == nil {
		if l.seen == nil || len(l.seen) >= maxLines {
			l.forget(now)
		}
		if len(l.seen) >= maxLines {
			key = lineKey{cause: key.cause}
			c = l.seen[key]
		}
		if c == nil {
			c = &lineCount{}
			l.seen[key] = c
		}
	}
	if !c.last.IsZero() && now.Sub(c.last) < lineInterval && !now.Before(c.last) {
		c.more++
		return 0, false
	}
	more, c.more, c.last = c.more, 0, now
	return more, true
}

// forget drops what has not come for an interval.
func (l *Lines) forget(now time.Time) {
	if l.seen == nil {
		l.seen = map[lineKey]*lineCount{}
	}
	for key, c := range l.seen {
		if now.Sub(c.last) >= lineInterval || now.Before(c.last) {
			delete(l.seen, key)
		}
	}
}
