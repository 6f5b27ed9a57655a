package jobs

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/jobfiles"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/actors/minion/meter"
	"brine/modules/fleet/door"
	"brine/modules/fleet/ledger"
	"brine/modules/host/jobprocess"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// Messages of the Dispatcher.
type (
	// Received is a publication that was opened and verified.
	Received struct {
		link.Publication
		to    *supervisor.Ref
		again bool // it was lost once
	}
	// startedIn says in which process a job runs.
	startedIn struct {
		Name string
		PID  int
	}
	// jobEnded says that a job has been answered.
	jobEnded struct{ Name string }
	// jobPostponed says that a job could not be started for lack of something. It is in the queue again, on disk.
	jobPostponed struct {
		Name       string // of its actor, which ends
		Path, Turn string // of its file
		Job        *payload.Job
		Link       *link.Link
	}
	// takeQueued looks at the queue.
	takeQueued struct{}
	// GetRunning asks for the jobs that run now, in order of their start.
	GetRunning struct{ Reply chan<- []jobInHand }
	// Signal sends a signal to a job; the answer is Salt's sentence, "" for a job that does not run.
	Signal struct {
		JID   string
		Sig   syscall.Signal
		Reply chan<- string
	}
	// lostJob is a job that a dead predecessor of this process had begun.
	lostJob struct {
		orphan
		Link *link.Link
	}
	// jobSetAside is a job that the Dispatcher has died of twice.
	jobSetAside struct {
		Job  *payload.Job
		Link *link.Link
		mark auth.Mark
		Why  error
		Hash string    // by which the log knows the message
		at   time.Time // when it was opened
	}
	// Stop ends all jobs because the minion stops; Ended is closed when none runs any more.
	Stop struct{ Ended chan<- struct{} }
)

// dispatcherOptions are what the Dispatcher needs of the minion.
type dispatcherOptions struct {
	id        string        // of this minion
	seenMost  int           // minion_jid_queue_hwm: job ids that are remembered as taken
	seenFor   time.Duration // minion_jid_queue_age: for so long they are, and older ones are refused
	queueMost int           // job_queue_max: jobs that wait; 0 or less: any number
	match     func(job *payload.Job, l *link.Link) bool
	// gathering says that the grains are not there yet: matching may wait for them, which take seconds on some hosts.
	gathering  func() bool
	tree       *daemon.Tree // of the jobs
	job        func(rec *jobRecord) func() supervisor.Actor
	links      []*link.Link
	begun      func(key string) bool // by the process before this one
	reg        *registry
	past       *journal.Past
	queue      queue
	room       *room
	actors     int          // of jobs that process_count_max does not count
	queueBytes int          // of publications in the queue
	heeded     *daemon.Bell // rung for those that wait until a publication is looked at
	diary      *ledger.Diary
	tell       func(key string, l *link.Link) // tells the master of a job that takes time
	meter      *meter.Meter
	clock      supervisor.Clock
	log        *slog.Logger
}

// dispatcher decides which publications are jobs of this minion, starts them, and knows all that run. It
// never waits for a job, so find_job and kill_job are answered at once whatever else goes on.
type dispatcher struct {
	opt      dispatcherOptions
	reg      *registry
	self     *supervisor.Ref
	stopping bool
	armed    bool            // takeQueued comes
	ended    chan<- struct{} // closed when no job runs any more; nil before Stop and after that
}

func (d *dispatcher) Receive(ctx supervisor.Context) {
	defer d.measure(ctx)
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		d.onStarted(ctx)
	case *Received:
		d.onJobReceived(ctx, m)
	case *Run:
		d.onRunScheduled(ctx, m)
	case *lostJob:
		d.onLostJob(ctx, m)
	case *startedIn:
		d.reg.started(m.Name, m.PID)
	case *jobEnded:
		d.onJobEnded(ctx, m)
	case *jobPostponed:
		d.onJobPostponed(ctx, m)
	case *takeQueued:
		d.onTakeQueued(ctx)
	case *GetRunning:
		m.Reply <- d.reg.list()
	case *Signal:
		m.Reply <- d.signal(ctx, m)
	case *jobSetAside:
		d.onJobSetAside(ctx, m)
	case *Stop:
		d.onStopJobs(m)
	default:
		supervisor.Unhandled(ctx)
	}
}

// matches asks whether a job is for this minion.
func (d *dispatcher) matches(ctx supervisor.Context, m *Received) (hit bool) {
	if !d.opt.gathering() {
		return d.opt.match(m.Job, m.Link)
	}
	supervisor.Patiently(ctx, func() { hit = d.opt.match(m.Job, m.Link) })
	return hit
}

// measure notes how many jobs there are. One that was left behind does not: they are its successor's.
func (d *dispatcher) measure(ctx supervisor.Context) {
	d.opt.heeded.Ring()
	if d.reg != nil && supervisor.Lifetime(ctx).Err() == nil {
		d.opt.meter.InHand(len(d.reg.running), len(d.reg.waiting))
	}
}

// onStarted forgets jobs whose end a predecessor was not told of, and reads the queue at the first start.
func (d *dispatcher) onStarted(ctx supervisor.Context) {
	d.self, d.reg = supervisor.Self(ctx), d.opt.reg
	if supervisor.Incarnation(ctx) > 1 {
		for _, j := range append([]*runningJob(nil), d.reg.running...) {
			if _, ok := d.opt.tree.Supervisor().Lookup(j.name); !ok {
				d.reg.ended(j.name)
			}
		}
	} else if err := d.readQueue(); err != nil {
		d.opt.log.Error("the job queue cannot be read", "err", err)
	}
	d.next(ctx)
}

func (d *dispatcher) onJobReceived(ctx supervisor.Context, m *Received) {
	job := m.Job
	if field := job.Lacks(); field != "" {
		d.note(m, ledger.Malformed, "no "+field)
		return // not a job; Salt drops it without a word, too
	}
	jid := job.JID()
	matched := jid != "" && d.matches(ctx, m)
	if supervisor.Lifetime(ctx).Err() != nil {
		return // it took so long that another Dispatcher has the job by now
	}
	if !matched {
		d.note(m, ledger.NotMatched, shownTarget(job))
		d.opt.log.Debug("publication is not for this minion", "jid", jid, "tgt", job.Tgt())
		return
	}
	if jid != JIDReq && !m.again && !d.reg.taken(jid) && d.isPast(m) {
		return
	}
	if d.overrun(m) {
		return
	}
	if !d.reg.take(jid, d.opt.seenMost) || jid != JIDReq && d.reg.find(jid) != nil {
		d.opt.log.Debug("job was seen before", "jid", jid)
		d.note(m, ledger.SeenBefore, "")
		return
	}
	if m.again && d.answered(jid) { // before the Dispatcher that had begun it has died
		d.reg.began(jid)
		return
	}
	d.note(m, ledger.OutcomeNone, "")
	d.remember(job, m.Mark)
	if d.stopping {
		d.turnAway(ctx, job, m.Link)
		return
	}
	door.Known(d.opt.log).Info(fmt.Sprintf("User %s Executing command %v with jid %s", job.User(), job.Fun(), jid))
	why := ""
	if !aboutJobs(job) {
		why = d.full(jid)
	}
	if why != "" {
		d.enqueue(ctx, m, why)
	} else {
		d.spawn(ctx, &jobRecord{job: job, link: m.Link, again: m.again, turn: fileName(m.At, jid)})
	}
	d.reg.began(jid)
}

// isPast tells of a job that another process may have taken already, and says so.
func (d *dispatcher) isPast(m *Received) bool {
	jid := m.Job.JID()
	switch {
	case d.opt.past.Has(jid, m.Mark):
		d.opt.log.Warn("job was taken before this process began: somebody has sent it again", "jid", jid, "fun",
			m.Job.Fun())
		d.note(m, ledger.SeenBefore, "")
	case d.opt.past.Outdated(jid, m.Mark, d.opt.clock.Now()):
		d.opt.log.Warn("job is refused: its jid is older than minion_jid_queue_age, and the master has not numbered it",
			"jid", jid, "fun", m.Job.Fun())
		d.note(m, ledger.TooOld, "minion_jid_queue_age is "+d.opt.seenFor.String())
	default:
		return false
	}
	d.opt.tell(jobfiles.Name(jid), m.Link)
	return true
}

// remember puts a job on disk as taken, unless it only asks for jobs: that may be asked twice.
func (d *dispatcher) remember(job *payload.Job, mark auth.Mark) {
	if job.JID() == JIDReq || onlyAsks(job) {
		return
	}
	err := d.opt.past.Take(job.JID(), mark, d.opt.clock.Now())
	if err != nil && !d.reg.unwritten {
		d.opt.log.Error("jobs that are taken cannot be remembered on disk; one that is sent again after a restart "+
			"would run again", "err", err)
	}
	d.reg.unwritten = err != nil
}

// shownTarget is whom a job is for, as notes tell it.
func shownTarget(job *payload.Job) string { return fmt.Sprintf("%v (%s)", job.Tgt(), job.TgtType()) }

// onLostJob answers for a job of a dead process, which counts as seen.
func (d *dispatcher) onLostJob(ctx supervisor.Context, m *lostJob) {
	jid := m.job.JID()
	d.reg.take(jid, d.opt.seenMost)
	d.reg.began(jid)
	rec := &jobRecord{job: m.job, link: m.Link, key: m.name, lost: true}
	rec.shown.Store(m.shown)
	d.spawn(ctx, rec)
}

// spawn starts the actor of a job.
func (d *dispatcher) spawn(ctx supervisor.Context, rec *jobRecord) {
	jid := rec.job.JID()
	switch {
	case rec.key != "":
	case jid == JIDReq:
		d.reg.reqs++
		// not the pid: a later process may have it
		rec.key = fmt.Sprintf("%s-%d-%d", JIDReq, d.opt.clock.Now().UnixMicro(), d.reg.reqs)
	default:
		rec.key = jobfiles.Name(jid)
	}
	rec.name = jobName(rec.key)
	rec.entry = newEntry(rec.job)
	rec.dispatcher = d.self
	ref, err := d.add(rec)
	if err != nil {
		supervisor.Failed(ctx)
		d.opt.log.Error("job cannot be started", "jid", jid, "err", err)
		return
	}
	d.reg.add(&runningJob{jid: jid, name: rec.name, entry: rec.entry, shown: rec.entry.Map(), kill: func(m *killJob) {
		ref.Send(m)
	}, over: func() bool { return rec.ret.Load() != nil }, ended: rec.ended})
}

// jobName is the name of a job's actor.
func jobName(key string) string { return "Job-" + key }

// add adds the actor. Its name may be taken: a predecessor of this Dispatcher has started the job and died, or a job
// of the same jid, long seen, is about to end.
func (d *dispatcher) add(rec *jobRecord) (*supervisor.Ref, error) {
	spec := supervisor.Spec{Name: rec.name, StopTimeout: time.Second, New: d.opt.job(rec)}
	ref, err := d.opt.tree.Supervisor().Add(spec)
	if !errors.Is(err, supervisor.ErrNameTaken) {
		return ref, err
	}
	if ref, ok := d.opt.tree.Supervisor().Lookup(rec.name); ok && rec.again {
		return ref, nil
	}
	d.reg.reqs++
	rec.name = fmt.Sprintf("%s-%d", rec.name, d.reg.reqs)
	spec.Name = rec.name
	return d.opt.tree.Supervisor().Add(spec)
}

func (d *dispatcher) onJobEnded(ctx supervisor.Context, m *jobEnded) {
	d.reg.ended(m.Name)
	if d.stopping {
		d.checkStopped()
		return
	}
	d.next(ctx)
}

func (d *dispatcher) signal(ctx supervisor.Context, m *Signal) string {
	j, pid := d.reg.find(m.JID), os.Getpid()
	switch {
	case j == nil:
	case j.over():
		return ""
	default:
		pid = j.pid
	}
	switch {
	case j != nil && (jobprocess.Ends(m.Sig) || pid != os.Getpid()):
		j.kill(&killJob{Sig: m.Sig})
	case j == nil && !d.unqueue(ctx, m):
		return ""
	}
	return fmt.Sprintf("Signal %d sent to job %s at pid %d", int(m.Sig), m.JID, pid)
}
