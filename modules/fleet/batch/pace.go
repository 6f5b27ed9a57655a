package batch

import "time"

// Limits of telling how far a batch is: the least time between two times, and how many times that of the last one.
//
// Unlike Salt: not with each return. What is told is the whole batch, so that its cost grows with its square.
const (
	paceLeast = 50 * time.Millisecond
	paceTimes = 20
)

// Pace says when it is told how far a batch is.
type Pace struct {
	news bool      // there is something to tell
	next time.Time // not before
}

// Due tells whether it is time to tell.
func (p *Pace) Due(changed bool) bool {
	p.news = p.news || changed
	return p.news && !time.Now().Before(p.next)
}

// Tell lets it be told.
func (p *Pace) Tell(how func()) {
	began := time.Now()
	how()
	now := time.Now()
	p.news, p.next = false, now.Add(max(paceLeast, paceTimes*now.Sub(began)))
}

// Wake is when it is time to tell; zero when there is nothing.
func (p *Pace) Wake() time.Time {
	if !p.news {
		return time.Time{}
	}
	return p.next
}

// Sooner is the earlier of two times; zero is never.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
