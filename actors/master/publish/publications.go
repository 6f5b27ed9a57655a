// Package publish announces jobs and sends them to minions: Publications for the other parts, and the actor Publisher,
// which owns the publish port. It asks package jobs to store a job, and tells the event bus, the record, and the
// ReqServer. Answers to PubServerChannel in salt/channel/server.py.
package publish

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"brine/actors/master/eventbus"
	"brine/actors/master/jobs"
	"brine/actors/master/record"
	"brine/actors/master/targets"
	"brine/modules/fleet/door"
	"brine/modules/fleet/jobstore"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// Options are what the configuration says of publications.
type Options struct {
	MasterID any    // master_id; nil: none
	User     string // of the master, for what it asks itself
	Filter   bool   // zmq_filtering
}

// Publications announces jobs, stores them and sends them to the minions. Any number of goroutines may use it.
type Publications struct {
	opt       Options
	jobs      *jobs.Jobs
	copies    jobTaker
	events    *eventbus.Bus
	record    *record.Record
	Publisher *supervisor.Ref
	server    func() *supervisor.Ref // the ReqServer; nil, or none: nobody is told what becomes of publications
	mute      atomic.Bool            // files of jobs cannot be written, which was said
	log       *slog.Logger
}

// jobTaker takes the load of a new job to where jobs are kept beside the store. tools says that tools of Salt look for
// it as soon as they have their answer.
type jobTaker interface {
	Published(one jobstore.Load, tools bool)
}

// New announces jobs on the bus, keeps them in jobs and hands them to copies. server is the ReqServer; nil,
// or none: nobody is told what becomes of publications.
func New(opt Options, jobs *jobs.Jobs, copies jobTaker, events *eventbus.Bus,
	record *record.Record,
	server func() *supervisor.Ref, log *slog.Logger) *Publications {
	return &Publications{opt: opt, jobs: jobs, copies: copies, events: events, record: record,
		Publisher: supervisor.NewRef(), server: server, log: log}
}

// Child is the Publisher as a child of the master.
func (p *Publications) Child(opt PublisherOptions) supervisor.Spec {
	opt.server, opt.record = p.server, p.record
	return supervisor.Spec{Name: "Publisher", Component: true, Ref: p.Publisher, OnLost: p.lost,
		New: func() supervisor.Actor {
			return &publisher{opt: opt}
		}}
}

// Begin announces a job, sends it to the minions and stores its load.
//
// The events come first, in Salt's order. The load is on its way to the JobStore before the publication is on its way
// to the minions, so that no return overtakes it. The files in which Salt's own salt command looks are written while
// the minions are at work already, and are there when that command has its answer. A tool that says that it looks in no
// files gets none: three new inodes cost as much as all else that the master does with a job, its signature excepted.
//
// When the master dies before the answer, nobody was told of the job: minions may run it, as with Salt, and the store
// makes the job out of their first return. When it dies after the answer and before the load is in the store, the files
// or the note are there: the job is known by them, and the first return takes it from them. A power failure may take
// the last moments of both.
//
// In Salt's own layout (local_cache) the files are the store: there they are written before the publication.
func (p *Publications) Begin(ask payload.PublishRequest, extra payload.PublishExtras, pub payload.Job,
	who targets.Found,
	from record.Origin) {
	traced := p.record.Trace.Begin(ask.Map(), pub.Map(), len(who.Minions))
	p.record.Announced(ask, pub, who, from)
	p.record.Trace.Announced(traced)
	p.announce(ask, who)
	one := jobstore.Load{JID: ask.JID(), Load: ask.WithoutSecrets(), Minions: who.Minions, NoCache: extra.NoCache()}
	if p.jobs.Files {
		p.copies.Published(one, false)
		p.writeFiles(one)
		p.send(pub, who)
		return
	}
	noted := from.NoFiles && p.note(one)
	p.copies.Published(one, !from.NoFiles)
	p.jobs.Send(&jobs.SaveLoad{JID: one.JID, Load: one.Load, Minions: one.Minions, NoCache: one.NoCache,
		Announced: true})
	p.send(pub, who)
	if !noted {
		p.writeFiles(one)
	}
}

// BeginOwn begins a job that the master publishes itself.
func (p *Publications) BeginOwn(load *payload.Map, who targets.Found) {
	ask := payload.NewPublishRequest(load)
	extra := ask.Extras()
	p.Begin(ask, extra, p.Publication(ask, extra), who, record.Origin{})
}

// note keeps a load of which no files are wanted until it is stored. Where it cannot, files do.
func (p *Publications) note(one jobstore.Load) bool {
	err := p.jobs.Store.Note(one)
	if err != nil {
		p.log.Debug("a job cannot be noted, its files are written", "jid", one.JID, "err", err)
	}
	return err == nil
}

// announce fires the events of a new job.
func (p *Publications) announce(ask payload.PublishRequest, who targets.Found) {
	jid := ask.JID()
	p.events.Fire(jid, event.NewShortJob(who.Minions)) // tools older than 3008 wait for it
	p.events.Fire(event.TagJobNew(jid), event.NewJob(ask, who.Minions, who.Missing))
}

// writeFiles writes the files of a job. Those that cannot be written now are left to the JobStore.
func (p *Publications) writeFiles(one jobstore.Load) {
	if err := p.jobs.Store.Announce(one); err != nil {
		p.FilesFailed(one.JID, err)
		p.jobs.Send(&jobs.SaveLoad{JID: one.JID, Load: one.Load, Minions: one.Minions, NoCache: one.NoCache})
	} else if p.mute.Swap(false) {
		p.log.Warn("the files of jobs can be written again")
	}
}

// FilesFailed says that the files of jobs for Salt's own tools cannot be written: once, until they can. Jobs and
// returns are stored all the same.
func (p *Publications) FilesFailed(jid string, err error) {
	if !p.mute.Swap(true) {
		p.log.Error("the files of jobs for Salt's own tools cannot be written", "jid", jid, "err", err)
	}
}

// Publication is what the minions get.
func (p *Publications) Publication(ask payload.PublishRequest, extra payload.PublishExtras) payload.Job {
	return payload.NewPublication(ask, extra, p.opt.MasterID)
}

// send announces a publication and hands it to the Publisher.
func (p *Publications) send(pub payload.Job, who targets.Found) {
	jid := pub.JID()
	p.events.Fire(event.TagJobPublish(jid), pub.Map())
	door.Known(p.log).Info(fmt.Sprintf("User %s Published command %v with jid %s", pub.User(), python.Str(pub.Fun()),
		jid))
	p.Publisher.Send(&PublishJob{Job: pub, Topics: p.topicIDs(pub.TgtType(), who)})
}

// topicIDs are the ids a filtering master addresses; nil addresses everybody.
func (p *Publications) topicIDs(tgtType string, who targets.Found) []string {
	if !p.opt.Filter {
		return nil
	}
	switch strings.ToLower(tgtType) {
	case "glob", "pcre":
		return who.Minions
	case "list":
		return append(append([]string{}, who.Minions...), who.Missing...)
	}
	return nil
}

// AskMinions sends a question of the master's own: its answers are no returns of a job.
func (p *Publications) AskMinions(jid, fun string, args []any, ids []string) {
	pub := payload.M("fun", fun, "arg", args, "tgt", payload.AnyList(ids), "jid", jid, "ret", "", "tgt_type", "list",
		"user", p.opt.User)
	p.Publisher.Send(&PublishJob{Job: *payload.NewJob(pub), Topics: p.topicIDs("list", targets.Found{Minions: ids})})
}

// lost sends a publication once more that a Publisher has died of: minions leave a jid alone that they have
// seen. What is lost for good is known to the ledger, and said.
func (p *Publications) lost(msg any, why error) {
	m, ok := msg.(*PublishJob)
	if !ok {
		return
	}
	if died := errors.Is(why, supervisor.ErrCrashed) || errors.Is(why, supervisor.ErrAbandoned); died && !m.again {
		p.Publisher.Send(m.repeated())
		return
	}
	jid := m.Job.JID()
	p.log.Error("publication is lost", "jid", jid, "err", why)
	tellOutcome(p.server, &PublishRefused{JID: jid, Why: why, record: p.record})
}
