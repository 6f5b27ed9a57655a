package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/jobfiles"
	"brine/actors/minion/link"
	"brine/modules/fleet/ledger"
	"brine/modules/host/jobprocess"
	"brine/supervisor"
	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

// queue keeps the publications on disk that wait behind process_count_max, under the names of Salt:
// queues/MASTER/job_queue/queued_<microseconds>_<jid>.p in cachedir.
type queue string

// queuedJob is one of them.
type queuedJob struct {
	jid  string
	path string // "" when it could not be written
	name string // of the file; they begin in the order of names
	size int    // bytes of the publication
	job  *payload.Job
	link *link.Link
}

func (q queue) dir(l *link.Link) string {
	return filepath.Join(string(q), l.QueueName(), "job_queue")
}

// fileSuffix ends the names of queued jobs. Others are files that are being written.
const fileSuffix = ".p"

// fileName is the name of a job that came at a time.
func fileName(at time.Time, jid string) string {
	return fmt.Sprintf("queued_%d_%s%s", at.UnixMicro(), jobfiles.Name(jid), fileSuffix)
}

func (q queue) put(name string, job *payload.Job, l *link.Link) (string, error) {
	b, err := payload.MarshalBin(job.Map())
	if err != nil {
		return "", fmt.Errorf("queue job: %w", err)
	}
	path := filepath.Join(q.dir(l), name)
	if err := jobfiles.Write(path, b); err != nil {
		return "", fmt.Errorf("queue job: %w", err)
	}
	return path, nil
}

// read lists what waits for one master, oldest first. What is no job is set aside, and told of; what cannot be read now
// stays for the next start. Unlike Salt: it removes what is damaged.
func (q queue) read(l *link.Link, told func(setaside.Damage)) ([]*queuedJob, error) {
	entries, err := os.ReadDir(q.dir(l))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var jobs []*queuedJob
	for _, e := range entries {
		path := filepath.Join(q.dir(l), e.Name())
		if strings.HasSuffix(e.Name(), fileSuffix+jobfiles.TempSuffix) {
			// its process has died; the job was never taken
			err = errors.Join(err, jobfiles.Remove(path))
		}
		if !strings.HasPrefix(e.Name(), "queued_") || !strings.HasSuffix(e.Name(), fileSuffix) {
			continue
		}
		b, readErr := os.ReadFile(path)
		if readErr != nil {
			err = errors.Join(err, fmt.Errorf("queued job: %w", readErr))
			continue
		}
		load, parseErr := payload.UnmarshalBinMap(b)
		job := payload.NewJob(load)
		if parseErr == nil && job.JID() == "" {
			parseErr = errors.New("it is no job")
		}
		if parseErr != nil {
			kept, moveErr := setaside.Move(path, time.Now())
			told(setaside.Damage{Path: path, Kept: kept, Err: errors.Join(fmt.Errorf("a job that waited is not run, "+
				"and not answered for: %w", parseErr), moveErr)})
			continue
		}
		jobs = append(jobs, &queuedJob{jid: job.JID(), path: path, name: e.Name(), size: len(b), job: job, link: l})
	}
	return jobs, err
}

// enqueue lets a job wait for its turn. One that a Dispatcher died of may wait already.
func (d *dispatcher) enqueue(ctx supervisor.Context, m *Received, why string) {
	job, l, jid, name := m.Job, m.Link, m.Job.JID(), fileName(m.At, m.Job.JID())
	if slices.ContainsFunc(d.reg.waiting, func(q *queuedJob) bool { return q.name == name && q.link == l }) {
		return
	}
	most, bytes := d.opt.queueMost, m.Size
	for _, q := range d.reg.waiting {
		bytes += q.size
	}
	if most > 0 && len(d.reg.waiting) >= most || len(d.reg.waiting) > 0 && bytes > d.opt.queueBytes {
		d.opt.log.Error("the job queue is full", "jid", jid)
		d.spawn(ctx, &jobRecord{job: job, link: l,
			told:    fmt.Sprintf("The job queue of the minion is full: %d jobs wait", len(d.reg.waiting)),
			outcome: ledger.QueueFull, detail: fmt.Sprintf("%d jobs wait", len(d.reg.waiting))})
		return
	}
	d.opt.log.Warn(why, "jid", jid)
	path, err := d.opt.queue.put(name, job, l)
	if err != nil {
		d.opt.log.Error("a queued job does not survive the end of this process", "jid", jid, "err", err)
	}
	d.noteQueued(jid, l)
	d.reg.waiting = append(d.reg.waiting, &queuedJob{jid: jid, path: path, name: name, size: m.Size, job: job, link: l})
	d.arm(ctx)
}

// overrun refuses a publication while so many jobs are in hand that there may not be more actors: questions about jobs,
// and jobs whose return nobody takes, which process_count_max does not hold up. It gets no return, for that would be
// one more.
func (d *dispatcher) overrun(m *Received) bool {
	n, jid := len(d.reg.running), m.Job.JID()
	if n < d.opt.room.most+d.opt.actors || d.reg.taken(jid) {
		return false
	}
	if d.reg.overrun++; d.reg.overrun&(d.reg.overrun-1) == 0 {
		d.opt.log.Error("a job is refused: too many are in hand", "jid", jid, "fun", m.Job.Fun(), "jobs", n, "times",
			d.reg.overrun)
	}
	d.note(m, ledger.QueueFull, fmt.Sprintf("%d jobs were in hand", n))
	d.opt.tell(jobfiles.Name(jid), m.Link)
	return true
}

// full tells why a job has to wait, "" when it has not.
func (d *dispatcher) full(jid string) string {
	n, most := d.reg.counted(), d.opt.room.most
	if n < most { // else that is the reason, whatever else there is
		if lack := d.opt.room.lacks(d.opt.clock.Now()); lack != "" {
			return lack + ", queuing job " + jid
		}
	}
	if n >= most || len(d.reg.waiting) > 0 {
		return fmt.Sprintf("Maximum number of processes reached while executing jid %s, queuing... (Running: %d, "+
			"Max: %d)", jid, n, most)
	}
	return ""
}

// next starts what waits, as far as there is room.
func (d *dispatcher) next(ctx supervisor.Context) {
	for len(d.reg.waiting) > 0 && !d.stopping && d.reg.counted() < d.opt.room.most {
		if d.opt.room.lacks(d.opt.clock.Now()) != "" {
			d.arm(ctx)
			return
		}
		q := d.reg.waiting[0]
		d.reg.waiting = d.reg.waiting[1:]
		d.opt.log.Info(fmt.Sprintf("Popping queued job %s from the queue for execution", q.jid), "jid", q.jid)
		d.spawn(ctx, &jobRecord{job: q.job, link: q.link, queued: q.path, turn: q.name})
	}
}

// arm looks at the queue again soon: not only the end of a job makes room.
func (d *dispatcher) arm(ctx supervisor.Context) {
	if !d.armed {
		d.armed = true
		daemon.After(ctx, d.opt.clock, queueEvery, &takeQueued{})
	}
}

func (d *dispatcher) onTakeQueued(ctx supervisor.Context) {
	d.armed = false
	d.next(ctx)
	if len(d.reg.waiting) > 0 && d.reg.counted() < d.opt.room.most {
		d.arm(ctx)
	}
}

// onJobPostponed puts a job back to where it was in the queue.
func (d *dispatcher) onJobPostponed(ctx supervisor.Context, m *jobPostponed) {
	d.reg.ended(m.Name)
	d.opt.room.refused(d.opt.clock.Now())
	q := &queuedJob{jid: m.Job.JID(), path: m.Path, name: m.Turn, job: m.Job, link: m.Link}
	i := slices.IndexFunc(d.reg.waiting, func(o *queuedJob) bool { return o.name > q.name })
	if i < 0 {
		i = len(d.reg.waiting)
	}
	d.reg.waiting = slices.Insert(d.reg.waiting, i, q)
	d.noteQueued(q.jid, m.Link)
	d.arm(ctx)
	d.checkStopped()
}

// unqueue takes a job out of the queue that a signal is meant for, and answers for it.
func (d *dispatcher) unqueue(ctx supervisor.Context, m *Signal) bool {
	i := slices.IndexFunc(d.reg.waiting, func(q *queuedJob) bool { return q.jid == m.JID })
	if i < 0 {
		return false
	}
	if q := d.reg.waiting[i]; jobprocess.Ends(m.Sig) {
		d.reg.waiting = slices.Delete(d.reg.waiting, i, i+1)
		d.spawn(ctx, &jobRecord{job: q.job, link: q.link, queued: q.path,
			told: jobprocess.TextSignal(m.Sig) + " before it had begun", outcome: ledger.Killed,
			detail: signalText(m.Sig)})
	}
	return true
}

// readQueue takes over what the process before this one left waiting. What had begun is not taken: it has a return, or
// is answered for as a lost job.
func (d *dispatcher) readQueue() error {
	var errs error
	for _, l := range d.opt.links {
		jobs, err := d.opt.queue.read(l, jobfiles.TellDamage(d.opt.log))
		errs = errors.Join(errs, err)
		for _, q := range jobs {
			if d.opt.begun(jobfiles.Name(q.jid)) {
				errs = errors.Join(errs, jobfiles.Remove(q.path))
			} else if d.reg.take(q.jid, d.opt.seenMost) {
				d.reg.began(q.jid)
				d.reg.waiting = append(d.reg.waiting, q)
			} else { // it stands there twice
				errs = errors.Join(errs, jobfiles.Remove(q.path))
			}
		}
	}
	slices.SortFunc(d.reg.waiting, func(a, b *queuedJob) int { return strings.Compare(a.name, b.name) })
	return errs
}
