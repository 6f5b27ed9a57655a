package minion

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"time"

	"brine/config"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the Dispatcher.
type (
	// JobReceived is a publication that was opened and verified.
	JobReceived struct {
		Load *payload.Map
		Link *link
	}
	// JobBegun says that a job runs and how to end it.
	JobBegun struct {
		JID  string
		Load *payload.Map
		Kill func(sig syscall.Signal)
	}
	// JobEnded says that a job has been answered.
	JobEnded struct{ JID string }
	// GetRunning asks for the jobs that run now, in order of their start.
	GetRunning struct{ Reply chan<- []*payload.Map }
	// SignalJob sends a signal to a job; the answer is Salt's sentence, "" for a job that does not run.
	SignalJob struct {
		JID   string
		Sig   syscall.Signal
		Reply chan<- string
	}
	// LostJob is a job that a dead predecessor of this process had begun.
	LostJob struct {
		Load *payload.Map
		Link *link
	}
)

// registry is what the Dispatcher knows of jobs; it outlives a restart of the Dispatcher, and the one that
// lives is the only one to touch it.
type registry struct {
	seen    []string // the last jids, oldest first
	running []*runningJob
}

type runningJob struct {
	jid  string
	load *payload.Map
	kill func(syscall.Signal)
}

// dispatcherOptions are what the Dispatcher needs of the minion.
type dispatcherOptions struct {
	cfg   *config.Minion
	match func(load *payload.Map) bool
	jobs  *supervisor.Supervisor
	job   func(load *payload.Map, l *link, lost bool, to *supervisor.Ref) func() actor.Actor
	reg   *registry
	log   *slog.Logger
}

// dispatcher decides which publications are jobs of this minion, starts them, and knows all that run. It
// never waits for a job, so find_job and kill_job are answered at once whatever else goes on.
type dispatcher struct{ opt dispatcherOptions }

func (d *dispatcher) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
	case *JobReceived:
		d.onJobReceived(ctx, m)
	case *LostJob:
		d.spawn(ctx, m.Load, m.Link, true)
	case *JobBegun:
		d.onJobBegun(m)
	case *JobEnded:
		d.onJobEnded(m)
	case *GetRunning:
		m.Reply <- d.list()
	case *SignalJob:
		m.Reply <- d.signal(m)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (d *dispatcher) onJobReceived(ctx actor.Context, m *JobReceived) {
	load := m.Load
	for _, field := range []string{"tgt", "jid", "fun", "arg"} {
		if !load.Has(field) {
			return // not a job; Salt drops it without a word, too
		}
	}
	jid := load.Str("jid")
	if jid == "" || !d.opt.match(load) {
		d.opt.log.Debug("publication is not for this minion", "jid", jid, "tgt", load.Value("tgt"))
		return
	}
	if !d.opt.reg.first(jid, d.opt.cfg.MinionJIDQueueHWM) {
		d.opt.log.Debug("job was seen before", "jid", jid)
		return
	}
	d.opt.log.Info(fmt.Sprintf("User %s Executing command %v with jid %s", load.Str("user"), load.Value("fun"), jid))
	d.spawn(ctx, load, m.Link, false)
}

// first notes a jid and tells whether it is new. The special jid of jobs that the minion begins itself is
// always new.
func (r *registry) first(jid string, keep int) bool {
	if jid == "req" {
		return true
	}
	if slices.Contains(r.seen, jid) {
		return false
	}
	r.seen = append(r.seen, jid)
	if over := len(r.seen) - max(1, keep); over > 0 {
		r.seen = slices.Delete(r.seen, 0, over)
	}
	return true
}

func (d *dispatcher) spawn(ctx actor.Context, load *payload.Map, l *link, lost bool) {
	name := "Job-" + safeName(load.Str("jid"))
	_, err := d.opt.jobs.Add(supervisor.Spec{Name: name, StopTimeout: time.Second, New: d.opt.job(load, l, lost, supervisor.Self(ctx))})
	if err != nil {
		supervisor.Failed(ctx)
		d.opt.log.Error("job cannot be started", "jid", load.Str("jid"), "err", err)
	}
}

func (d *dispatcher) onJobBegun(m *JobBegun) {
	d.onJobEnded(&JobEnded{JID: m.JID})
	d.opt.reg.running = append(d.opt.reg.running, &runningJob{jid: m.JID, load: m.Load, kill: m.Kill})
}

func (d *dispatcher) onJobEnded(m *JobEnded) {
	d.opt.reg.running = slices.DeleteFunc(d.opt.reg.running, func(j *runningJob) bool { return j.jid == m.JID })
}

func (d *dispatcher) list() []*payload.Map {
	out := make([]*payload.Map, len(d.opt.reg.running))
	for i, j := range d.opt.reg.running {
		out[i] = j.load
	}
	return out
}

func (d *dispatcher) signal(m *SignalJob) string {
	for _, j := range d.opt.reg.running {
		if j.jid == m.JID {
			j.kill(m.Sig)
			return fmt.Sprintf("Signal %d sent to job %s at pid %d", int(m.Sig), m.JID, os.Getpid())
		}
	}
	return ""
}
