package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"brine/actors/master/meter"
	"brine/modules/fleet/jobstore"
	"brine/supervisor"
)

// jobWriter is the job store as its one writer uses it.
type jobWriter interface {
	Commit(loads []jobstore.Load, returns []jobstore.Return) (jobstore.Result, error)
	Clean(now time.Time) (removed int, err error)
	Compact(ctx context.Context) (from, to int64, err error)
}

// WriterOptions are what the JobStore needs of the master.
type WriterOptions struct {
	store       jobWriter
	facts       jobFacts
	Meter       *meter.Meter
	Log         *slog.Logger
	owed        *owed                       // outlives the actor
	FilesFailed func(jid string, err error) // says that the files for Salt's tools cannot be written
	Server      func() *supervisor.Ref      // the ReqServer; nil, or returns nil: there is none
}

// jobStore is the only writer of the job store. It groups commits: while one is on its way to the disk the
// next group gathers, so the number of synced writes does not grow with the load.
type jobStore struct {
	opt      WriterOptions
	next     *group        // gathers
	work     chan *group   // to the writer, which has one at a time
	ended    chan struct{} // closed when the writer has
	failed   chan *group   // from the writer: what of a group that it could not write nobody sends again
	busy     bool          // the writer has a group
	cleaning bool
	failing  bool // the last commit failed: said once, until one succeeds
	retrying bool // a RetryJobs is on its way
}

// group is what one commit writes.
type group struct {
	loads   []*SaveLoad
	returns []*StoreReturn
	waiting []*AwaitJobs
	facts   bool // of all jobs, not only of those in the group
}

func (g *group) empty() bool { return len(g.loads)+len(g.returns)+len(g.waiting) == 0 && !g.facts }

func (s *jobStore) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		s.onStarted(ctx)
	case *SaveLoad:
		s.next.loads = append(s.next.loads, m)
		s.commit()
	case *StoreReturn:
		s.next.returns = append(s.next.returns, m)
		s.commit()
	case *AwaitJobs:
		s.onAwaitJobs(m)
	case *supervisor.Flush:
		s.onAwaitJobs(&AwaitJobs{Done: func() { s.afterAnswers(m.Done) }})
	case *SaveFacts:
		s.next.facts = true
		s.commit()
	case *CommitDone:
		s.onCommitDone(ctx, m)
	case *CleanJobs:
		s.onCleanJobs(ctx, m)
	case *RetryJobs:
		s.retrying = false
		s.takeOwed()
		s.commit()
	case *CleanDone:
		s.cleaning = false
	case *supervisor.Stopping:
		s.onStopping()
	default:
		supervisor.Unhandled(ctx)
	}
}

// onAwaitJobs answers at once when nothing is on its way to the disk.
func (s *jobStore) onAwaitJobs(m *AwaitJobs) {
	if !s.busy && s.next.empty() {
		m.Done()
		return
	}
	s.next.waiting = append(s.next.waiting, m)
	s.commit()
}

// onStarted starts the writer. The next incarnation starts when it has ended: two never write at once.
func (s *jobStore) onStarted(ctx supervisor.Context) {
	s.next, s.work, s.ended, s.failed = &group{}, make(chan *group, 1), make(chan struct{}), make(chan *group, 1)
	if s.opt.owed == nil {
		s.opt.owed = &owed{log: s.opt.Log}
	}
	self, work, ended, failed := supervisor.Self(ctx), s.work, s.ended, s.failed
	supervisor.Go(ctx, "writer", func(ctx context.Context) error {
		defer close(ended)
		for {
			select {
			case g := <-work:
				files, err := s.write(g)
				if err != nil {
					failed <- g.owed()
				}
				self.Send(&CommitDone{Err: err, Files: files, by: s})
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	s.takeOwed() // of a predecessor
	s.commit()
}

// commit gives the group that has gathered to the writer, unless that has one.
func (s *jobStore) commit() {
	if s.busy || s.next.empty() {
		return
	}
	s.work <- s.next
	s.next, s.busy = &group{}, true
}

// write commits one group and tells what became of it. It runs beside the actor and touches only what
// it was given.
func (s *jobStore) write(g *group) (files, err error) {
	var alone map[int]error // returns that failed for themselves
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("job store: %v", p)
		}
		s.settle(g, alone, err)
	}()
	now := time.Now()
	returns := make([]jobstore.Return, len(g.returns))
	for i, r := range g.returns {
		returns[i] = jobstore.Return{JID: r.JID, ID: r.ID, By: r.By, Load: r.Load, Facts: s.opt.facts.of(r, now)}
	}
	pieces := s.opt.facts.pieces(g)
	if len(g.loads)+len(g.returns)+len(pieces) == 0 {
		return nil, nil
	}
	loads := make([]jobstore.Load, len(g.loads), len(g.loads)+len(pieces))
	for i, l := range g.loads {
		loads[i] = jobstore.Load{JID: l.JID, Load: l.Load, Minions: l.Minions, Syndic: l.Syndic, NoCache: l.NoCache,
			By: l.By, Announced: l.Announced}
	}
	began := time.Now()
	res, err := s.opt.store.Commit(append(loads, pieces...), returns)
	s.opt.Meter.Committed(len(loads)+len(returns), began, err)
	if err != nil {
		s.opt.facts.unkept(pieces, returns)
		return nil, err
	}
	s.tell(res, g)
	for _, f := range res.Failed {
		if alone == nil {
			alone = map[int]error{}
		}
		alone[f.Index] = f.Err
		s.opt.facts.again(g.returns[f.Index].JID)
	}
	return res.Files, nil
}

// settle tells what became of the returns of a group, and then who waits for the group. alone are those that failed for
// themselves.
func (s *jobStore) settle(g *group, alone map[int]error, err error) {
	var outcomes []Outcome
	for i, r := range g.returns {
		why := err
		if own := alone[i]; own != nil {
			why = own
		}
		if r.settle(why) && r.Receipt != nil {
			outcomes = append(outcomes, Outcome{r.Receipt, why})
		}
	}
	if len(outcomes) > 0 {
		if m := (&ReturnsStored{Outcomes: outcomes}); !s.toServer(m) {
			m.Tell()
		}
	}
	for _, w := range g.waiting {
		w.Done()
	}
}

// toServer sends something to the ReqServer; false: there is none.
func (s *jobStore) toServer(msg any) bool {
	if s.opt.Server == nil {
		return false
	}
	ref := s.opt.Server()
	if ref != nil {
		ref.Send(msg)
	}
	return ref != nil
}

// afterAnswers calls done when the requests of all returns that are stored by now have been answered.
func (s *jobStore) afterAnswers(done func()) {
	if !s.toServer(&AnswersGiven{Done: done}) {
		done()
	}
}

// tell logs what was not stored, and why. A return that came again, the same as before, is what a minion sends
// when it did not hear our answer.
func (s *jobStore) tell(res jobstore.Result, g *group) {
	for _, f := range res.Failed {
		r := g.returns[f.Index]
		s.opt.Log.Error("a return cannot be stored", "minion", r.ID, "jid", r.JID, "err", f.Err)
	}
	for _, f := range res.Loads {
		s.opt.Log.Error("a job cannot be stored", "jid", g.loads[f.Index].JID, "err", f.Err)
	}
	for _, x := range res.Extras {
		r := g.returns[x.Index]
		if x.Why == jobstore.Differing {
			s.opt.Log.Error(fmt.Sprintf("An extra return was detected from minion %s, please verify the minion, "+
				"this could be a replay attack", r.ID), "jid", r.JID)
			continue
		}
		s.opt.Log.Debug("return not stored", "minion", r.ID, "jid", r.JID, "why", x.Why.String())
	}
}

func (s *jobStore) onCommitDone(ctx supervisor.Context, m *CommitDone) {
	if m.by != s {
		return // a predecessor's: the writer of this one may have another group
	}
	s.busy = false
	if m.Err != nil {
		supervisor.Failed(ctx)
		if !s.failing {
			s.opt.Log.Error("jobs cannot be stored: returns are refused until they can", "err", m.Err)
		}
		s.owe(ctx)
	} else if s.failing {
		s.opt.Log.Warn("jobs can be stored again")
		s.opt.owed.again()
		s.takeOwed()
	}
	s.failing = m.Err != nil
	if m.Files != nil {
		s.opt.FilesFailed("", m.Files)
	}
	s.commit()
}

// onCleanJobs removes old jobs beside the commits, and then makes the file smaller when that is worth it.
func (s *jobStore) onCleanJobs(ctx supervisor.Context, m *CleanJobs) {
	if s.cleaning {
		return
	}
	s.cleaning = true
	self, store, log := supervisor.Self(ctx), s.opt.store, s.opt.Log
	supervisor.Go(ctx, "clean", func(ctx context.Context) error {
		n, err := store.Clean(m.Now)
		if err != nil {
			log.Error("old jobs could not be removed", "err", err)
		} else if n > 0 {
			log.Info("old jobs removed", "jobs", n)
		}
		compact(ctx, store, log)
		self.Send(&CleanDone{})
		return nil
	})
}

// compact takes the free pages out of the file of jobs.
func compact(ctx context.Context, store jobWriter, log *slog.Logger) {
	began := time.Now()
	switch from, to, err := store.Compact(ctx); {
	case ctx.Err() != nil:
	case err != nil:
		log.Warn("the job store stays larger than it need be", "err", err)
	case from > 0:
		log.Info("job store compacted", "from", from, "to", to, "took", time.Since(began))
	}
}

// onStopping writes what is left, also when the actor dies: nobody has been told that it is stored, but there is no
// reason to lose it.
func (s *jobStore) onStopping() {
	if s.ended == nil {
		return
	}
	<-s.ended // its context is cancelled: it ends with the group in hand
	s.addOwed()
	select {
	case g := <-s.work:
		s.next.loads, s.next.returns = append(g.loads, s.next.loads...), append(g.returns, s.next.returns...)
		s.next.waiting = append(g.waiting, s.next.waiting...)
	default:
	}
	s.next.facts = true
	s.takeOwed()
	if _, err := s.write(s.next); err != nil {
		s.opt.Log.Error("jobs cannot be stored", "err", err)
		s.opt.owed.add(s.next.owed())
	}
	s.next = &group{}
}
