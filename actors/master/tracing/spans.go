package tracing

import (
	"crypto/sha256"
	"maps"
	"slices"

	"brine/modules/fleet/ledger"
	"brine/wire/otlp"
	"brine/wire/payload"
)

// tracePlan says what the spans of one job are made of, beside its facts.
type tracePlan struct {
	context otlp.Parent                      // the trace, and the span outside that it goes on from: none when zero
	reasons map[string]ledger.Reason         // of the minions that are silent
	only    []string                         // minions that answered after all else was told; nil: everything is told
	about   func(service string) []otlp.Attr // the resource of "salt-master", "salt-minion-ID" or "salt"
}

// Names of spans. Those of Salt 3008 have its names.
const (
	spanCLI     = "salt.cli." // + function: the command line
	spanJob     = "salt.job." // + function: stands for it when it has told nothing
	spanAsk     = "salt.req.send.publish"
	spanRequest = "salt.req.recv.publish"
	spanWait    = "brine.request.wait"
	spanTarget  = "brine.job.target"
	spanPublish = "salt.pub.send"
	spanSave    = "brine.job.save"
	spanReceive = "salt.minion.recv." // + function
	spanQueue   = "brine.minion.queue"
	spanRun     = "salt.minion.exec." // + function
	spanDeliver = "salt.req.send._return"
	spanReturn  = "salt.req.recv._return"
	spanSilent  = "brine.minion.silent"
)

// traceIDOf is the trace of a job that nobody outside has begun: always the same for a job of a master.
func traceIDOf(master, jid string) (id otlp.TraceID) {
	sum := sha256.Sum256([]byte("brine trace\x00" + master + "\x00" + jid))
	copy(id[:], sum[:])
	return id
}

// spanIDOf is the span of a trace with a name, of a minion or of the job as a whole.
func spanIDOf(trace otlp.TraceID, name, minion string) (id otlp.SpanID) {
	sum := sha256.Sum256([]byte(string(trace[:]) + name + "\x00" + minion))
	copy(id[:], sum[:])
	return id
}

// spanBuilder makes the spans of one job.
type spanBuilder struct {
	plan tracePlan
	s    *ledger.Snapshot
	job  map[string]ledger.Stamp            // hop → when
	rows map[string]map[string]ledger.Stamp // minion → hop → when, by the master's clock
	last ledger.Stamp

	client, master otlp.Resource
	minions        []otlp.Resource
}

// spansOf tells the facts of a job as spans, by who did the work. It is a pure function.
func spansOf(s *ledger.Snapshot, plan tracePlan) []otlp.Resource {
	b := &spanBuilder{plan: plan, s: s, job: map[string]ledger.Stamp{}, rows: map[string]map[string]ledger.Stamp{}}
	for _, h := range ledger.Trace(s, nil) {
		b.last = max(b.last, h.At)
		if h.Minion == "" {
			b.job[h.Name] = h.At
			continue
		}
		if b.rows[h.Minion] == nil {
			b.rows[h.Minion] = map[string]ledger.Stamp{}
		}
		b.rows[h.Minion][h.Name] = h.At
	}
	b.client.Attrs, b.master.Attrs = plan.about("salt"), plan.about(serviceMaster)
	if plan.only == nil {
		b.whole()
		for _, id := range slices.Sorted(maps.Keys(plan.reasons)) {
			b.silent(id, plan.reasons[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(b.rows)) {
		if plan.only == nil || slices.Contains(plan.only, id) {
			b.minion(id)
		}
	}
	return slices.DeleteFunc(append([]otlp.Resource{b.client, b.master}, b.minions...), func(r otlp.Resource) bool {
		return len(r.Spans) == 0
	})
}

func (b *spanBuilder) id(name, minion string) otlp.SpanID {
	return spanIDOf(b.plan.context.Trace, name, minion)
}

// add appends a span whose times are known; nil when they are not.
func (b *spanBuilder) add(to *otlp.Resource, span otlp.Span, minion string, from, until ledger.Stamp) *otlp.Span {
	if from == 0 || until == 0 {
		return nil
	}
	span.Trace, span.ID = b.plan.context.Trace, b.id(span.Name, minion)
	span.Start, span.End = from.Time(), max(from, until).Time()
	to.Spans = append(to.Spans, span)
	return &to.Spans[len(to.Spans)-1]
}

// whole makes the spans of the job itself.
func (b *spanBuilder) whole() {
	j, at := &b.s.Job, b.job
	root := otlp.Span{Name: spanJob + j.Fun, Parent: b.plan.context.Span, Attrs: []otlp.Attr{
		{Key: "salt.jid", Value: j.JID}, {Key: "salt.fun", Value: j.Fun}, {Key: "salt.tgt", Value: j.Tgt},
		{Key: "salt.tgt_type", Value: j.TgtType}, {Key: "salt.user", Value: j.User},
		{Key: "brine.minions", Value: len(j.Minions)}, {Key: "brine.silent", Value: len(b.plan.reasons)},
	}}
	if n := len(b.plan.reasons); n > 0 {
		root.Failed, root.Message = true, "minions are silent"
	}
	if j.Failed != "" {
		root.Failed, root.Message = true, j.Failed
	}
	asked := b.id(root.Name, "")
	if j.Client == nil || at[ledger.HopCommand] == 0 {
		b.add(&b.master, root, "", firstOf(at[ledger.HopRequest], at[ledger.HopAnnounce]), b.last)
	} else {
		root.Name = spanCLI + j.Fun
		asked = b.id(root.Name, "")
		b.add(&b.client, root, "", at[ledger.HopCommand], b.last)
		if b.add(&b.client, otlp.Span{Name: spanAsk, Kind: otlp.Client, Parent: asked}, "", at[ledger.HopAsk],
			at[ledger.HopTold]) != nil {
			asked = b.id(spanAsk, "")
		}
	}
	handled := b.request(asked)
	send := b.add(&b.master, otlp.Span{Name: spanPublish, Kind: otlp.Producer, Parent: handled, Failed: j.Failed != "",
		Message: j.Failed, Attrs: []otlp.Attr{
			{Key: "salt.pub.jid", Value: j.JID}, {Key: "salt.pub.fun", Value: j.Fun}, {Key: "salt.pub.tgt_type",
				Value: j.TgtType},
		}}, "", at[ledger.HopAnnounce], firstOf(at[ledger.HopPublish], at[ledger.HopSeal], at[ledger.HopAnnounce]))
	if send != nil && at[ledger.HopSeal] != 0 {
		send.Events = []otlp.Event{{At: at[ledger.HopSeal].Time(), Name: "sealed"}}
	}
	b.add(&b.master, otlp.Span{Name: spanSave, Parent: handled}, "", at[ledger.HopAnnounce], at[ledger.HopSave])
}

// request makes the spans of the request that has published the job, and returns the span that the work belongs to.
func (b *spanBuilder) request(parent otlp.SpanID) otlp.SpanID {
	j, at := &b.s.Job, b.job
	if b.add(&b.master, otlp.Span{Name: spanRequest, Kind: otlp.Server, Parent: parent, Attrs: []otlp.Attr{
		{Key: "salt.req.cmd", Value: payload.CmdPublish}, {Key: "brine.pool", Value: j.Lane},
		{Key: "brine.worker", Value: j.Worker},
	}}, "", at[ledger.HopRequest], firstOf(at[ledger.HopReply], at[ledger.HopPublish], at[ledger.HopAnnounce])) == nil {
		return parent // the master has begun the job itself
	}
	handled := b.id(spanRequest, "")
	b.add(&b.master, otlp.Span{Name: spanWait, Parent: handled}, "", at[ledger.HopRequest], at[ledger.HopWorker])
	b.add(&b.master, otlp.Span{Name: spanTarget, Parent: handled}, "", at[ledger.HopWorker], at[ledger.HopTarget])
	return handled
}

// minion makes the spans of one minion, and of the master with its return.
func (b *spanBuilder) minion(id string) {
	at, row := b.rows[id], b.s.Row(id)
	who := otlp.Resource{Attrs: b.plan.about("salt-minion-" + id)}
	parent, fun := b.id(spanPublish, ""), b.s.Job.Fun
	about := []otlp.Attr{{Key: "salt.fun", Value: fun}, {Key: "salt.jid", Value: b.s.Job.JID}}
	received := b.add(&who, otlp.Span{Name: spanReceive + fun, Kind: otlp.Server, Parent: parent, Attrs: about}, id,
		at[ledger.HopReceive], firstOf(at[ledger.HopReturn], at[ledger.HopEnd], at[ledger.HopStart],
			at[ledger.HopReceive]))
	if received != nil {
		parent = received.ID
	}
	b.add(&who, otlp.Span{Name: spanQueue, Parent: parent}, id, at[ledger.HopQueue], at[ledger.HopStart])
	run := otlp.Span{Name: spanRun + fun, Parent: parent, Attrs: about}
	m := row.Minion
	if m != nil && m.Outcome != ledger.OutcomeNone {
		run.Attrs = append(slices.Clone(about), otlp.Attr{Key: "brine.outcome", Value: string(m.Outcome)})
		run.Failed, run.Message = m.Outcome != ledger.Done, m.Detail
	}
	b.add(&who, run, id, at[ledger.HopStart], at[ledger.HopEnd])
	if m != nil {
		if b.add(&who, otlp.Span{Name: spanDeliver, Kind: otlp.Client, Parent: parent, Attrs: []otlp.Attr{
			{Key: "brine.attempts", Value: m.Attempts}, {Key: "brine.bytes", Value: m.Size},
		}}, id, at[ledger.HopReturn], firstOf(at[ledger.HopStore], at[ledger.HopArrive])) != nil {
			parent = b.id(spanDeliver, id)
		}
	}
	b.minions = append(b.minions, who)
	b.returned(id, row, parent)
}

// returned makes the span of a return on the master.
func (b *spanBuilder) returned(id string, row *ledger.Row, parent otlp.SpanID) {
	at := b.rows[id]
	span := otlp.Span{Name: spanReturn, Kind: otlp.Server, Parent: parent, Attrs: []otlp.Attr{
		{Key: "salt.req.cmd", Value: payload.CmdReturn}, {Key: "salt.req.minion_id", Value: id},
		{Key: "brine.worker", Value: row.Worker}, {Key: "salt.retcode", Value: row.Retcode},
	}}
	if row.Lost != "" && row.Lost != ledger.NotKept {
		span.Failed, span.Message = true, row.Lost
	}
	for _, e := range []struct {
		at   ledger.Stamp
		name string
	}{{at[ledger.HopEvent], "event"}, {at[ledger.HopSeen], "seen by the command line"}} {
		if e.at != 0 {
			span.Events = append(span.Events, otlp.Event{At: e.at.Time(), Name: e.name})
		}
	}
	b.add(&b.master, span, id, at[ledger.HopArrive], firstOf(at[ledger.HopStore], at[ledger.HopEvent],
		at[ledger.HopArrive]))
}

// silent makes a span that says why a minion has not returned.
func (b *spanBuilder) silent(id string, why ledger.Reason) {
	b.add(&b.master, otlp.Span{Name: spanSilent, Parent: b.id(spanPublish, ""), Failed: true, Message: why.Text,
		Attrs: []otlp.Attr{
			{Key: "salt.req.minion_id", Value: id}, {Key: "brine.reason", Value: string(why.Code)},
		}}, id, firstOf(b.job[ledger.HopPublish], b.job[ledger.HopAnnounce]), b.last)
}

// firstOf is the first stamp that is known.
func firstOf(stamps ...ledger.Stamp) ledger.Stamp {
	for _, s := range stamps {
		if s != 0 {
			return s
		}
	}
	return 0
}
