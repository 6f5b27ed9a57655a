package minion

import (
	"slices"
	"time"

	"brine/wire/payload"
)

// spooled is a return in the journal.
type spooled struct {
	key  string
	size int64
	at   time.Time // when it was put there
}

// pendingReturn is a return that the master has not acknowledged.
type pendingReturn struct {
	spooled
	jid    string
	load   *payload.Map // nil: it is read from the journal when its turn comes
	asked  *SendReturn  // still to be told that the return is kept
	failed bool         // an attempt has failed
	taken  bool         // an attempt of a predecessor was acknowledged
}

// onDisk tells whether the return survives this process.
func (p *pendingReturn) onDisk() bool { return p.asked == nil }

// trim drops returns that are too old, and the oldest beyond the cap of the spool.
func (r *returnSender) trim() {
	over := r.opt.maxBytes > 0 && r.size > r.opt.maxBytes
	if !over && !r.stale() {
		return
	}
	var all []spooled
	for _, p := range slices.Concat(r.failed, r.waiting) {
		if p.onDisk() {
			all = append(all, p.spooled)
		}
	}
	drop := surplus(all, r.opt.maxBytes, r.opt.maxAge, r.opt.link.clock.Now())
	if len(drop) == 0 {
		return
	}
	gone := make(map[string]bool, len(drop))
	for _, d := range drop {
		gone[d.key] = true
		r.noteDropped(d.key)
		r.opt.over(d.key)
		r.forget(r.known[d.key])
	}
	isGone := func(p *pendingReturn) bool { return gone[p.key] }
	r.failed, r.waiting = slices.DeleteFunc(r.failed, isGone), slices.DeleteFunc(r.waiting, isGone)
	r.opt.log.Error("returns are dropped: the master was away for too long", "count", len(drop), "first", drop[0].key, "last", drop[len(drop)-1].key)
}

// surplus picks what has to go: what is too old, and the oldest beyond the cap.
func surplus(all []spooled, maxBytes int64, maxAge time.Duration, now time.Time) (drop []spooled) {
	var total int64
	for _, r := range all {
		total += r.size
	}
	for _, r := range all {
		old := maxAge > 0 && now.Sub(r.at) > maxAge
		if !old && (maxBytes <= 0 || total <= maxBytes) {
			continue
		}
		total -= r.size
		drop = append(drop, r)
	}
	return drop
}

// stale tells whether the oldest return is too old.
func (r *returnSender) stale() bool {
	most, now := r.opt.maxAge, r.opt.link.clock.Now()
	old := func(list []*pendingReturn) bool {
		return len(list) > 0 && list[0].onDisk() && now.Sub(list[0].at) > most
	}
	return most > 0 && (old(r.failed) || old(r.waiting))
}
