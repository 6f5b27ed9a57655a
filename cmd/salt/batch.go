package salt

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// batchSpec is what a batch is to do.
type batchSpec struct {
	jid      string // one for the whole run
	fun      any
	arg      []any
	kwargs   *payload.Map
	tgt      any
	tgtType  string
	ret      string
	user     string
	driver   string // batchByCLI or batchByMaster
	size     any    // number or percentage, as typed
	failhard bool
	wait     time.Duration // for which the place of a finished minion stays taken
	timeout  time.Duration
	gather   time.Duration
}

// Who drives a batch: the tool that started it, or the master.
const (
	batchByCLI    = "cli"
	batchByMaster = "master"
)

// failhard is the reason of a batch that ended at a failure, and the option that wants it.
const failhard = "failhard"

// batchState is a batch at work. It holds no clock and no socket, so that the rules can be tested by themselves.
// Answers to salt/utils/batch_state.py.
type batchState struct {
	batchSpec
	places  int          // minions at work at the same time
	all     []string     // ids in the order they are taken
	pending []string     // not yet published to
	active  *payload.Map // id → time of its publication, in seconds
	done    *payload.Map // id → {ret, retcode, ...}
	failed  *payload.Map // id → "failed" or "timeout"
	waits   []time.Time  // when the places of finished minions come free
	halted  bool
	reason  string // why it was halted: "failhard", "stop"
	created time.Time
	last    time.Time // of the last step
}

// batchReturn is the return of one minion.
type batchReturn struct {
	id      string
	data    *payload.Map // ret, out, retcode, jid
	retcode int
	failed  bool // the return says that the job did not reach the minion
}

// bad tells whether a return ends a batch that ends at failures.
func (r batchReturn) bad() bool { return r.failed || r.retcode > 0 }

// newBatch starts a batch over minions. A size that cannot be read is an error in Salt's words.
func newBatch(spec batchSpec, minions []string, now time.Time) (*batchState, error) {
	places, err := batchSize(spec.size, len(minions))
	if err != nil {
		return nil, err
	}
	return &batchState{batchSpec: spec, places: places, all: slices.Clone(minions), pending: slices.Clone(minions),
		active: payload.NewMap(0), done: payload.NewMap(0), failed: payload.NewMap(0), created: now, last: now}, nil
}

// batchSize is how many of n minions work at the same time, at least one: a number, or a percentage of n.
func batchSize(size any, n int) (int, error) {
	text := strings.TrimSpace(pytext.Str(size))
	bad := fmt.Errorf("Invalid batch specification %s: must be an integer or percentage string like '10' or '25%%'.", pytext.Repr(size))
	if !strings.Contains(text, "%") {
		places, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
		if err != nil {
			return 0, bad
		}
		return max(1, places), nil
	}
	percent, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(text, "%")), 64)
	share := percent / 100 * float64(n)
	if err != nil || math.IsNaN(share) || math.IsInf(share, 0) {
		return 0, bad
	}
	return max(1, int(share)), nil
}

// finished tells whether there is nothing more to do.
func (b *batchState) finished() bool {
	return b.halted || len(b.pending) == 0 && b.active.Len() == 0
}

// step takes returns, and minions that will not return, and says whom to publish to next. changed is false when
// nothing happened that anybody wants to know.
func (b *batchState) step(now time.Time, returns []batchReturn, silent []string) (publish []string, changed bool) {
	bad := false
	for _, r := range returns {
		if b.settled(r.id) {
			continue
		}
		if r.failed {
			b.leave(now, r.id, b.failed, "failed")
		} else {
			b.leave(now, r.id, b.done, r.data)
		}
		bad = bad || r.bad()
		changed = true
	}
	for _, id := range silent {
		if !b.settled(id) {
			b.leave(now, id, b.failed, "timeout")
			changed = true
		}
	}
	b.waits = slices.DeleteFunc(b.waits, func(t time.Time) bool { return !t.After(now) })
	if bad && b.failhard {
		b.halt(failhard)
	}
	publish = b.take(now)
	b.last = now
	return publish, changed || len(publish) > 0 || b.halted
}

// adopt takes minions in that have the job though they were none of the batch: the target was sent again, and means them
// since. It returns those who are new.
func (b *batchState) adopt(now time.Time, ids []string) (fresh []string) {
	in := make(map[string]bool, len(b.all))
	for _, id := range b.all {
		in[id] = true
	}
	for _, id := range ids {
		if !in[id] {
			b.all, fresh = append(b.all, id), append(fresh, id)
			b.active.Set(id, epoch(now))
		}
	}
	return fresh
}

// settled tells whether a minion is through: a second return does not count.
func (b *batchState) settled(id string) bool { return b.done.Has(id) || b.failed.Has(id) }

// leave takes a minion out of work. Its place stays taken for a while where that is wanted.
func (b *batchState) leave(now time.Time, id string, to *payload.Map, how any) {
	b.active.Delete(id)
	to.Set(id, how)
	if b.wait > 0 {
		b.waits = append(b.waits, now.Add(b.wait))
	}
}

// halt ends the batch before its time.
func (b *batchState) halt(reason string) { b.halted, b.reason = true, reason }

// take fills the free places from the front of those that wait for their turn.
func (b *batchState) take(now time.Time) []string {
	free := b.places - b.active.Len() - len(b.waits)
	if b.halted || free <= 0 {
		return nil
	}
	taken := slices.Clone(b.pending[:min(free, len(b.pending))])
	b.pending = b.pending[len(taken):]
	for _, id := range taken {
		b.active.Set(id, epoch(now))
	}
	return taken
}

// wake is when a place comes free by itself; zero when none does.
func (b *batchState) wake() time.Time {
	if len(b.waits) == 0 || len(b.pending) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(b.waits, time.Time.Compare)
}

// epoch is a time in seconds, as states and events hold it.
func epoch(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
