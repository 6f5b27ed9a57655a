package eauth

import (
	"sync"
	"time"
)

const (
	failureWindow = time.Minute // in which failures are counted
	byAddress     = 10          // times the limit of one user are all of an address together
	maxFailing    = 1 << 16     // users and addresses that are counted apart; past it all others are one
)

// failures counts the log-ins that failed in the present minute, by address and user and by address alone. Nobody is
// shut out by what somebody at another address does.
type failures struct {
	mu    sync.Mutex
	since time.Time
	count map[who]int
	slow  time.Duration // the longest failure so far
}

// maxSlow bounds how long a slow backend makes every failure.
const maxSlow = 10 * time.Second

// took notes how long a backend was about a failure and returns the longest: users that it does not know must not stand
// out.
func (f *failures) took(d time.Duration) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow = max(f.slow, min(d, maxSlow))
	return f.slow
}

func (f *failures) longest() time.Duration { return f.took(0) }

// who is a user at an address, or with user "" all of an address; a user named "" is counted there too.
type who struct{ from, user string }

// blocked tells whether so many log-ins have failed that the next is not tried. most is the limit of one user at one
// address, 0: no limit.
func (f *failures) blocked(most int, from, user string, now time.Time) bool {
	if most <= 0 {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn(now)
	return f.count[f.key(who{from, user})] >= most || f.count[f.key(who{from: from})] >= most*byAddress
}

// add counts one that failed, also while there is no limit: there may be one again in the same minute.
func (f *failures) add(from, user string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn(now)
	f.count[f.key(who{from: from})]++
	if user != "" {
		f.count[f.key(who{from, user})]++
	}
}

// turn begins anew with each minute.
func (f *failures) turn(now time.Time) {
	if past := now.Sub(f.since); f.count == nil || past < 0 || past >= failureWindow {
		f.since, f.count = now, map[who]int{}
	}
}

func (f *failures) key(w who) who {
	if _, known := f.count[w]; !known && len(f.count) >= maxFailing {
		return who{}
	}
	return w
}
