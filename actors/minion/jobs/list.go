package jobs

import (
	"context"
	"strings"
	"syscall"
	"time"

	"brine/actors/minion/jobfiles"
	"brine/actors/minion/journal"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// List tells what this minion has in hand: the jobs that run, those that wait behind process_count_max, and the
// returns that a master has not acknowledged.
func (m *Jobs) List(ctx context.Context) (*payload.Map, error) {
	jobs, err := supervisor.Ask(ctx, m.dispatcher, func(r chan<- []jobInHand) any { return &GetRunning{Reply: r} })
	if err != nil {
		return nil, err
	}
	since := map[string]time.Time{}
	for _, c := range m.tree.Supervisor().Snapshot() {
		since[strings.TrimPrefix(c.Name, "Job-")] = c.Since
	}
	running, queued := []any{}, []any{}
	for _, j := range jobs {
		row := payload.M("jid", j.job.Field(payload.FieldJID), "fun", j.job.Fun(), "user",
			j.job.Field(payload.FieldUser))
		if j.place > 0 {
			queued = append(queued, row.Set("place", j.place))
			continue
		}
		if at, ok := since[jobfiles.Name(j.job.JID())]; ok {
			row.Set("since", stats.Stamp(at))
		}
		running = append(running, row.Set("pid", j.pid))
	}
	returns, err := m.unacknowledged(ctx)
	return payload.M("running", running, "queued", queued, "most", m.opt.Most, "returns", returns), err
}

// unacknowledged lists the returns that wait for their masters.
func (m *Jobs) unacknowledged(ctx context.Context) ([]any, error) {
	list := []any{}
	for _, l := range m.opt.Links {
		waiting, err := supervisor.Ask(ctx, m.opt.Journal, func(r chan<- []journal.Spooled) any {
			return &journal.List{Link: l.Name(), Done: func(all []journal.Spooled) { r <- all }}
		})
		if err != nil {
			return nil, err
		}
		for _, s := range waiting {
			list = append(list, payload.M("jid", s.Key, "master", l.Host(), "bytes", s.Size, "since",
				stats.Stamp(s.At)))
		}
	}
	return list, nil
}

// Running lists the jobs that run and those that wait, as Salt lists them.
func (m *Jobs) Running(ctx context.Context) ([]*payload.Map, error) {
	jobs, err := supervisor.Ask(ctx, m.dispatcher, func(r chan<- []jobInHand) any { return &GetRunning{Reply: r} })
	out := make([]*payload.Map, len(jobs))
	for i, j := range jobs {
		out[i] = j.shown
	}
	return out, err
}

// Signal sends a signal to a job. The answer is Salt's sentence; "": the job does not run.
func (m *Jobs) Signal(ctx context.Context, jid string, sig syscall.Signal) (string, error) {
	return supervisor.Ask(ctx, m.dispatcher, func(r chan<- string) any {
		return &Signal{JID: jid, Sig: sig, Reply: r}
	})
}
