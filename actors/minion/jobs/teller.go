package jobs

import (
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/link"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of the Teller.
type (
	// tellFacts asks to tell the master of a job what is known of it, unless it ends soon.
	tellFacts struct {
		Key  string
		Link *link.Link
	}
	// tellGathered tells what has gathered.
	tellGathered struct{}
)

// Limits of the Teller.
const (
	tellGather = 400 * time.Millisecond // after showAfter: a job is told of when it has run for half a second
	maxTold    = 500                    // jobs in one request
)

// teller tells brine masters of jobs that are not over yet, of many at a time.
type teller struct {
	opt     *Options
	waiting map[*link.Link]map[string]bool
	timer   bool
}

func (t *teller) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		t.waiting = map[*link.Link]map[string]bool{}
	case *tellFacts:
		t.onTellFacts(ctx, m)
	case *tellGathered:
		t.onGathered()
	default:
		supervisor.Unhandled(ctx)
	}
}

func (t *teller) onTellFacts(ctx supervisor.Context, m *tellFacts) {
	if m.Link == nil || !m.Link.Brine() {
		return
	}
	if t.waiting[m.Link] == nil {
		t.waiting[m.Link] = map[string]bool{}
	}
	if len(t.waiting[m.Link]) < maxTold {
		t.waiting[m.Link][m.Key] = true
	}
	if !t.timer {
		t.timer = true
		daemon.After(ctx, t.opt.Clock, tellGather, &tellGathered{})
	}
}

func (t *teller) onGathered() {
	t.timer = false
	now := ledger.At(t.opt.Clock.Now())
	for l, keys := range t.waiting {
		jobs := payload.NewMap(len(keys))
		for key := range keys {
			if f, ok := t.opt.Diary.Get(key); ok && f.Made == 0 {
				f.Now = now
				jobs.Set(key, f.Pack())
			}
		}
		if jobs.Len() > 0 && l.Up() {
			l.Post(&link.Request{Load: payload.M("cmd", payload.CmdBrineFacts, "id", t.opt.ID, "jobs", jobs),
				Tries: 1})
		}
	}
	clear(t.waiting)
}

// tellOf asks the Teller.
func (m *Jobs) tellOf(key string, l *link.Link) { m.teller.Send(&tellFacts{Key: key, Link: l}) }
