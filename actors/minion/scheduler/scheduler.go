package scheduler

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"brine/actors/daemon"
	"brine/modules/schedule"
	"brine/modules/schedule/dates"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// Messages of the Scheduler.
type (
	// Begin starts it: a master is there. Later ones have no effect.
	Begin struct{}
	// Manage is a request from the minion's bus (manage_schedule).
	Manage struct{ Data *payload.Map }
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

// Options are what the Scheduler needs of the minion.
type Options struct {
	ID         string        // of this minion
	Loop       time.Duration // loop_interval, which Salt takes for the least distance of two runs
	UniqueJID  bool          // unique_jid
	Path       string        // of the file in which changed jobs are kept
	Configured *payload.Map  // the jobs of the configuration
	Begun      bool          // it does not wait for a master (scheduler_before_connect)
	Returners  []string      // schedule_returner

	Knows  func(fun string) bool // whether there is such a function
	Grains func() *payload.Map   // nil before they are known: computing them may take seconds
	Pillar func() *payload.Map   // of a master that is there
	Fire   func(tag string, data *payload.Map) bool
	// Run hands a run to the jobs; ended is called when it is over.
	Run   func(load *payload.Map, ended func())
	Clock supervisor.Clock
	Log   *slog.Logger
}

// Timetable is the schedule of a minion. It outlives the restarts of its actor.
type Timetable struct {
	opt  Options
	ref  *supervisor.Ref
	plan *plan
}

// New makes the part.
func New(opt Options) *Timetable {
	return &Timetable{opt: opt, ref: supervisor.NewRef(), plan: newPlan(opt.Configured, opt.Begun)}
}

// Child is the Scheduler as a child.
func (t *Timetable) Child() daemon.Child {
	return daemon.Child{Spec: supervisor.Spec{Ref: t.ref, Name: "Scheduler", Component: true,
		New: func() supervisor.Actor { return &scheduler{opt: t.opt, plan: t.plan} }}}
}

// Ref is that of the Scheduler, which takes Begin, Manage and PillarStored.
func (t *Timetable) Ref() *supervisor.Ref { return t.ref }

// Ongoing is how many runs of a job go on.
func (t *Timetable) Ongoing(name string) int { return t.plan.Ongoing.Count(name) }

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
	opt  Options
	plan *plan
	turn int           // of the timer that counts
	wait time.Duration // for which that was set, 0: it is not
}

func (s *scheduler) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		s.onStarted(ctx)
	case *Begin:
		s.onBegin(ctx)
	case *Manage:
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
	runs, messages := s.plan.Look(s.now(), s.opt.Clock.Now(), s.options())
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
	daemon.After(ctx, s.opt.Clock, every, &lookAtSchedule{s.turn})
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
		s.opt.Log.Error("Exception Schedule must be of type dict. occurred in scheduled job", "of", "pillar")
	}
	s.plan.State = s.plan.State.WithPillar(jobs)
	return true
}

// pillar is that of a master that is there, or that of a minion without masters.
func (s *scheduler) pillar() *payload.Map { return s.opt.Pillar() }

// now is what a clock on the wall of this machine shows.
func (s *scheduler) now() time.Time { return dates.Wall(s.opt.Clock.Now().Local()) }

func (s *scheduler) options() schedule.Options {
	opt := schedule.Options{Loop: s.opt.Loop, Random: random, Known: s.opt.Knows, Running: s.plan.Ongoing.Count,
		JID: s.jid, Pillar: s.plan.pillar}
	if opt.Loop <= 0 {
		opt.Loop = scheduleEvery
	}
	opt.Grains = s.opt.Grains() // nil before they are known: computing them may take seconds
	return opt
}

func (s *scheduler) jid() string { return s.plan.NextJID(s.opt.Clock.Now(), s.opt.UniqueJID) }

func (s *scheduler) log(msg schedule.Message) {
	s.opt.Log.Log(context.Background(), msg.Level, msg.Text, "schedule", msg.Job)
}

// run hands a run to the Dispatcher.
func (s *scheduler) run(run schedule.Run) {
	if run.Dry {
		s.opt.Log.Debug("Job "+run.Name+" has 'dry_run' set to True. Not running it.", "schedule", run.Key)
		return
	}
	load := s.load(run)
	s.opt.Run(load, s.plan.Begin(run))
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
		s.opt.Fire(tag, r.Data)
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
	path, jobs := s.opt.Path, s.plan.State.Saveable()
	supervisor.Patiently(ctx, func() {
		if err := schedule.Save(path, jobs); err != nil {
			s.opt.Log.Error("Failed to persist the updated schedule", "err", err)
		}
	})
}
