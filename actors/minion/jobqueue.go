package minion

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/modules/ledger"
	"brine/modules/worker"
	"brine/wire/payload"

	"github.com/asynkron/protoactor-go/actor"
)

// jobQueue keeps the publications on disk that wait behind process_count_max, under the names of Salt:
// queues/MASTER/job_queue/queued_<microseconds>_<jid>.p in cachedir.
type jobQueue string

// queuedJob is one of them.
type queuedJob struct {
	jid  string
	path string // "" when it could not be written
	load *payload.Map
	link *link
}

func (q jobQueue) dir(l *link) string { return filepath.Join(string(q), l.name(), "job_queue") }

func (q jobQueue) put(now time.Time, load *payload.Map, l *link) (string, error) {
	b, err := payload.MarshalBin(load)
	if err != nil {
		return "", fmt.Errorf("queue job: %w", err)
	}
	path := filepath.Join(q.dir(l), fmt.Sprintf("queued_%d_%s.p", now.UnixMicro(), safeName(load.Str("jid"))))
	if err := writeFile(path, b, 0o600); err != nil {
		return "", fmt.Errorf("queue job: %w", err)
	}
	return path, nil
}

// read lists what waits for one master, oldest first. What cannot be read is removed, as Salt does.
func (q jobQueue) read(l *link) ([]*queuedJob, error) {
	entries, err := os.ReadDir(q.dir(l))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var jobs []*queuedJob
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "queued_") {
			continue
		}
		path := filepath.Join(q.dir(l), e.Name())
		b, readErr := os.ReadFile(path)
		load, parseErr := payload.UnmarshalBinMap(b)
		if readErr != nil || parseErr != nil {
			err = errors.Join(err, fmt.Errorf("queued job %s: %w", e.Name(), errors.Join(readErr, parseErr)), removeIfThere(path))
			continue
		}
		jobs = append(jobs, &queuedJob{jid: load.Str("jid"), path: path, load: load, link: l})
	}
	return jobs, err
}

// enqueue lets a job wait for one that ends.
func (d *dispatcher) enqueue(ctx actor.Context, load *payload.Map, l *link) {
	jid, cfg := load.Str("jid"), d.opt.cfg
	if cfg.JobQueueMax > 0 && len(d.reg.waiting) >= cfg.JobQueueMax {
		d.opt.log.Error("the job queue is full", "jid", jid)
		d.spawn(ctx, &jobRecord{load: load, link: l, told: fmt.Sprintf("The job queue of the minion is full: %d jobs wait", len(d.reg.waiting)),
			outcome: ledger.QueueFull})
		return
	}
	d.opt.log.Info(fmt.Sprintf("Maximum number of processes reached while executing jid %s, queuing... (Running: %d, Max: %d)",
		jid, d.reg.counted(), cfg.ProcessCountMax), "jid", jid)
	path, err := d.opt.queue.put(d.opt.clock.Now(), load, l)
	if err != nil {
		d.opt.log.Error("a queued job does not survive the end of this process", "jid", jid, "err", err)
	}
	d.noteQueued(load, l)
	d.reg.waiting = append(d.reg.waiting, &queuedJob{jid: jid, path: path, load: load, link: l})
}

// next starts what waits, as far as there are free places.
func (d *dispatcher) next(ctx actor.Context) {
	for len(d.reg.waiting) > 0 && !d.stopping && (d.opt.cfg.ProcessCountMax <= 0 || d.reg.counted() < d.opt.cfg.ProcessCountMax) {
		q := d.reg.waiting[0]
		d.reg.waiting = d.reg.waiting[1:]
		d.opt.log.Info(fmt.Sprintf("Popping queued job %s from the queue for execution", q.jid), "jid", q.jid)
		d.spawn(ctx, &jobRecord{load: q.load, link: q.link, queued: q.path})
	}
}

// unqueue takes a job out of the queue that a signal is meant for, and answers for it.
func (d *dispatcher) unqueue(ctx actor.Context, m *SignalJob) bool {
	i := slices.IndexFunc(d.reg.waiting, func(q *queuedJob) bool { return q.jid == m.JID })
	if i < 0 {
		return false
	}
	if q := d.reg.waiting[i]; worker.Ends(m.Sig) {
		d.reg.waiting = slices.Delete(d.reg.waiting, i, i+1)
		d.spawn(ctx, &jobRecord{load: q.load, link: q.link, queued: q.path, told: worker.TextSignal(m.Sig) + " before it had begun",
			outcome: ledger.Killed, detail: signalText(m.Sig)})
	}
	return true
}

// readQueue takes over what the process before this one left waiting. What had begun is not taken: it has a return, or is
// answered for as a lost job.
func (d *dispatcher) readQueue() error {
	var errs error
	for _, l := range d.opt.links {
		jobs, err := d.opt.queue.read(l)
		errs = errors.Join(errs, err)
		for _, q := range jobs {
			if d.opt.begun(safeName(q.jid)) {
				errs = errors.Join(errs, removeIfThere(q.path))
			} else if d.reg.take(q.jid, d.opt.cfg.MinionJIDQueueHWM) {
				d.reg.began(q.jid)
				d.reg.waiting = append(d.reg.waiting, q)
			}
		}
	}
	slices.SortFunc(d.reg.waiting, func(a, b *queuedJob) int { return strings.Compare(filepath.Base(a.path), filepath.Base(b.path)) })
	return errs
}
