package master

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"brine/modules/returners"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the JobStore.
type (
	// SaveLoad stores the load of a job.
	SaveLoad struct {
		JID     string
		Load    *payload.Map
		Minions []string
		NoCache bool
	}
	// StoreReturn stores one return; Stored is called when it is on disk, from another goroutine.
	StoreReturn struct {
		JID, ID string
		Load    *payload.Map
		Stored  func(error)
	}
	// CleanJobs removes what is older than keep_jobs_seconds.
	CleanJobs struct{ Now time.Time }
	// commitDone says that a group is on disk.
	commitDone struct{ err error }
)

// Lost tells the requester that the return was not stored.
func (m *StoreReturn) Lost(why error) { m.Stored(why) }

// jobWriter is the job store as its one writer uses it.
type jobWriter interface {
	Commit(loads []returners.Load, returns []returners.Return) (returners.Result, error)
	Clean(now time.Time) (removed int, err error)
}

// jobStoreOptions are what the JobStore needs of the master.
type jobStoreOptions struct {
	store jobWriter
	log   *slog.Logger
}

// jobStore is the only writer of the job store. It groups commits: while one is on its way to the disk the
// next group gathers, so the number of synced writes does not grow with the load.
type jobStore struct {
	opt     jobStoreOptions
	self    *supervisor.Ref
	loads   []*SaveLoad
	returns []*StoreReturn
	busy    bool
	failing bool // the last commit failed: said once, until one succeeds
}

func (s *jobStore) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.self = supervisor.Self(ctx)
	case *SaveLoad:
		s.loads = append(s.loads, m)
		s.commit(ctx)
	case *StoreReturn:
		s.returns = append(s.returns, m)
		s.commit(ctx)
	case *commitDone:
		s.onCommitDone(ctx, m)
	case *CleanJobs:
		s.onCleanJobs(ctx, m)
	case *actor.Stopping:
		s.onStopping()
	default:
		supervisor.Unhandled(ctx)
	}
}

// commit writes the group that has gathered, unless one is being written.
func (s *jobStore) commit(ctx actor.Context) {
	if s.busy || len(s.loads)+len(s.returns) == 0 {
		return
	}
	loads, returns := s.loads, s.returns
	s.loads, s.returns, s.busy = nil, nil, true
	self := s.self
	go func() { self.Send(&commitDone{err: s.write(loads, returns)}) }()
}

// write commits one group and answers for each of its returns. It runs beside the actor and touches only what
// it was given.
func (s *jobStore) write(loads []*SaveLoad, returns []*StoreReturn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("job store: %v", p)
		}
		for _, r := range returns {
			r.Stored(err)
		}
	}()
	ls, rs := make([]returners.Load, len(loads)), make([]returners.Return, len(returns))
	for i, l := range loads {
		ls[i] = returners.Load{JID: l.JID, Load: l.Load, Minions: l.Minions, NoCache: l.NoCache}
	}
	for i, r := range returns {
		rs[i] = returners.Return{JID: r.JID, ID: r.ID, Load: r.Load}
	}
	res, err := s.opt.store.Commit(ls, rs)
	if err != nil {
		return err
	}
	s.tell(res, returns)
	return nil
}

// tell logs what was not stored, and why. A return that came again, the same as before, is what a minion sends
// when it did not hear our answer.
func (s *jobStore) tell(res returners.Result, returns []*StoreReturn) {
	if res.Files != nil {
		s.opt.log.Error("files for Salt's own tools cannot be written", "err", res.Files)
	}
	for _, x := range res.Extras {
		r := returns[x.Index]
		if x.Why == returners.Differing {
			s.opt.log.Error(fmt.Sprintf("An extra return was detected from minion %s, please verify the minion, this could be a replay attack", r.ID), "jid", r.JID)
			continue
		}
		s.opt.log.Debug("return not stored", "minion", r.ID, "jid", r.JID, "why", x.Why.String())
	}
}

func (s *jobStore) onCommitDone(ctx actor.Context, m *commitDone) {
	s.busy = false
	if m.err != nil {
		supervisor.Failed(ctx)
		if !s.failing {
			s.opt.log.Error("jobs cannot be stored: returns are refused until they can", "err", m.err)
		}
	} else if s.failing {
		s.opt.log.Warn("jobs can be stored again")
	}
	s.failing = m.err != nil
	s.commit(ctx)
}

func (s *jobStore) onCleanJobs(ctx actor.Context, m *CleanJobs) {
	store, log := s.opt.store, s.opt.log
	supervisor.Go(ctx, "clean", func(context.Context) error {
		n, err := store.Clean(m.Now)
		if err != nil {
			log.Error("old jobs could not be removed", "err", err)
		} else if n > 0 {
			log.Info("old jobs removed", "jobs", n)
		}
		return nil
	})
}

// onStopping writes what is left: nobody has been told that it is stored, but there is no reason to lose it.
func (s *jobStore) onStopping() {
	if len(s.loads)+len(s.returns) == 0 {
		return
	}
	if err := s.write(s.loads, s.returns); err != nil {
		s.opt.log.Error("jobs cannot be stored", "err", err)
	}
	s.loads, s.returns = nil, nil
}
