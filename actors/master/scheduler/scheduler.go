// Package scheduler runs the master's own schedule. Schedules owns the plan and the returns that wait for returners;
// the actor Scheduler looks at the plan each second, and each run is an actor. It asks package run for functions and
// package machine for returners.
package scheduler

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"brine/actors/master/machine"
	"brine/actors/master/returning"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/modules/schedule"
	"brine/modules/schedule/dates"
	"brine/supervisor"
	"brine/wire/payload"
)

// LookAtSchedule has the Scheduler run what is due at a moment.
type LookAtSchedule struct{ Now time.Time }

// scheduleEvery is how often the schedule is looked at.
//
// Unlike Salt: its Maintenance looks once in loop_interval (60 s), or as often as the shortest interval of a job says.
const scheduleEvery = time.Second

// Options are what the configuration says of the schedule.
type Options struct {
	Jobs      *payload.Map  // schedule
	Loop      time.Duration // loop_interval: how long after its time a job by when or once is still run
	Unique    bool          // unique_jid
	Returners []string      // schedule_returner
	Disabled  []string      // disable_returners
	ID, User  string        // of this master
	Line      LineOptions
}

// Schedules is what the Scheduler and its runs share; it outlives them.
type Schedules struct {
	parts   Parts
	opt     Options
	plan    *schedule.Plan
	waiting *returning.Part // returns for returners; nil: there are no returners
	log     *slog.Logger
}

// Parts are the parts of the master that its schedule stands on.
type Parts struct {
	Functions Functions
	Machine   *machine.Machine                    // its returners
	Fire      func(tag string, data *payload.Map) // puts an event on the bus
	Tree      func() *supervisor.Supervisor       // of the master
}

// Functions are the runner functions of the master.
type Functions interface {
	Lookup(kind, fun string) (*loader.Func, bool)
	Env(kind runners.Kind) *loader.Env
	// Begin counts a run of an actor among those under way, until over is called.
	Begin(actor string, req runners.Request) (over func())
}

// New reads the schedule. Its functions are runners, as in Salt.
func New(opt Options, parts Parts, log *slog.Logger) (s *Schedules, err error) {
	s = &Schedules{parts: parts, opt: opt, plan: schedule.NewPlan(opt.Jobs), log: log}
	s.waiting, err = s.newScheduledReturns(opt.Line)
	return s, err
}

// Waiting is what gives returns to returners; nil: there are no returners.
func (s *Schedules) Waiting() *returning.Part { return s.waiting }

// Child is the Scheduler as a child of the master; the zero Spec where nothing is to be run.
func (s *Schedules) Child() supervisor.Spec {
	if s.opt.Jobs.Len() == 0 {
		return supervisor.Spec{}
	}
	return supervisor.Spec{Name: "Scheduler", New: func() supervisor.Actor { return &scheduler{s} }}
}

// scheduler looks at the schedule each second. What is due is decided by modules/schedule; each run is an actor of its
// own.
type scheduler struct{ *Schedules }

func (s *scheduler) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		s.onStarted(ctx)
	case *LookAtSchedule:
		s.onLookAtSchedule(m.Now)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (s *scheduler) onStarted(ctx supervisor.Context) {
	self := supervisor.Self(ctx)
	self.Send(&LookAtSchedule{Now: time.Now()})
	supervisor.Go(ctx, "timer", func(ctx context.Context) error {
		t := time.NewTicker(scheduleEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				self.Send(&LookAtSchedule{Now: time.Now()}) // not the tick: it may be old
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
}

func (s *scheduler) onLookAtSchedule(now time.Time) {
	known := func(fun string) bool { _, ok := s.parts.Functions.Lookup(string(runners.KindRunner), fun); return ok }
	runs, messages := s.plan.Look(dates.Wall(now.Local()), now, schedule.Options{
		Loop: max(s.opt.Loop, scheduleEvery), Known: known, Running: s.plan.Ongoing.Count,
		Random: func(low, high int64) int64 { return low + rand.Int64N(high-low+1) },
		JID:    func() string { return s.plan.NextJID(now, s.opt.Unique) }})
	for _, msg := range messages {
		s.log.Log(context.Background(), msg.Level, msg.Text, "schedule", msg.Job)
	}
	for _, run := range runs {
		s.start(run)
	}
}

// start adds the actor of a run.
func (s *Schedules) start(run schedule.Run) {
	if run.Dry {
		s.log.Debug("Job "+run.Name+" has 'dry_run' set to True. Not running it.", "schedule", run.Key)
		return
	}
	name := "Scheduled-" + run.JID
	_, _, given := run.Args()
	over, counted := s.plan.Begin(run), s.parts.Functions.Begin(name, runners.Request{Kind: runners.KindRunner,
		Fun: run.Fun, Args: given, JID: run.JID, User: s.opt.User})
	ended := func() { counted(); over() }
	_, err := s.parts.Tree().Add(supervisor.Spec{Name: name, StopTimeout: time.Second,
		New: func() supervisor.Actor { return &scheduledRun{Schedules: s, run: run, ended: ended} }})
	if err != nil {
		ended()
		s.log.Error("a job of the schedule is not run", "schedule", run.Key, "err", err)
	}
}

// note logs a line about a run.
func (s *Schedules) note(level slog.Level, run schedule.Run, text string, more ...any) {
	s.log.Log(context.Background(), level, text, append(more, "schedule", run.Key, "jid", run.JID)...)
}
