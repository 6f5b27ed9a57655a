package jobs

import (
	"slices"
	"strings"

	"brine/modules/execution/brine"
	"brine/wire/payload"
)

// registry is what the Dispatcher knows of jobs; it outlives a restart of the Dispatcher, and the one that
// lives is the only one to touch it.
type registry struct {
	seen      []seenJob // the last jids, oldest first
	running   []*runningJob
	waiting   []*queuedJob // behind process_count_max, oldest first
	unwritten bool         // a taken job could not be put on disk, which was said
	reqs      int          // jobs so far that needed a name of their own
	overrun   uint64       // publications that were refused because too many jobs are in hand
}

// seenJob is a jid that was taken. Until begun is set the job is not started: a Dispatcher that died meanwhile
// takes it up again.
type seenJob struct {
	jid   string
	begun bool
}

type runningJob struct {
	jid  string
	name string // of the actor
	entry
	shown *payload.Map // the entry, as it is listed
	kill  func(*killJob)
	over  func() bool // it has its return
	ended func()      // tells whoever waits for the end; may be nil
}

// jobInHand is a job that runs, or waits.
type jobInHand struct {
	job   *payload.Job
	pid   int          // of its process
	place int          // in the queue, from 1; 0: it runs
	shown *payload.Map // the job as Salt lists it
}

// JIDReq is the jid of jobs that the minion begins itself: any number of them.
const JIDReq = "req"

// take notes a jid and tells whether the job is to be started: its jid is new, or a Dispatcher died before it
// came to it.
func (r *registry) take(jid string, keep int) bool {
	if jid == JIDReq {
		return true
	}
	for _, s := range r.seen {
		if s.jid == jid {
			return !s.begun
		}
	}
	r.seen = append(r.seen, seenJob{jid: jid})
	if over := len(r.seen) - max(1, keep); over > 0 {
		r.seen = slices.Delete(r.seen, 0, over)
	}
	return true
}

// taken tells whether a jid was taken, which is done for jobs whose target means this minion.
func (r *registry) taken(jid string) bool {
	return slices.ContainsFunc(r.seen, func(s seenJob) bool { return s.jid == jid })
}

// began marks a jid as started, or queued.
func (r *registry) began(jid string) {
	for i := range r.seen {
		if r.seen[i].jid == jid {
			r.seen[i].begun = true
		}
	}
}

// started notes the process in which a job runs.
func (r *registry) started(name string, pid int) {
	for _, j := range r.running {
		if j.name == name {
			j.pid = pid
			j.shown = j.Map()
		}
	}
}

func (r *registry) add(j *runningJob) { r.running = append(r.running, j) }

func (r *registry) ended(name string) {
	r.running = slices.DeleteFunc(r.running, func(j *runningJob) bool {
		if j.name == name && j.ended != nil {
			j.ended()
		}
		return j.name == name
	})
}

// find is the running job of a jid, nil when there is none.
func (r *registry) find(jid string) *runningJob {
	for _, j := range r.running {
		if j.jid == jid {
			return j
		}
	}
	return nil
}

// list shows the jobs that run, in order of their start, and after them those that wait.
func (r *registry) list() []jobInHand {
	out := make([]jobInHand, 0, len(r.running)+len(r.waiting))
	for _, j := range r.running {
		out = append(out, jobInHand{job: j.job, pid: j.pid, shown: j.shown})
	}
	for i, q := range r.waiting {
		out = append(out, jobInHand{job: q.job, place: i + 1, shown: q.job.Map().Clone().Set("queued", int64(i+1))})
	}
	return out
}

// counted is how many jobs count towards process_count_max: not the short questions about jobs, which must be
// answered however many run.
func (r *registry) counted() int {
	n := 0
	for _, j := range r.running {
		if !aboutJobs(j.job) {
			n++
		}
	}
	return n
}

// onlyAsks tells the functions that ask about jobs and actors, and change nothing.
func onlyAsks(job *payload.Job) bool {
	switch job.Function() {
	case brine.Actors, brine.Jobs, brine.Job, "saltutil.running", "saltutil.find_job", "saltutil.is_running",
		"saltutil.find_cached_job":
		return true
	}
	return false
}

// aboutJobs tells the functions that ask about jobs and actors, or end them.
func aboutJobs(job *payload.Job) bool {
	fun := job.Function()
	if fun == brine.Actors || fun == brine.Jobs || fun == brine.Job {
		return true
	}
	name, ok := strings.CutPrefix(fun, "saltutil.")
	if !ok {
		return false
	}
	switch name {
	case "running", "find_job", "is_running", "find_cached_job", "signal_job", "term_job", "kill_job", "term_all_jobs",
		"kill_all_jobs":
		return true
	}
	return false
}
