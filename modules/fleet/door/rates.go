package door

import (
	"sync"
	"time"
)

const (
	burst    = 10      // times the allowance of a minute may come at once
	maxRates = 1 << 14 // addresses that are told apart; past it all others are one
)

// Rates lets so many things a minute come from one address, and ten times as many at once. The zero value lets all
// come.
type Rates struct {
	PerMinute int // 0: no limit
	Now       func() time.Time

	mu    sync.Mutex
	from  map[string]*allowance
	swept time.Time
}

// allowance is what an address may still bring.
type allowance struct {
	left float64
	at   time.Time
}

// Take tells whether one more may come from an address, and counts it.
func (r *Rates) Take(from string) bool {
	if r.PerMinute <= 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.Now != nil {
		now = r.Now()
	}
	a := r.of(from, now)
	full := float64(burst * r.PerMinute)
	if past := now.Sub(a.at).Minutes(); past > 0 {
		a.left = min(full, a.left+past*float64(r.PerMinute))
	}
	a.at = now
	if a.left < 1 {
		return false
	}
	a.left--
	return true
}

func (r *Rates) of(from string, now time.Time) *allowance {
	if a := r.from[from]; a != nil {
		return a
	}
	if r.from == nil {
		r.from = map[string]*allowance{}
	}
	if len(r.from) >= maxRates && now.Sub(r.swept) > time.Minute {
		r.swept = now
		for key, a := range r.from {
			if now.Sub(a.at) > burst*time.Minute { // it is full again
				delete(r.from, key)
			}
		}
	}
	if len(r.from) >= maxRates {
		if a := r.from[""]; a != nil {
			return a
		}
		from = ""
	}
	a := &allowance{left: float64(burst * r.PerMinute), at: now}
	r.from[from] = a
	return a
}
