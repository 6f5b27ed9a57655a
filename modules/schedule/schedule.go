// Package schedule decides which jobs of a schedule are due. It is pure: the time, the random numbers and what is known
// of running jobs are given to it, and it answers with a new state, with what is to be run and with what is to be
// logged. It starts nothing, reads no file and knows no daemon. A time here is what a clock on the wall shows (see
// dates). Answers to salt/utils/schedule.py.
package schedule

import (
	"log/slog"
	"strings"
	"time"

	"brine/modules/text/dicts"
	"brine/wire/payload"
)

// Options are what a decision depends on besides the schedule and the time.
type Options struct {
	Loop    time.Duration               // loop_interval: how long after its time a job by when or once is still run
	Random  func(low, high int64) int64 // a random number, both ends included
	Known   func(fun string) bool       // there is such a function
	Running func(name string) int       // how many runs of a job are going on
	JID     func() string               // a new job id
	Pillar  *payload.Map                // for whens
	Grains  *payload.Map                // for whens
}

// Run is a job that is to be run now.
type Run struct {
	Key  string // under which it stands in the schedule
	Name string // its own, which is the key if it has none
	Fun  string // "" where the job names none
	JID  string
	Job  *payload.Map // with all its options
	Dry  bool         // it is only said to be run
}

// Message is a line for the log.
type Message struct {
	Job   string // key of the job it is about
	Level slog.Level
	Text  string
}

// State is a schedule and what is noted of its jobs. A state is never changed: each operation gives a new one.
type State struct {
	options, pillar *payload.Map // key → job; the notes about a job stand in its map, under names that begin with _

	enabled   any // of the whole schedule; these four stay when their key is gone, as in Salt
	skipFun   any
	skipRange any
	splay     any

	last time.Time // of the last decision
}

// New makes the state of a schedule that stands partly in the options and partly in the pillar.
func New(options, pillar *payload.Map) State {
	return State{options: clone(options), pillar: clone(pillar), enabled: true}
}

func clone(m *payload.Map) *payload.Map {
	if m == nil {
		return payload.NewMap(0)
	}
	return dicts.Clone(m).(*payload.Map)
}

// hidden are the keys of a schedule that are no jobs, but about all.
func hidden(key string) bool {
	return key == "enabled" || key == "skip_function" || key == "skip_during_range" || key == "splay"
}

// Jobs is the whole schedule with its notes: what is in the options goes before the pillar's. It may be read only.
func (s State) Jobs() *payload.Map {
	all := s.pillar.Clone()
	all.Update(s.options)
	return all
}

// Options is the part of the schedule that stands in the options.
func (s State) Options() *payload.Map { return s.options }

// Pillar is the part of the schedule that stands in the pillar.
func (s State) Pillar() *payload.Map { return s.pillar }

// with is the state with another map for a job, in the part where it stands.
func (s *State) with(key string, job *payload.Map) {
	part := &s.pillar
	if s.options.Has(key) {
		part = &s.options
	}
	(*part).Set(key, job)
}

// passing are the notes that hold for one decision.
var passing = []string{"_continue", "_error", "_enabled", "_skipped", "_skip_reason", "_skipped_time"}

// summer is more than the clocks are set back by in autumn.
const summer = 3 * time.Hour

// late is how late a decision may come without losing what was due by when or once.
const late = time.Minute

// window is the time back from now in which such a job is still run.
//
// Unlike Salt: a decision that comes late, on a busy machine or after a restart of whoever asks for it, looks back to
// the one before. There a job by when is lost if the schedule was not looked at within the loop interval. A suspended
// machine loses it here too.
func (s State) window(now time.Time, loop time.Duration) time.Duration {
	if since := now.Sub(s.last); !s.last.IsZero() && since > loop && since <= late {
		return since
	}
	return loop
}

// Next decides what is to be run at now.
func (s State) Next(now time.Time, opt Options) (State, []Run, []Message) {
	loop := s.window(now, opt.Loop)
	s.options, s.pillar = s.options.Clone(), s.pillar.Clone()
	jobs := s.Jobs()
	for key, to := range map[string]*any{"skip_function": &s.skipFun, "skip_during_range": &s.skipRange,
		"enabled": &s.enabled, "splay": &s.splay} {
		if v, ok := jobs.Get(key); ok {
			*to = v
		}
	}
	var runs []Run
	var messages []Message
	for k, v := range jobs.All() {
		key, ok := k.(string)
		if !ok {
			key = text(k)
		}
		if hidden(key) {
			continue
		}
		t := &turn{s: &s, opt: &opt, now: now, key: key, loop: loop}
		if job, ok := v.(*payload.Map); ok && job != nil {
			t.job = job.Clone()
			for _, note := range passing {
				t.job.Delete(note)
			}
			if run, due := t.decide(); due {
				runs = append(runs, run)
			}
			s.with(key, t.job)
		} else {
			t.say(slog.LevelError, "Scheduled job %q should have a dict value, not %s", key,
				"<class '"+typeName(v)+"'>")
		}
		messages = append(messages, t.messages...)
	}
	s.last = now
	return s, runs, messages
}

// Internal tells whether a job is one of the daemon's own, which lists show only when all is asked for.
func Internal(key string) bool { return strings.HasPrefix(key, "__") }
