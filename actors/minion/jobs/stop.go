package jobs

import (
	"syscall"
	"time"

	"brine/actors/minion/link"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"
)

// stopJobsWithin is how long the functions may take to notice that their job is over.
const stopJobsWithin = 2 * time.Second

// PhaseJobs is the part of a stop that comes before those of the supervisor: the jobs that run are ended.
const PhaseJobs = "jobs ended"

// Stop ends the running jobs and waits until they have their returns, for a part of the time of a stop.
func (m *Jobs) Stop(within time.Duration) supervisor.Phase {
	within = min(within/2, stopJobsWithin)
	began, phase := m.opt.Clock.Now(), supervisor.Phase{Name: PhaseJobs}
	over, ended := make(chan struct{}), make(chan struct{})
	stop := m.opt.Clock.AfterFunc(within, func() { close(over) })
	defer stop()
	m.dispatcher.Send(&Stop{Ended: ended})
	select {
	case <-ended:
	case <-over:
		for _, c := range m.tree.Supervisor().Snapshot() {
			phase.Late = append(phase.Late, c.Path)
		}
		m.opt.Log.Warn("jobs did not end in time", "actor", phase.Late)
	}
	phase.Took = m.opt.Clock.Now().Sub(began)
	return phase
}

// Texts of returns that a stop of the minion causes.
const (
	textStopped  = "The minion was stopped while the job was running"
	textStopping = "The minion was about to stop when the job came, and did not run it"
)

// onStopJobs ends what runs. What waits in the queue stays there for the next start.
func (d *dispatcher) onStopJobs(m *Stop) {
	d.stopping, d.ended = true, m.Ended
	for _, j := range d.reg.running {
		j.kill(&killJob{Sig: syscall.SIGTERM, Text: textStopped, Outcome: ledger.Stopped})
	}
	d.checkStopped()
}

func (d *dispatcher) checkStopped() {
	if len(d.reg.running) == 0 && d.ended != nil {
		close(d.ended)
		d.ended = nil
	}
}

// turnAway answers for a job that comes while the minion stops.
func (d *dispatcher) turnAway(ctx supervisor.Context, job *payload.Job, l *link.Link) {
	d.reg.began(job.JID())
	d.spawn(ctx, &jobRecord{job: job, link: l, told: textStopping, outcome: ledger.Stopping})
}
