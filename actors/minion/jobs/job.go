package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/copies"
	"brine/actors/minion/jobfiles"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/actors/minion/meter"
	"brine/modules/fleet/door"
	"brine/modules/fleet/ledger"
	"brine/modules/host/jobprocess"
	"brine/modules/loader"
	"brine/modules/states/run"
	"brine/modules/states/run/work"
	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of a Job.
type (
	// jobDone is the outcome of the function.
	jobDone struct{ result loader.Result }
	// killJob ends a job whatever its function does. Text is what the return says, "": that it was a signal.
	killJob struct {
		Sig     syscall.Signal
		Text    string
		Outcome ledger.Outcome // "": killed
	}
	// begunNoted says that the journal knows of the job, or cannot be written.
	begunNoted struct{ err error }
	// showJob puts a job into the directory of proc entries.
	showJob struct{}
	// jobAnswered says that the return is on disk, or delivered.
	jobAnswered struct{}
	// answerAgain says that the wait is over after which the return is sent again.
	answerAgain struct{}
)

func (*begunNoted) Written(err error) any { return &begunNoted{err} }

// errKilled is the cause of a job's context when it was sent a signal.
var errKilled = errors.New("killed by a signal")

// textLost is the return of a job that was running when the minion's process died.
const textLost = "The minion's process ended while the job was running"

// lost is the return of such a job, with what is known of the end.
func (o *jobOptions) lost() string {
	if o.ended == "" {
		return textLost
	}
	return textLost + ": " + o.ended
}

// jobOptions are what a Job needs of the minion.
type jobOptions struct {
	id      string // of this minion
	env     func(*link.Link) *loader.Env
	journal *supervisor.Ref
	proc    procDir
	// cacheDir has the journals of runs of states.
	cacheDir string
	clock    supervisor.Clock
	cache    func(jid string, ret *payload.Return) error            // keeps the return locally (cache_jobs); nil: not
	started  func(l *link.Link, job *payload.Job)                   // fires the start event a job asked for (3008)
	crashed  func(l *link.Link, jid string, text string)            // reports an exception (_salt_error)
	returns  bool                                                   // to returners, also when the job names none
	extra    func(job *payload.Job, r *payload.Return) *copies.Keep // what goes to the returners that the job names
	// returners that it cannot call; nil: none are asked for
	uncalled   func(job *payload.Job) []string
	returners  *supervisor.Ref // of the ReturnerSpool
	queue      queue
	launch     Launcher // starts processes for functions; nil: they run in this one
	pubRet     bool
	mostReturn int    // bytes of a return
	ended      string // what ended the process before this one, "" when that is not known
	diary      *ledger.Diary
	tell       func(key string, l *link.Link) // tells the master of a job that takes time
	meter      *meter.Meter
	log        *slog.Logger
}

// jobRecord is what a job's incarnations share. The Dispatcher makes it; after that only the incarnation that
// lives writes, and an abandoned one may read.
type jobRecord struct {
	job     *payload.Job
	link    *link.Link     // of the master that is answered; nil: of none
	lost    bool           // begun by a process before this one
	told    string         // when set, the function is not run, and this is the return
	outcome ledger.Outcome // with told: why
	detail  string
	queued  string                // file in the job queue
	turn    string                // its name there, if it is put there again
	again   bool                  // a Dispatcher has died of it, and may have started it
	ended   func()                // told when the Dispatcher knows of the end; may be nil
	result  func(*payload.Return) // told of the return, before that; may be nil

	dispatcher *supervisor.Ref

	key   string // of the job in files
	name  string // of the actor
	entry entry

	ret       atomic.Pointer[payload.Return] // the return, once there is one
	answered  atomic.Bool                    // it is on disk, or delivered
	postponed atomic.Bool                    // it is in the queue again, and another actor will run it
	shown     atomic.Bool                    // it has a proc entry
}

// job is one actor per job. Its first incarnation runs the function. A later one, and one made for a job of a
// dead process (lost), never runs it again: it sends the return that tells what happened.
type job struct {
	opt  *jobOptions
	rec  *jobRecord
	self *supervisor.Ref
	stop context.CancelCauseFunc
	proc *jobProcess // nil where the function runs in this process
	over bool        // the Dispatcher was told

	states work.Driver // of the runs of states that the function makes; nil: it makes none

	fatal error // what a ReturnSender died of when it had the return in hand
}

func (j *job) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		j.nest(ctx)
		j.onStarted(ctx)
	case *begunNoted:
		j.onBegunNoted(ctx)
	case *jobDone:
		j.finish(ctx, m.result)
	case *processBegun:
		j.onProcessBegun(ctx, m)
	case *processRefused:
		j.onProcessRefused(ctx, m)
	case *processEnded:
		j.onProcessEnded(ctx, m)
	case *postponeNoted:
		j.onPostponeNoted(ctx)
	case *showJob:
		j.show()
	case *killJob:
		j.onKill(ctx, m)
	case *jobAnswered:
		j.onAnswered(ctx)
	case *copies.Kept:
		supervisor.Of(ctx).Done(j.self.Name())
	case *answerAgain, *returnFailed, *reasonNoted:
		j.receiveFailure(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (j *job) jid() string { return j.rec.job.JID() }

func (j *job) onStarted(ctx supervisor.Context) {
	j.self = supervisor.Self(ctx)
	supervisor.Note(ctx, j.jid())
	switch {
	case j.rec.postponed.Load():
		supervisor.Of(ctx).Done(j.self.Name())
	case j.rec.answered.Load():
		j.onAnswered(ctx)
	case j.rec.ret.Load() != nil:
		j.send(ctx)
	case supervisor.Incarnation(ctx) > 1:
		why := lastDeath(ctx)
		j.tell(ctx, "The job died on the minion: "+why, ledger.Panicked, why)
	case j.rec.lost:
		j.tell(ctx, j.opt.lost(), ledger.Restarted, j.opt.ended)
	case j.rec.told != "":
		j.tell(ctx, j.rec.told, j.rec.outcome, j.rec.detail)
	default:
		j.begin(ctx)
	}
}

// begin makes the record by which a later process can answer for the job. When it stands the function is called;
// where it cannot be made, all the same.
func (j *job) begin(ctx supervisor.Context) {
	body, err := payload.MarshalBin(j.withFacts(j.rec.entry.Map()))
	if err != nil { // it came as msgpack, so this is not
		supervisor.Crash(fmt.Errorf("pack job %s: %w", j.jid(), err))
	}
	master := ""
	if j.rec.link != nil {
		master = j.rec.link.Name()
	}
	supervisor.Send(ctx, j.opt.journal, &journal.Write{Record: journal.Record{Kind: journal.Begun, Key: j.rec.key,
		Link: master, Body: body},
		Asker: j.self, Note: &begunNoted{}})
}

// showAfter is how long a job runs before it has a proc entry.
const showAfter = 100 * time.Millisecond

func (j *job) onBegunNoted(ctx supervisor.Context) {
	if j.rec.ret.Load() != nil || j.stop != nil {
		return // killed meanwhile
	}
	if err := jobfiles.Remove(j.rec.queued); err != nil {
		j.opt.log.Error("a job that begins stays in the queue", "jid", j.jid(), "err", err)
	}
	door.Known(j.opt.log).Info(fmt.Sprintf("Starting a new job %s with PID %v", j.jid(), j.rec.entry.pid))
	if j.rec.job.StartEvent() {
		j.opt.started(j.rec.link, j.rec.job)
	}
	daemon.After(ctx, j.opt.clock, showAfter, &showJob{})
	if j.opt.launch != nil && !inProcess(j.rec.job) {
		j.runProcess(ctx)
	} else {
		j.run(ctx)
	}
}

// show makes the proc entry of a job that is still running.
func (j *job) show() {
	if j.rec.ret.Load() != nil {
		return
	}
	j.rec.shown.Store(true)
	j.opt.tell(j.rec.key, j.rec.link)
	body, err := payload.MarshalBin(entry{pid: j.pid(), job: j.rec.entry.job}.Map())
	if err == nil {
		err = j.opt.proc.write(j.rec.key, body)
	}
	if err != nil {
		j.opt.log.Debug("the job has no proc entry", "jid", j.jid(), "err", err)
	}
}

// run calls the function in a goroutine of this incarnation.
func (j *job) run(ctx supervisor.Context) {
	run, stop := context.WithCancelCause(supervisor.Lifetime(ctx))
	j.stop = stop
	if j.states != nil {
		run = work.WithDriver(run, j.states)
	}
	self, env, what := j.self, j.opt.env(j.rec.link), j.execution()
	j.note(func(m *ledger.Minion, now ledger.Stamp) { m.Started = now })
	supervisor.Go(ctx, "function", func(context.Context) error {
		defer stop(nil)
		self.Send(&jobDone{result: loader.Execute(run, env, what)})
		return nil
	})
}

// onKill answers at once. The function's context has ended; a function that does not honour it is left behind.
func (j *job) onKill(ctx supervisor.Context, m *killJob) {
	if j.rec.ret.Load() != nil {
		return
	}
	if j.proc != nil {
		j.signalProcess(m)
		return
	}
	if j.stop != nil {
		j.stop(fmt.Errorf("%w: %v", errKilled, m.Sig))
	}
	text, outcome, detail := m.Text, m.Outcome, ""
	if text == "" {
		text, outcome, detail = jobprocess.TextSignal(m.Sig), ledger.Killed, signalText(m.Sig)
	}
	j.tell(ctx, text, outcome, detail)
}

// tell answers for a job whose function has no result. A run of states has its journal.
func (j *job) tell(ctx supervisor.Context, what string, outcome ledger.Outcome, detail string) {
	r := loader.Result{Job: j.rec.job.Map(), Return: what, Retcode: int64(1), Success: false, Out: "nested"}
	if states, finished := j.opt.interrupted(j.rec.job, what); states != nil {
		r.Return, r.Out = states, "highstate"
		if r.Retcode = int64(exitStates); finished && run.Succeeded(states) {
			r.Retcode, r.Success = int64(0), true
		}
	}
	j.close(ctx, payload.NewReturn(r.Map()), false, false, outcome, detail)
}

// finish makes the return, of the first outcome only: a function may come to its end after it was killed.
func (j *job) finish(ctx supervisor.Context, r loader.Result) {
	j.conclude(ctx, payload.NewReturn(r.Map()), r.NoReturn, r.Crashed)
}

// conclude ends a job whose function has come to its end.
func (j *job) conclude(ctx supervisor.Context, ret *payload.Return, noReturn, crashed bool) {
	j.close(ctx, ret, noReturn, crashed, outcomeOf(ret, noReturn), "")
}

func (j *job) close(ctx supervisor.Context, ret *payload.Return, noReturn, crashed bool, outcome ledger.Outcome,
	detail string) {
	ret = scheduledReturn(j.rec.job, j.pid(), ret)
	detail = j.noteUncalled(ret, detail)
	if !j.rec.ret.CompareAndSwap(nil, ret) {
		return
	}
	if j.rec.result != nil {
		j.rec.result(ret)
	}
	j.noteEnd(outcome, detail)
	if j.opt.meter != nil {
		facts, _ := j.opt.diary.Get(j.rec.key)
		j.opt.meter.Job(j.rec.job, ret, facts)
	}
	if noReturn {
		j.drop(ctx)
		return
	}
	door.Known(j.opt.log).Info("Returning information for job: " + j.jid())
	if j.opt.cache != nil {
		if err := j.opt.cache(j.jid(), ret); err != nil {
			j.opt.log.Error("the return is not kept locally", "jid", j.jid(), "err", err)
		}
	}
	if crashed {
		j.opt.crashed(j.rec.link, j.jid(), ret.Text())
	}
	j.send(ctx)
}

// noteUncalled names in a return the returners that are not called, and in what is known of the job where there is
// room.
func (j *job) noteUncalled(ret *payload.Return, detail string) string {
	if j.opt.uncalled == nil {
		return detail
	}
	names := j.opt.uncalled(j.rec.job)
	if len(names) == 0 {
		return detail
	}
	ret.NotCalled(names)
	if detail == "" {
		detail = "returners not called: " + strings.Join(names, ", ")
	}
	return detail
}

// forget removes the files of a job. It may be called by any goroutine.
func (j *job) forget() {
	err := jobfiles.Remove(j.rec.queued)
	if j.rec.shown.Load() {
		err = errors.Join(err, j.opt.proc.remove(j.rec.key))
	}
	if err != nil {
		j.opt.log.Error("files of a job stay", "jid", j.jid(), "err", err)
	}
}

// onAnswered ends the actor, when the returners that the job names have their copies, or the ReturnerSpool has.
func (j *job) onAnswered(ctx supervisor.Context) {
	if j.over {
		return
	}
	j.over = true
	j.opt.forget(j.rec.job)
	supervisor.Send(ctx, j.rec.dispatcher, &jobEnded{Name: j.rec.name})
	if j.opt.extra == nil || len(j.rec.job.Returners()) == 0 && !j.opt.returns {
		supervisor.Of(ctx).Done(j.self.Name())
		return
	}
	keep := j.opt.extra(j.rec.job, j.rec.ret.Load())
	keep.Asker = j.self
	supervisor.Send(ctx, j.opt.returners, keep)
}

// lastDeath tells what the incarnation before this one died of.
func lastDeath(ctx supervisor.Context) string {
	path := supervisor.Self(ctx).Path()
	why := "its actor ended"
	for _, d := range supervisor.Of(ctx).History() {
		if d.Path == path {
			why = d.Reason
		}
	}
	return why
}
