// Package batch decides about the batches of salt: who gets the job next, what the state of a batch is for who shows
// and stops it, and which target means just its minions. It holds no connection; cmd/salt and actors/netapi drive it.
// Answers to salt/utils/batch_state.py.
package batch

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/wire/payload"
	"brine/wire/python"
)

// Spec is what a batch is to do.
type Spec struct {
	JID      string // one for the whole run
	Fun      any
	Arg      []any
	Kwargs   *payload.Map
	Tgt      any
	TgtType  string
	Ret      string
	User     string
	Driver   string // ByCLI or ByMaster
	Size     any    // number or percentage, as typed
	Failhard bool
	Wait     time.Duration // for which the place of a finished minion stays taken
	Timeout  time.Duration
	Gather   time.Duration
}

// Who drives a batch: the tool that started it, or the master.
const (
	ByCLI    = "cli"
	ByMaster = "master"
)

// Failhard is the reason of a batch that ended at a failure, and the option that wants it.
const Failhard = "failhard"

// State is a batch at work. It holds no clock: who drives it says what time it is.
type State struct {
	Spec
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

// timedOut is how a minion failed that did not return.
const timedOut = "timeout"

// Return is the return of one minion.
type Return struct {
	ID      string
	Data    *payload.Map // ret, out, retcode, jid
	Retcode int
	Failed  bool // the return says that the job did not reach the minion
}

// Bad tells whether a return ends a batch that ends at failures.
func (r Return) Bad() bool { return r.Failed || r.Retcode > 0 }

// New starts a batch over minions. A size that cannot be read is an error in Salt's words.
func New(spec Spec, minions []string, now time.Time) (*State, error) {
	n, err := places(spec.Size, len(minions))
	if err != nil {
		return nil, err
	}
	return &State{Spec: spec, places: n, all: slices.Clone(minions), pending: slices.Clone(minions),
		active: payload.NewMap(0), done: payload.NewMap(0), failed: payload.NewMap(0), created: now, last: now}, nil
}

// places is how many of n minions work at the same time, at least one: a number, or a percentage of n.
func places(size any, n int) (int, error) {
	text := strings.TrimSpace(python.Str(size))
	bad := fmt.Errorf("Invalid batch specification %s: must be an integer or percentage string like '10' or '25%%'.",
		python.Repr(size))
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

// Finished tells whether there is nothing more to do.
func (b *State) Finished() bool {
	return b.halted || len(b.pending) == 0 && b.active.Len() == 0
}

// Step takes returns, and minions that will not return, and says whom to publish to next. changed is false when
// nothing happened that anybody wants to know.
func (b *State) Step(now time.Time, returns []Return, silent []string) (publish []string, changed bool) {
	bad := false
	for _, r := range returns {
		if b.settled(r.ID) {
			continue
		}
		if r.Failed {
			b.leave(now, r.ID, b.failed, "failed")
		} else {
			b.leave(now, r.ID, b.done, r.Data)
		}
		bad = bad || r.Bad()
		changed = true
	}
	for _, id := range silent {
		if !b.settled(id) {
			b.leave(now, id, b.failed, timedOut)
			changed = true
		}
	}
	b.waits = slices.DeleteFunc(b.waits, func(t time.Time) bool { return !t.After(now) })
	if bad && b.Failhard {
		b.Halt(Failhard)
	}
	publish = b.take(now)
	b.last = now
	return publish, changed || len(publish) > 0 || b.halted
}

// Adopt takes minions in that have the job though they were none of the batch: the target was sent again, and means
// them since. It returns those who are new.
func (b *State) Adopt(now time.Time, ids []string) (fresh []string) {
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
func (b *State) settled(id string) bool { return b.done.Has(id) || b.failed.Has(id) }

// leave takes a minion out of work. Its place stays taken for a while where that is wanted.
func (b *State) leave(now time.Time, id string, to *payload.Map, how any) {
	b.active.Delete(id)
	to.Set(id, how)
	if b.Wait > 0 {
		b.waits = append(b.waits, now.Add(b.Wait))
	}
}

// Halt ends the batch before its time.
func (b *State) Halt(reason string) { b.halted, b.reason = true, reason }

// take fills the free places from the front of those that wait for their turn.
func (b *State) take(now time.Time) []string {
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

// Wake is when a place comes free by itself; zero when none does.
func (b *State) Wake() time.Time {
	if len(b.waits) == 0 || len(b.pending) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(b.waits, time.Time.Compare)
}

// All are the ids of the batch, in the order they are taken.
func (b *State) All() []string { return b.all }

// Places is how many work at the same time, Waiting how many have their turn still to come.
func (b *State) Places() int  { return b.places }
func (b *State) Waiting() int { return len(b.pending) }

// AtWork tells whether a minion has the job and is not through.
func (b *State) AtWork(id string) bool { return b.active.Has(id) }

// Silent tells whether a minion is through without a return.
func (b *State) Silent(id string) bool { return b.failed.Value(id) == timedOut }

// Halted tells whether the batch was ended before its time, and why.
func (b *State) Halted() (reason string, halted bool) { return b.reason, b.halted }

// epoch is a time in seconds, as states and events hold it.
func epoch(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
