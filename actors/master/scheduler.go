package master

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"brine/actors/master/returning"
	"brine/actors/master/run"
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

// scheduleOptions are what the configuration says of the schedule.
type scheduleOptions struct {
	jobs      *payload.Map  // schedule
	loop      time.Duration // loop_interval: how long after its time a job by when or once is still run
	unique    bool          // unique_jid
	returners []string      // schedule_returner
	disabled  []string      // disable_returners
	id, user  string        // of this master
	line      lineOptions
}

// schedules is what the Scheduler and its runs share; it outlives them.
type schedules struct {
	run.Inside
	opt       scheduleOptions
	functions *run.Functions
	plan      *schedule.Plan
	waiting   *returning.Part // returns for returners; nil: there are no returners
}

// newSchedules reads the schedule. Its functions are runners, as in Salt.
func newSchedules(opt scheduleOptions, in run.Inside, functions *run.Functions) (s *schedules, err error) {
	s = &schedules{Inside: in, opt: opt, functions: functions, plan: schedule.NewPlan(opt.jobs)}
	s.waiting, err = s.newScheduledReturns(opt.line)
	return s, err
}

// child is the Scheduler as a child of the master; the zero Spec where nothing is to be run.
func (s *schedules) child() supervisor.Spec {
	if s.opt.jobs.Len() == 0 {
		return supervisor.Spec{}
	}
	return supervisor.Spec{Name: "Scheduler", New: func() supervisor.Actor { return &scheduler{s} }}
}

// scheduler looks at the schedule each second. What is due is decided by modules/schedule; each run is an actor of its
// own.
type scheduler struct{ *schedules }

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
	known := func(fun string) bool { _, ok := s.functions.Lookup(string(runners.KindRunner), fun); return ok }
	runs, messages := s.plan.Look(dates.Wall(now.Local()), now, schedule.Options{
		Loop: max(s.opt.loop, scheduleEvery), Known: known, Running: s.plan.Ongoing.Count,
		Random: func(low, high int64) int64 { return low + rand.Int64N(high-low+1) },
		JID:    func() string { return s.plan.NextJID(now, s.opt.unique) }})
	for _, msg := range messages {
		s.Log.Log(context.Background(), msg.Level, msg.Text, "schedule", msg.Job)
	}
	for _, run := range runs {
		s.start(run)
	}
}

// start adds the actor of a run.
func (s *schedules) start(run schedule.Run) {
	if run.Dry {
		s.Log.Debug("Job "+run.Name+" has 'dry_run' set to True. Not running it.", "schedule", run.Key)
		return
	}
	name := "Scheduled-" + run.JID
	_, _, given := run.Args()
	s.functions.Busy.Store(name, runners.Request{Kind: runners.KindRunner, Fun: run.Fun, Args: given, JID: run.JID,
		User: s.opt.user})
	over := s.plan.Begin(run)
	ended := func() { s.functions.Busy.Delete(name); over() }
	_, err := s.Tree().Add(supervisor.Spec{Name: name, StopTimeout: time.Second,
		New: func() supervisor.Actor { return &scheduledRun{schedules: s, run: run, ended: ended} }})
	if err != nil {
		ended()
		s.Log.Error("a job of the schedule is not run", "schedule", run.Key, "err", err)
	}
}

// note logs a line about a run.
func (s *schedules) note(level slog.Level, run schedule.Run, text string, more ...any) {
	s.Log.Log(context.Background(), level, text, append(more, "schedule", run.Key, "jid", run.JID)...)
}
