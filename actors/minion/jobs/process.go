package jobs

import (
	"context"
	"errors"
	"os"
	"syscall"

	"brine/actors/minion/journal"
	"brine/modules/fleet/ledger"
	"brine/modules/host/jobprocess"
	"brine/modules/loader"
	"brine/supervisor"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// Messages of a Job whose function has a process of its own (multiprocessing: True).
type (
	// processBegun says that the process is there.
	processBegun struct {
		pid int
		is  signalled
	}
	// processRefused says that there is none.
	processRefused struct{ err error }
	// postponeNoted says that the journal does not hold the job for begun any more.
	postponeNoted struct{}
	// processEnded is what came of the function.
	processEnded struct{ out jobprocess.Outcome }
)

func (*postponeNoted) Written(error) any { return &postponeNoted{} }

// signalled takes signals, from any goroutine.
type signalled interface{ Signal(sig syscall.Signal) }

// Launcher starts processes for functions.
type Launcher interface {
	Start(label string) (*jobprocess.Process, error)
}

// jobProcess is the process of a job as its actor sees it.
type jobProcess struct {
	pid    int       // 0 until it is there
	is     signalled // nil until then
	ending *killJob  // the last request to end it
}

// inProcess tells the jobs that never get a process of their own: questions about jobs, and their ends, which must be
// answered when nothing can be started any more, and what acts on this process.
func inProcess(job *payload.Job) bool {
	return aboutJobs(job) || job.Function() == "sys.reload_modules"
}

// runProcess calls the function in a process of its own, which ends with this incarnation.
func (j *job) runProcess(ctx supervisor.Context) {
	run, stop := context.WithCancelCause(supervisor.Lifetime(ctx))
	j.stop, j.proc = stop, &jobProcess{}
	j.note(func(m *ledger.Minion, now ledger.Stamp) { m.Started = now })
	self, launch, env, what := j.self, j.opt.launch, j.opt.env(j.rec.link), j.execution()
	label := "ProcessPayload(jid=" + j.rec.key + ")"
	supervisor.Go(ctx, "process", func(context.Context) error {
		defer stop(nil)
		p, err := launch.Start(label)
		if err != nil {
			self.Send(&processRefused{err})
			return nil
		}
		self.Send(&processBegun{p.PID(), p})
		self.Send(&processEnded{p.Run(run, env, what)})
		return nil
	})
}

// onProcessBegun makes the pid known, and hands on what was meant for the process before it was there.
func (j *job) onProcessBegun(ctx supervisor.Context, m *processBegun) {
	j.proc.pid, j.proc.is = m.pid, m.is
	supervisor.Send(ctx, j.rec.dispatcher, &startedIn{Name: j.rec.name, PID: m.pid})
	if j.proc.ending != nil {
		m.is.Signal(j.proc.ending.Sig)
	}
}

// signalProcess sends a signal to the process, and to what it has started. The job is answered when it has ended.
func (j *job) signalProcess(m *killJob) {
	if jobprocess.Ends(m.Sig) {
		j.proc.ending = m
	}
	if j.proc.is != nil {
		j.proc.is.Signal(m.Sig)
	}
}

func (j *job) onProcessEnded(ctx supervisor.Context, m *processEnded) {
	out := m.out
	switch end := j.proc.ending; {
	case out.Return != nil:
		j.conclude(ctx, out.Return, out.NoReturn, out.Crashed)
	case end != nil && end.Text != "":
		j.tell(ctx, end.Text, end.Outcome, "")
	default:
		outcome, detail := outcomeOfDeath(&out.Death)
		j.tell(ctx, out.Death.Text(), outcome, detail)
	}
}

// onProcessRefused puts a job back into the queue that cannot be started now, and answers for one that never can.
func (j *job) onProcessRefused(ctx supervisor.Context, m *processRefused) {
	if j.rec.ret.Load() != nil {
		return
	}
	if end := j.proc.ending; end != nil {
		j.proc = nil
		j.onKill(ctx, end)
		return
	}
	if !noRoom(m.err) || j.rec.turn == "" || j.rec.link == nil {
		j.tell(ctx, "The job could not be started: "+m.err.Error(), ledger.Died,
			"it could not be started: "+m.err.Error())
		return
	}
	j.opt.log.Warn("the process of a job cannot be started now; the job is queued", "jid", j.jid(), "err", m.err)
	j.proc = nil // whoever ends the job now finds none
	path, err := j.opt.queue.put(j.rec.turn, j.rec.job, j.rec.link)
	if err != nil {
		j.opt.log.Error("a queued job does not survive the end of this process", "jid", j.jid(), "err", err)
	}
	j.rec.queued = path
	supervisor.Send(ctx, j.opt.journal, &journal.Write{Record: journal.Record{Kind: journal.Gone, Key: j.rec.key},
		Asker: j.self, Note: &postponeNoted{}})
}

// onPostponeNoted ends the actor of a job that is in the queue, and not begun, for any later process.
func (j *job) onPostponeNoted(ctx supervisor.Context) {
	if j.rec.ret.Load() != nil {
		return // killed meanwhile
	}
	j.over = true
	rec := j.rec
	rec.postponed.Store(true)
	supervisor.Send(ctx, rec.dispatcher, &jobPostponed{Name: rec.name, Path: rec.queued, Turn: rec.turn, Job: rec.job,
		Link: rec.link})
	supervisor.Of(ctx).Done(j.self.Name())
}

// noRoom tells the errors of a start that pass when others have ended.
func noRoom(err error) bool {
	for _, e := range []error{unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// execution is the job as the function gets it.
func (j *job) execution() loader.Job {
	return loader.Job{Load: j.rec.entry.job.Map().Clone(), Connected: j.rec.link != nil && j.rec.link.Up()}
}

// pid is the number of the process that runs the function.
func (j *job) pid() int {
	if j.proc != nil && j.proc.pid != 0 {
		return j.proc.pid
	}
	return os.Getpid()
}
