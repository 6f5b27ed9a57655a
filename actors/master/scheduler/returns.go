package scheduler

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"brine/actors/master/returning"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/queue"
	"brine/modules/schedule"
	"brine/wire/payload"
)

// nameScheduleReturn is the actor that gives returns of the master's schedule to returners.
const nameScheduleReturn = "ScheduleReturn"

// mostReturns is how many returns a returner gets in one go, memoryOfLine how many bytes of them wait in memory while
// the disk takes none.
const (
	mostReturns  = 256
	memoryOfLine = 8 << 20
)

// LineOptions are what the configuration says of returns that wait for returners.
type LineOptions struct {
	Dir      string // where they wait
	MaxBytes int64
	MaxAge   time.Duration
	Mask     func(text string) string
	Calm     func() bool // the clock may be believed
}

// newScheduledReturns makes the part that gives the returns of the master's schedule to returners: what one does not
// take waits on disk, as returns of minions do. nil where no job of the schedule has a returner. Unlike Salt, where it
// is lost.
func (s *Schedules) newScheduledReturns(opt LineOptions) (*returning.Part, error) {
	var names []string
	for name, job := range s.opt.Jobs.All() {
		run := schedule.Run{Job: payload.NewMap(0)}
		if m, ok := job.(*payload.Map); ok && name != nil {
			run.Job = m
		}
		for _, r := range returners.Expand(run.Returners(s.opt.Returners), s.parts.Machine.Env.Opts()) {
			if s.refuses(r) == "" && !slices.Contains(names, r) {
				names = append(names, r)
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	return returning.New(returning.Options{Name: nameScheduleReturn, What: "returns of the schedule", Most: mostReturns,
		Hand: s.replay, Hopeless: returners.Hopeless,
		Queue: queue.Options{Dir: opt.Dir, Readers: names,
			MaxBytes: opt.MaxBytes, MaxAge: opt.MaxAge, Memory: memoryOfLine},
		Mask: opt.Mask, Fire: s.parts.Fire, Calm: opt.Calm, Log: s.log})
}

// refuses tells why a returner gets nothing; "" where it does.
func (s *Schedules) refuses(name string) string {
	switch {
	case slices.Contains(s.opt.Disabled, name):
		return "it is disabled (disable_returners)"
	case !returners.Has(s.parts.Machine.Returners, name):
		return "there is no such returner"
	}
	return ""
}

// line puts a return into the line of its returners.
func (s *Schedules) line(names []string, ret *payload.Map) error {
	body, err := payload.MarshalBin(payload.M("to", payload.AnyList(names), "ret", ret))
	if err != nil {
		return err
	}
	return s.waiting.Append(true, body)
}

// replay gives returns to one returner.
func (s *Schedules) replay(ctx context.Context, name string, items []queue.Item) (taken int, err error) {
	for _, it := range items {
		m, err := payload.UnmarshalBinMap(it.Body)
		if err != nil {
			return taken, &returners.Unusable{Err: err}
		}
		if slices.Contains(payload.Texts(m.Value("to")), name) {
			if err := s.give(ctx, name, m.Map("ret")); err != nil {
				return taken, err
			}
		}
		taken++
	}
	return taken, nil
}

// scheduledHand is how long one returner may take.
const scheduledHand = time.Minute

// give calls a returner.
func (s *Schedules) give(ctx context.Context, name string, ret *payload.Map) error {
	within, cancel := context.WithTimeout(ctx, scheduledHand)
	defer cancel()
	return returners.Return(loader.NewCall(within, s.parts.Machine.Env, ret.Str("fun"), ret),
		s.parts.Machine.Returners, name, ret)
}

// hand gives a return to the returners of the job and to those of all jobs. One that fails keeps none from the others.
func (s *Schedules) hand(ctx context.Context, run schedule.Run, ret *payload.Map) {
	names := run.Returners(s.opt.Returners)
	if len(names) == 0 || ret.Value("success") != true {
		return // Salt hands only what was successful to returners
	}
	ret = ret.Clone()
	run.ReturnerOptions(ret)
	var to []string
	for _, name := range returners.Expand(names, s.parts.Machine.Env.Opts()) {
		if why := s.refuses(name); why != "" {
			s.note(slog.LevelError, run, "Returner "+name+" has not taken the return of a scheduled job", "err", why)
		} else {
			to = append(to, name)
		}
	}
	if len(to) == 0 || s.waiting != nil && s.line(to, ret) == nil {
		return
	}
	for _, name := range to { // the disk takes nothing: at once, or not at all
		if err := s.give(ctx, name, ret); err != nil {
			s.note(slog.LevelError, run, "Returner "+name+" has not taken the return of a scheduled job", "err", err)
		}
	}
}
