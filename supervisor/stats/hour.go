package stats

import "time"

// Hour counts events in the last 60 minutes, minute by minute. The zero value is empty. It is not safe for concurrent
// use.
type Hour struct {
	minutes [60]int
	last    int64 // minute of the newest count, since 1970
}

// Add counts one event at now.
func (h *Hour) Add(now time.Time) {
	h.turn(now)
	h.minutes[h.last%60]++
}

// Count is the number of events in the hour before now.
func (h *Hour) Count(now time.Time) (n int) {
	if h == nil {
		return 0
	}
	for m := max(h.last-59, now.Unix()/60-59, 0); m <= h.last; m++ {
		n += h.minutes[m%60]
	}
	return n
}

// turn empties the minutes between the newest count and now. A clock that goes backwards changes nothing.
func (h *Hour) turn(now time.Time) {
	minute := now.Unix() / 60
	for m := max(h.last, minute-60) + 1; m <= minute; m++ {
		h.minutes[m%60] = 0
	}
	h.last = max(h.last, minute)
}
