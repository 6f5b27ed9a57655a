package workers

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"brine/actors/master/access"
	"brine/actors/master/eventbus"
	"brine/actors/master/jobs"
	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/event"
	"brine/wire/payload"
)

// A worker fires this much of one request's events; what is left is fired beside it, in such portions, each when the
// bus has sent out the one before.
const (
	eventPortion      = 256
	eventPortionBytes = 1 << 20
)

// eventHandler takes the events of minions.
type eventHandler struct {
	admission *access.Admission
	jobs      *jobs.Jobs
	events    *eventbus.Bus
	most      int // events of one request (minion_events_max)
	busy      busyMinions
	log       *slog.Logger
}

// minionEvent fires one event, or a list of them, on the master's bus. A single event carries the whole load.
//
// Unlike Salt: the answer to events of which some are refused says why. Salt's answers None to all; its minions do not
// look.
func (d *eventHandler) minionEvent(r *call) (any, error) {
	if r.id == "" {
		return payload.NewMap(0), nil
	}
	ask := payload.NewEventRequest(r.load)
	list, several := ask.Events()
	if !several {
		return toldWhy(d.singleEvent(r, ask)), nil
	}
	e := &eventList{handler: d, who: access.Speaker{ID: r.id}, pretag: ask.Pretag(), list: list}
	if e.claimsSyndic() {
		if e.who.Syndic = d.admission.Voices.AsSyndic(r.id); !e.who.Syndic {
			e.refuse(ledger.DeniedSyndic, len(list), "events of a syndic, which it is not")
			return toldWhy(e.why), nil
		}
	}
	e.admit()
	if e.portion(); len(e.list) == 0 {
		return toldWhy(e.why), nil
	}
	if !d.busy.enter(r.id) {
		e.refuse(ledger.DeniedEvents, len(e.list), "a long list of events while another is being fired")
		return toldWhy(e.why), nil
	}
	r.beside("events of a minion", func(ctx context.Context) {
		defer d.busy.leave(r.id)
		for len(e.list) > 0 && d.events.Heard(ctx) {
			e.portion()
		}
		r.finish(toldWhy(e.why))
	})
	return nil, errLater
}

// toldWhy is the answer about events: None, or why one of them was refused.
func toldWhy(why string) any {
	if why == "" {
		return nil
	}
	return "refused: " + why
}

// singleEvent fires an event that is the load itself, or says why not.
func (d *eventHandler) singleEvent(r *call, ask payload.EventRequest) (why string) {
	tag := ask.Tag()
	if tag == "" || !ask.HasData() {
		return ""
	}
	if d.admission.Quotas.Take(r.id, access.QuotaEvents, 1, 1, time.Now()) == 0 {
		why = d.admission.EventQuota()
		d.admission.Deny(r.id, ledger.DeniedEvents, 1, why)
		return why
	}
	switch tag {
	case event.TagSyndicStarted(r.id):
		if !d.admission.Voices.AsSyndic(r.id) {
			why = "it says that it is a syndic, which it is not"
			d.admission.Deny(r.id, ledger.DeniedSyndic, 1, why)
			return why
		}
	case event.TagMinionStarted(r.id):
		d.admission.Voices.AsMinion(r.id)
	}
	_, why = d.admission.Say(access.Speaker{ID: r.id}, tag, r.load)
	d.sayMinionError(ask)
	return why
}

// eventList are the events of one request that have not been fired.
type eventList struct {
	handler *eventHandler
	who     access.Speaker
	pretag  string
	list    []any
	why     string // the last one that was refused was
}

// refuse counts events that are not fired.
func (e *eventList) refuse(what ledger.Denial, n int, why string) {
	e.handler.admission.Deny(e.who.ID, what, n, why)
	e.why = why
}

// say fires an event under one tag.
func (e *eventList) say(tag string, data *payload.Map) int {
	size, why := e.handler.admission.Say(e.who, tag, data)
	if why != "" {
		e.why = why
	}
	return size
}

// claimsSyndic tells whether the events are those that a syndic forwards.
func (e *eventList) claimsSyndic() bool {
	parts := access.TagParts(e.pretag)
	return len(parts) > 0 && parts[0] == "syndic"
}

// admit cuts the list to what one request may hold, and to the speaker's quota.
func (e *eventList) admit() {
	d, share := e.handler, e.who.Share()
	if most := d.most * share; most > 0 && len(e.list) > most {
		e.refuse(ledger.DeniedEvents, len(e.list)-most, fmt.Sprintf("more events in one request than "+
			"minion_events_max (%d)", most))
		e.list = e.list[:most]
	}
	if given := d.admission.Quotas.Take(e.who.ID, access.QuotaEvents, len(e.list), share, time.Now()); given < len(
		e.list) {
		e.refuse(ledger.DeniedEvents, len(e.list)-given, d.admission.EventQuota())
		e.list = e.list[:given]
	}
}

// portion fires as many events as go at a time.
func (e *eventList) portion() {
	for n, size := 0, 0; len(e.list) > 0 && n < eventPortion && size < eventPortionBytes; n++ {
		load, _ := e.list[0].(*payload.Map)
		e.list[0], e.list = nil, e.list[1:]
		if ev := payload.NewEventRequest(load); ev.Tag() != "" {
			size += e.fire(ev.Tag(), ev.Data())
		}
	}
}

// fire fires one event of the list: under its tag behind the pretag, as syndics send them, and under its tag alone. Of
// what a syndic forwards the second is for who looks after minions below it; what only masters say goes without.
func (e *eventList) fire(tag string, data *payload.Map) (size int) {
	if e.pretag != "" {
		size = e.say(event.Join(e.pretag, tag), data)
	}
	if !e.who.Syndic {
		return size + e.say(tag, data)
	}
	e.handler.noteMinions(e.who.ID, data)
	if e.handler.admission.Forbidden(e.who, tag, data) == "" {
		size += e.say(tag, data)
	}
	return size
}

// noteMinions adds the minions that a syndic tells of to their job.
func (d *eventHandler) noteMinions(syndic string, data *payload.Map) {
	job := event.ReadJob(data)
	if job.JID == "" || job.Minions == nil || !d.jobs.Knows(job.JID) {
		return
	}
	minions := slices.DeleteFunc(job.Minions, func(id string) bool { return !auth.ValidID(id) })
	d.jobs.Send(&jobs.SaveLoad{JID: job.JID, Minions: minions, Syndic: syndic})
}

// maxMinionError is how much of an error that a minion reports is logged, in bytes.
const maxMinionError = 1024

// sayMinionError puts an error that a minion reports into the master's log.
func (d *eventHandler) sayMinionError(ask payload.EventRequest) {
	if ask.Tag() == event.TagSaltError {
		id, text := ask.Error()
		d.log.Error("Received minion error from [" + id + "]: " + text[:min(len(text), maxMinionError)])
	}
}

// busyMinions are those of whom a long list of events is being fired: one at a time of each.
type busyMinions struct{ ids sync.Map }

func (b *busyMinions) enter(id string) bool {
	_, there := b.ids.LoadOrStore(id, true)
	return !there
}

func (b *busyMinions) leave(id string) { b.ids.Delete(id) }
