// Package quota counts what somebody uses of things of which he may have only so much in an hour. It holds no clock and
// does not know what the things are. Salt has nothing like it.
package quota

import (
	"sync"
	"time"
)

// Book keeps what everybody has used. What was used is forgotten evenly: an hour after somebody has used all, he may
// use all again, and meanwhile as much as has been forgotten. Its methods may be called by many goroutines.
type Book struct {
	perHour []float64

	mu   sync.Mutex
	byID map[string][]used
}

// used is what of a thing was in use at a moment.
type used struct {
	n  float64
	at time.Time
}

// maxIDs is how many users are remembered before those that have nothing in use are dropped.
const maxIDs = 4096

// NewBook makes a book of things, each with how much of it there is in an hour; 0: as much as anybody wants.
func NewBook(perHour ...int64) *Book {
	b := &Book{byID: map[string][]used{}}
	for _, n := range perHour {
		b.perHour = append(b.perHour, float64(n))
	}
	return b
}

// Take uses up to n of a thing and returns how much of that there was. share is how many times as much this one has.
func (b *Book) Take(id string, thing int, n, share int, now time.Time) (given int) {
	most := b.perHour[thing]
	if most <= 0 {
		return n
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.of(id, thing, now)
	given = min(n, max(0, int((most-u.n)*float64(share))))
	u.n += float64(given) / float64(share)
	return given
}

// Spend uses n of a thing as long as some is left: what is spent last may be more than that.
func (b *Book) Spend(id string, thing int, n, share int, now time.Time) bool {
	most := b.perHour[thing]
	if most <= 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.of(id, thing, now)
	if u.n >= most {
		return false
	}
	u.n += float64(n) / float64(share)
	return true
}

// of is what somebody has used up to now.
func (b *Book) of(id string, thing int, now time.Time) *used {
	all := b.byID[id]
	if all == nil {
		if len(b.byID) >= maxIDs {
			b.tidy(now)
		}
		all = make([]used, len(b.perHour))
		b.byID[id] = all
	}
	u := &all[thing]
	b.fade(u, thing, now)
	return u
}

// fade forgets what time has made good.
func (b *Book) fade(u *used, thing int, now time.Time) {
	if age := now.Sub(u.at); !u.at.IsZero() && age > 0 {
		u.n = max(0, u.n-age.Hours()*b.perHour[thing])
	}
	u.at = now
}

// tidy drops those that have nothing in use.
func (b *Book) tidy(now time.Time) {
	for id, all := range b.byID {
		idle := true
		for i := range all {
			b.fade(&all[i], i, now)
			idle = idle && all[i].n == 0
		}
		if idle {
			delete(b.byID, id)
		}
	}
}
