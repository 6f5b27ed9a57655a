package jobs

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"brine/supervisor"
	"brine/wire/payload"
)

// owed is what the JobStore could not write and nobody sends again: the loads of jobs, and the returns of the master's
// own runs. It is held in memory, as far as there is room, until the disk takes it. One incarnation at a time uses it.
type owed struct {
	log     *slog.Logger
	loads   []*SaveLoad
	returns []*StoreReturn
	size    int64
	tries   int  // since something was written
	told    bool // that something is dropped
}

// Limits of what is owed.
const (
	owedBytes    = 64 << 20
	owedEntries  = 100_000
	owedPause    = time.Second
	owedPauseMax = 15 * time.Second
)

// owed is what of a group nobody sends again.
func (g *group) owed() *group {
	left := &group{loads: slices.DeleteFunc(slices.Clone(g.loads), func(l *SaveLoad) bool { return l.Again })}
	for _, r := range g.returns {
		if r.Keep { // whoever waits for it is told by now
			left.returns = append(left.returns, &StoreReturn{JID: r.JID, ID: r.ID, Load: r.Load, Keep: true})
		}
	}
	return left
}

// add takes what could not be written. Beyond the limits the oldest goes: such a job is made of its first return.
func (o *owed) add(g *group) {
	for _, l := range g.loads {
		o.loads = append(o.loads, l)
		o.size += l.weight()
	}
	for _, r := range g.returns {
		o.returns = append(o.returns, r)
		o.size += weight(r.Load)
	}
	dropped := 0
	for ; o.full() && len(o.loads) > 0; dropped++ {
		o.size -= o.loads[0].weight()
		o.loads = o.loads[1:]
	}
	for ; o.full() && len(o.returns) > 0; dropped++ {
		o.size -= weight(o.returns[0].Load)
		o.returns = o.returns[1:]
	}
	if dropped > 0 && !o.told {
		o.told = true
		o.log.Error("loads of jobs are dropped: too many wait until they can be stored", "bytes", owedBytes, "jobs",
			owedEntries)
	}
}

func (o *owed) full() bool { return o.size > owedBytes || len(o.loads)+len(o.returns) > owedEntries }

func (o *owed) empty() bool { return len(o.loads)+len(o.returns) == 0 }

// again says that the disk takes something.
func (o *owed) again() { o.tries, o.told = 0, false }

func (l *SaveLoad) weight() int64 {
	n := weight(l.Load)
	for _, id := range l.Minions {
		n += int64(len(id)) + 16
	}
	return n
}

// weight is about how much memory a load takes.
func weight(load *payload.Map) int64 {
	b, err := payload.MarshalBin(load)
	if err != nil {
		return 0 // it will fail alone
	}
	return 2*int64(len(b)) + 256
}

// owe keeps what could not be written, and tries again after a pause.
func (s *jobStore) owe(ctx supervisor.Context) {
	o := s.opt.owed
	s.addOwed()
	if o.empty() || s.retrying {
		return
	}
	s.retrying = true
	pause := min(owedPause<<min(o.tries, 5), owedPauseMax)
	o.tries++
	self := supervisor.Self(ctx)
	unhook := make(chan func() bool, 1) // or each pause would leave something on the context
	stop := time.AfterFunc(pause, func() { (<-unhook)(); self.Send(&RetryJobs{}) })
	unhook <- context.AfterFunc(supervisor.Lifetime(ctx), func() { stop.Stop() })
}

// addOwed takes over what the writer could not write.
func (s *jobStore) addOwed() {
	select {
	case g := <-s.failed:
		s.opt.owed.add(g)
	default:
	}
}

// takeOwed puts what is owed at the head of the next group.
func (s *jobStore) takeOwed() {
	o := s.opt.owed
	s.next.loads, s.next.returns = append(o.loads, s.next.loads...), append(o.returns, s.next.returns...)
	o.loads, o.returns, o.size = nil, nil, 0
}
