package returns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/actors/minion/journal"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"
)

// pending is a return that the master has not acknowledged.
type pending struct {
	journal.Spooled
	jid    string
	ret    *payload.Return // nil: it is read from the journal when its turn comes
	bytes  int64           // of the return itself, wherever it is
	asked  *Send           // still to be told that the return is kept
	held   *Send           // what the next ReturnSender gets of it, if it is not on disk as it is
	bulky  bool            // it is held in memory; in the journal stands the reason why it is not there
	tries  int             // attempts that have failed
	failed bool            // an attempt has failed
	taken  bool            // an attempt of a predecessor was acknowledged

	refusals int       // attempts that the master answered without taking it
	due      time.Time // before that no other attempt is made
	untaken  bool      // it is in the list of those
	probe    bool      // the attempt under way is to tell whether the master takes them again
	noting   bool      // it is on its way to the journal once more
}

// onDisk tells whether the job is answered if this process dies.
func (p *pending) onDisk() bool { return p.asked == nil }

// trim makes room for the returns that a master which is away, or takes none, will get: what is too old is dropped, and
// beyond the cap of the spool the oldest are replaced by the reason, or dropped. While the master answers the cap
// counts only for those that it does not take.
func (r *sender) trim(ctx supervisor.Context) {
	size := r.untaken.size
	if r.away {
		size = r.size
	}
	if r.opt.MaxBytes > 0 && size > r.opt.MaxBytes || r.stale() || r.many() {
		r.cut(ctx)
	}
}

// maxAge is how old a return may become; 0, for ever, as long as the clock may be wrong.
func (r *sender) maxAge() time.Duration {
	if r.opt.MaxAge > 0 && !r.opt.Calm() {
		return 0
	}
	return r.opt.MaxAge
}

// many tells whether there are more returns than may be, among those that may go.
func (r *sender) many() bool {
	return len(r.untaken.list) > r.opt.Most || r.away && len(r.failed)+len(r.waiting)+len(r.untaken.list) > r.opt.Most
}

// trimAged is trim that looks at the age of those that the master does not take, too.
func (r *sender) trimAged(ctx supervisor.Context) {
	now := r.opt.Clock.Now()
	if most := r.maxAge(); most > 0 && slices.ContainsFunc(r.untaken.list, func(p *pending) bool {
		return p.onDisk() && now.Sub(p.At) > most
	}) {
		r.cut(ctx)
		return
	}
	r.trim(ctx)
}

// cut is what trim does.
func (r *sender) cut(ctx supervisor.Context) {
	most, lists := r.opt.MaxBytes, [][]*pending{r.failed, r.waiting, r.untaken.list}
	if !r.away {
		most = 0
		if r.untaken.size > r.opt.MaxBytes || r.many() {
			most, lists = r.opt.MaxBytes, lists[2:]
		}
	}
	var all []journal.Spooled
	for _, p := range slices.Concat(lists...) {
		if p.onDisk() {
			all = append(all, p.Spooled)
		}
	}
	slices.SortFunc(all, func(a, b journal.Spooled) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Key, b.Key))
	})
	over := max(0, len(all)-r.opt.Most)
	if !r.away && !r.many() {
		over = 0
	}
	replace, drop := surplus(all[over:], most, r.maxAge(), r.opt.Clock.Now())
	drop = slices.Concat(all[:over], drop)
	for _, s := range replace {
		r.replace(ctx, r.known[s.Key])
	}
	if len(drop) == 0 {
		return
	}
	gone := make(map[string]bool, len(drop))
	for _, d := range drop {
		gone[d.Key] = true
		r.noteDropped(d.Key)
		r.opt.over(d.Key)
		r.forget(r.known[d.Key])
	}
	isGone := func(p *pending) bool { return gone[p.Key] }
	r.failed, r.waiting = slices.DeleteFunc(r.failed, isGone), slices.DeleteFunc(r.waiting, isGone)
	r.untaken.drop(isGone)
	why := "the master was away for too long"
	if !r.away {
		why = "the master did not take them"
	}
	r.opt.Log.Error("returns are dropped: "+why, "count", len(drop), "first", drop[0].Key, "last",
		drop[len(drop)-1].Key)
}

// reasonSize is what a return that is replaced by the reason still takes, about. Smaller ones are not replaced.
const reasonSize = 1 << 10

// surplus picks what has to go: what is too old, and beyond the cap the oldest, as far as to replace them does not do.
func surplus(all []journal.Spooled, maxBytes int64, maxAge time.Duration, now time.Time) (replace,
	drop []journal.Spooled) {
	var total int64
	left := make([]int64, len(all)) // bytes of each; 0: it goes
	for i, r := range all {
		left[i] = r.Size
		total += r.Size
	}
	cut := func(i int, to int64) { total, left[i] = total-left[i]+to, to }
	over := func() bool { return maxBytes > 0 && total > maxBytes }
	for i, r := range all {
		if maxAge > 0 && now.Sub(r.At) > maxAge {
			cut(i, 0)
		}
	}
	for i, r := range all {
		if over() && left[i] > reasonSize && !r.Reason {
			cut(i, reasonSize)
		}
	}
	for i, r := range all {
		if over() {
			cut(i, 0)
		}
		switch {
		case left[i] == 0:
			drop = append(drop, r)
		case left[i] < r.Size:
			replace = append(replace, r)
		}
	}
	return replace, drop
}

// replace puts the reason into the journal in place of a return.
func (r *sender) replace(ctx supervisor.Context, p *pending) {
	p.ret, p.Reason = nil, true
	r.resize(p, reasonSize)
	opt, size := r.opt, p.bytes
	supervisor.Send(ctx, r.opt.Journal, &journal.Replace{Key: p.Key,
		Make:  func(ret *payload.Return) ([]byte, error) { return opt.reason(p.Key, ret, size) },
		Asker: r.self, Note: &replaced{ret: p, sender: r},
	})
}

func (r *sender) resize(p *pending, size int64) {
	if p.untaken {
		r.untaken.size += size - p.Size
	}
	r.size, p.Size = r.size-p.Size+size, size
}

func (r *sender) onReplaced(m *replaced) {
	if m.sender != r || r.known[m.ret.Key] != m.ret {
		return
	}
	if m.err != nil { // it stays as it is
		r.opt.Log.Warn("a return cannot be replaced", "jid", m.ret.jid, "err", m.err)
		m.ret.Reason = false
		r.resize(m.ret, m.ret.bytes)
		return
	}
	r.resize(m.ret, m.size)
	r.noteReplaced(m.ret)
}

// giveUp lets a return go that is held in memory. The reason stands in the journal.
func (r *sender) giveUp(p *pending) {
	p.ret, p.bulky, p.Reason = nil, false, true
	r.release(p)
	r.noteReplaced(p)
}

// textUnkept is the return in place of one for which there was no room.
const textUnkept = "The return is lost: the minion keeps at most %d bytes of returns (return_spool_max_bytes) for a " +
	"master that does not answer, and this one had %d"

// reason packs what takes the place of a return. It may be called by any goroutine.
func (o *Options) reason(key string, ret *payload.Return, size int64) ([]byte, error) {
	small := ret.Clone().Fail(fmt.Sprintf(textUnkept, o.MaxBytes, size))
	note := func(f *ledger.Minion) {
		f.Outcome, f.Detail, f.Spooled = ledger.Unkept, o.unkeptText(size), ledger.At(o.Clock.Now())
	}
	body, err := PackReason(o.Diary, key, small, note)
	if err == nil && len(body) > reasonSize {
		return PackReason(o.Diary, key, small.DropArgs(), note)
	}
	return body, err
}

func (o *Options) unkeptText(size int64) string {
	return fmt.Sprintf("%d bytes, return_spool_max_bytes is %d", size, o.MaxBytes)
}

// stale tells whether the oldest return is too old.
func (r *sender) stale() bool {
	most, now := r.maxAge(), r.opt.Clock.Now()
	old := func(list []*pending) bool {
		return len(list) > 0 && list[0].onDisk() && now.Sub(list[0].At) > most
	}
	return most > 0 && (old(r.failed) || old(r.waiting))
}

// PackReason packs what takes the place of a return, with the facts as note changes them.
func PackReason(d *ledger.Diary, key string, ret *payload.Return, note func(*ledger.Minion)) ([]byte, error) {
	load := ret.Map()
	if f, ok := d.Get(key); ok {
		note(&f)
		load = load.Clone().Set(ledger.Field, f.Pack())
	}
	return payload.MarshalBin(load)
}
