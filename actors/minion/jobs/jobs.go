package jobs

import (
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/link"
	"brine/actors/minion/meter"
	"brine/config"
	"brine/modules/fleet/ledger"
	"brine/modules/loader"
	"brine/supervisor"
	"brine/wire/payload"
)

// Options are what jobs need of their minion.
type Options struct {
	ID         string // of this minion
	CacheDir   string
	SeenMost   int           // minion_jid_queue_hwm: job ids that are remembered as taken
	SeenFor    time.Duration // minion_jid_queue_age: for so long they are, and older ones are refused
	QueueMost  int           // job_queue_max: jobs that wait; 0 or less: any number
	QueueBytes int           // of publications in the queue
	Most       int           // process_count_max
	Actors     int           // of jobs that process_count_max does not count
	Processes  bool          // functions have processes of their own (multiprocessing)
	Launch     Launcher      // starts them; nil: functions run in this process
	Room       Machine       // the zero value: this process and this machine
	PubRet     bool          // pub_ret: the master gets returns
	Cache      bool          // cache_jobs: returns are kept locally, too
	MostReturn int           // bytes of a return; 0: what a master reads
	Ended      string        // what ended the process before this one, "" when that is not known

	Links     []*link.Link
	Match     func(job *payload.Job, l *link.Link) bool // whether a publication means this minion
	Gathering func() bool                               // the grains are not there yet: Match may wait for them
	Env       func(l *link.Link) *loader.Env            // what functions run in; of no master with nil
	Left      Memory                                    // by the process before this one

	Journal   *supervisor.Ref
	Copies    *supervisor.Ref  // of the ReturnerSpool; nil: there are no returners
	Returners *loader.Registry // those that jobs may name
	Returns   []string         // option return
	Disabled  []string         // disable_returners
	// Fire puts an event on the minion's bus.
	Fire func(tag string, data *payload.Map) bool

	Diary  *ledger.Diary
	Meter  *meter.Meter
	Heeded *daemon.Bell // rung for those that wait until a publication is looked at
	Clock  supervisor.Clock
	Log    *slog.Logger
}

// Jobs are the jobs of a minion. Any number of goroutines may use it.
type Jobs struct {
	opt        Options
	dispatcher *supervisor.Ref
	teller     *supervisor.Ref
	tree       *daemon.Tree
	reg        *registry
	room       *room
	job        *jobOptions
	recalled   atomic.Bool // a journal that could not be opened at the start was read
}

// New makes the part.
func New(opt Options) *Jobs {
	if opt.Room.Memory == nil {
		opt.Room = realRoom()
	}
	if opt.MostReturn <= 0 {
		opt.MostReturn = mostReturn
	}
	j := &Jobs{opt: opt, dispatcher: supervisor.NewRef(), teller: supervisor.NewRef(), reg: &registry{},
		tree: daemon.NewTree(supervisor.Options{WaitForKill: time.Second}),
		room: newRoom(opt.Most, opt.Processes, opt.Room)}
	j.job = &jobOptions{id: opt.ID, env: opt.Env, journal: opt.Journal, proc: procDirIn(opt.CacheDir),
		cacheDir: opt.CacheDir,
		queue:    queueIn(opt.CacheDir), clock: opt.Clock, started: j.jobStarted, crashed: j.jobCrashed,
		pubRet: opt.PubRet, ended: opt.Ended, mostReturn: opt.MostReturn, launch: opt.Launch, diary: opt.Diary,
		tell: j.tellOf, meter: opt.Meter, log: opt.Log}
	if opt.Cache {
		j.job.cache = func(jid string, ret *payload.Return) error { return cacheJob(opt.CacheDir, jid, ret) }
	}
	if opt.Copies != nil {
		j.job.extra, j.job.uncalled, j.job.returners, j.job.returns = j.copies, j.uncalled, opt.Copies,
			len(opt.Returns) > 0
	}
	return j
}

func queueIn(cacheDir string) queue { return queue(filepath.Join(cacheDir, config.JobQueues)) }

// Children are the subtree of jobs, and the actors beside it.
func (m *Jobs) Children() []daemon.Child {
	return []daemon.Child{m.tree.Row("Jobs"),
		{Spec: supervisor.Spec{Ref: m.teller, Name: "Teller", New: func() supervisor.Actor {
			return &teller{opt: &m.opt}
		}}},
		{Spec: supervisor.Spec{Ref: m.dispatcher, Name: "Dispatcher", Component: true, New: func() supervisor.Actor {
			return &dispatcher{opt: m.dispatcherOptions()}
		}}},
	}
}

func (m *Jobs) dispatcherOptions() dispatcherOptions {
	opt := &m.opt
	return dispatcherOptions{id: opt.ID, seenMost: opt.SeenMost, seenFor: opt.SeenFor, queueMost: opt.QueueMost,
		queueBytes: opt.QueueBytes, actors: opt.Actors, tree: m.tree, links: opt.Links, reg: m.reg, past: opt.Left.Past,
		diary: opt.Diary, tell: m.tellOf, meter: opt.Meter, heeded: opt.Heeded, clock: opt.Clock, log: opt.Log,
		gathering: opt.Gathering, match: opt.Match, begun: func(key string) bool { return opt.Left.keys[key] },
		queue: queueIn(opt.CacheDir), room: m.room,
		job: func(rec *jobRecord) func() supervisor.Actor {
			return func() supervisor.Actor { return &job{opt: m.job, rec: rec} }
		}}
}

// Receive hands a publication to the Dispatcher, for the actor that has opened it.
func (m *Jobs) Receive(ctx supervisor.Context, p link.Publication) {
	supervisor.Send(ctx, m.dispatcher, &Received{Publication: p, to: m.dispatcher})
}

// Run starts a job of the schedule, or of the Reactor.
func (m *Jobs) Run(job *Run) { m.dispatcher.Send(job) }

// Depth is how many publications the Dispatcher has not looked at.
func (m *Jobs) Depth() int { return m.dispatcher.Depth() }

// Dispatcher is the Ref that takes Received, Run, GetRunning, Signal and Stop.
func (m *Jobs) Dispatcher() *supervisor.Ref { return m.dispatcher }

// Supervisor is that of the actors of the jobs.
func (m *Jobs) Supervisor() *supervisor.Supervisor { return m.tree.Supervisor() }

// AnswerForLost answers for the jobs that had begun when the process before this one ended.
func (m *Jobs) AnswerForLost() { m.answerFor(m.opt.Left.lost) }
