package minion

import (
	"context"
	"strings"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/jobs"
	"brine/modules/schedule"
	"brine/modules/schedule/dates"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// Messages of the Scheduler.
type (
	// BeginSchedule starts it: a master is there. Later ones have no effect.
	BeginSchedule struct{}
	// ManageSchedule is a request from the minion's bus (manage_schedule).
	ManageSchedule struct{ Data *payload.Map }
	// PillarStored says that there is another pillar.
	PillarStored struct{}
	// lookAtSchedule says that it is time to look at the schedule.
	lookAtSchedule struct{ turn int }
)

// Periods of the Scheduler.
const (
	scheduleEvery = time.Second      // Salt's, whatever loop_interval says
	scheduleIdle  = 10 * time.Second // while there are no jobs, which the pillar may bring
)

// scheduleOptions are what the configuration says of the schedule, its jobs excepted.
type scheduleOptions struct {
	loop      time.Duration // loop_interval, which Salt takes for the least distance of two runs
	uniqueJID bool          // unique_jid
	path      string        // of the file in which changed jobs are kept
}

// plan is the schedule of a minion with all that is noted of it.
type plan struct {
	*schedule.Plan
	pillar *payload.Map // from which the state is
	begun  bool
}

// newPlan is the plan at the start of the process, with the jobs of the configuration. It begins when a master is
// there, or at once (begun).
func newPlan(configured *payload.Map, begun bool) *plan {
	jobs := payload.NewMap(0)
	for k, v := range configured.All() {
		if name, _ := k.(string); !saltsOwn(name) {
			jobs.Set(k, v)
		}
	}
	return &plan{Plan: schedule.NewPlan(jobs), begun: begun}
}

// saltsOwn tells the jobs that a minion of Salt makes for itself and writes into its file. What they do is done by
// actors here.
func saltsOwn(name string) bool {
	return name == "__mine_interval" || name == "__update_grains" || name == "__ping_master" ||
		strings.HasPrefix(name, "__master_")
}

// scheduler runs what is due. What is due is decided by modules/schedule; a run is a job like those of the master.
type scheduler struct {
	m    *Minion
	opt  scheduleOptions
	plan *plan
	turn int           // of the timer that counts
	wait time.Duration // for which that was set, 0: it is not
}

func (s *scheduler) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		s.onStarted(ctx)
	case *BeginSchedule:
		s.onBegin(ctx)
	case *ManageSchedule:
		s.onManage(ctx, m.Data)
	case *PillarStored:
		s.onPillarStored(ctx)
	case *lookAtSchedule:
		s.onLookAtSchedule(ctx, m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (s *scheduler) onStarted(ctx supervisor.Context) {
	if s.plan.begun {
		s.look(ctx)
	}
}

func (s *scheduler) onBegin(ctx supervisor.Context) {
	if !s.plan.begun {
		s.plan.begun = true
		s.look(ctx)
	}
}

// onPillarStored looks at once, if the schedule may be another one.
func (s *scheduler) onPillarStored(ctx supervisor.Context) {
	if s.readPillar() && s.plan.begun {
		s.look(ctx)
	}
}

// onLookAtSchedule looks, unless another timer has taken the place of this one.
func (s *scheduler) onLookAtSchedule(ctx supervisor.Context, m *lookAtSchedule) {
	if m.turn == s.turn {
		s.wait = 0
		s.look(ctx)
	}
}

// look runs what is due now.
func (s *scheduler) look(ctx supervisor.Context) {
	s.readPillar()
	runs, messages := s.plan.Look(s.now(), s.m.clock.Now(), s.options())
	for _, msg := range messages {
		s.log(msg)
	}
	for _, run := range runs {
		s.run(run)
	}
	s.arm(ctx)
}

// arm sets the timer of the next look, unless one is set that comes as soon.
func (s *scheduler) arm(ctx supervisor.Context) {
	every := scheduleEvery
	if s.plan.State.Jobs().Len() == 0 {
		every = scheduleIdle
	}
	if !s.plan.begun || s.wait > 0 && s.wait <= every {
		return
	}
	s.wait = every
	s.turn++
	daemon.After(ctx, s.m.clock, every, &lookAtSchedule{s.turn})
}

// readPillar takes over the schedule of a pillar that has changed, and tells whether it has.
func (s *scheduler) readPillar() (changed bool) {
	pillar := s.pillar()
	if pillar == s.plan.pillar {
		return false
	}
	s.plan.pillar = pillar
	jobs, ok := pillar.Value("schedule").(*payload.Map)
	if !ok && python.Truth(pillar.Value("schedule")) {
		s.m.log.Error("Exception Schedule must be of type dict. occurred in scheduled job", "of", "pillar")
	}
	s.plan.State = s.plan.State.WithPillar(jobs)
	return true
}

// pillar is that of a master that is there, or that of a minion without masters.
func (s *scheduler) pillar() *payload.Map { return s.m.facts.Of(s.m.anyLink()).Pillar() }

// now is what a clock on the wall of this machine shows.
func (s *scheduler) now() time.Time { return dates.Wall(s.m.clock.Now().Local()) }

func (s *scheduler) options() schedule.Options {
	opt := schedule.Options{Loop: s.opt.loop, Random: random, Known: s.m.knows, Running: s.plan.Ongoing.Count,
		JID: s.jid, Pillar: s.plan.pillar}
	if opt.Loop <= 0 {
		opt.Loop = scheduleEvery
	}
	opt.Grains = s.m.facts.Known() // nil before they are known: computing them may take seconds
	return opt
}

func (s *scheduler) jid() string { return s.plan.NextJID(s.m.clock.Now(), s.opt.uniqueJID) }

func (s *scheduler) log(msg schedule.Message) {
	s.m.log.Log(context.Background(), msg.Level, msg.Text, "schedule", msg.Job)
}

// run hands a run to the Dispatcher.
func (s *scheduler) run(run schedule.Run) {
	if run.Dry {
		s.m.log.Debug("Job "+run.Name+" has 'dry_run' set to True. Not running it.", "schedule", run.Key)
		return
	}
	load := s.m.scheduledLoad(run)
	s.m.jobs.Run(&jobs.Run{Load: load, Link: s.m.anyLink(), Ended: s.plan.Begin(run)})
}

// onManage carries out a request and answers it.
func (s *scheduler) onManage(ctx supervisor.Context, data *payload.Map) {
	s.onPillarStored(ctx)
	state, out := s.plan.State.Manage(data, s.now(), s.options())
	s.plan.State = state
	for _, msg := range out.Messages {
		s.log(msg)
	}
	if out.Persist {
		s.persist(ctx)
	}
	for _, r := range out.Replies {
		tag := event.TagMinionComplete("schedule_" + r.What)
		if r.What == schedule.Saved {
			tag = event.TagScheduleSaved
		}
		s.m.fire(tag, r.Data)
	}
	if out.Run != nil {
		s.run(*out.Run)
	}
	if out.Changed && s.plan.begun {
		s.look(ctx)
	}
}

// persist writes the schedule down. The request stands even if that fails.
func (s *scheduler) persist(ctx supervisor.Context) {
	path, jobs := s.opt.path, s.plan.State.Saveable()
	supervisor.Patiently(ctx, func() {
		if err := schedule.Save(path, jobs); err != nil {
			s.m.log.Error("Failed to persist the updated schedule", "err", err)
		}
	})
}
