package master

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"brine/modules/fleet/door"
	"brine/modules/fleet/jobstore"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// publicationOptions are what the configuration says of publications.
type publicationOptions struct {
	masterID any    // master_id; nil: none
	user     string // of the master, for what it asks itself
	filter   bool   // zmq_filtering
}

// publications announces jobs, stores them and sends them to the minions. Any number of goroutines may use it.
type publications struct {
	opt       publicationOptions
	jobs      *jobs
	events    *events
	record    *record
	publisher *supervisor.Ref        // set when that has started
	server    func() *supervisor.Ref // the ReqServer; nil, or none: nobody is told what becomes of publications
	mute      atomic.Bool            // files of jobs cannot be written, which was said
	log       *slog.Logger
}

func newPublications(opt publicationOptions, jobs *jobs, events *events, record *record,
	log *slog.Logger) *publications {
	return &publications{opt: opt, jobs: jobs, events: events, record: record, log: log}
}

// begin announces a job, sends it to the minions and stores its load.
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
func (p *publications) begin(ask payload.PublishRequest, extra payload.PublishExtras, pub payload.Job, who found,
	from origin) {
	traced := p.record.trace.Begin(ask.Map(), pub.Map(), len(who.Minions))
	p.record.announced(ask, pub, who, from)
	p.record.trace.Announced(traced)
	p.announce(ask, who)
	one := jobstore.Load{JID: ask.JID(), Load: ask.WithoutSecrets(), Minions: who.Minions, NoCache: extra.NoCache()}
	if p.jobs.files {
		p.jobs.copies.published(one, false)
		p.writeFiles(one)
		p.send(pub, who)
		return
	}
	noted := from.noFiles && p.note(one)
	p.jobs.copies.published(one, !from.noFiles)
	p.jobs.writer.Send(&SaveLoad{JID: one.JID, Load: one.Load, Minions: one.Minions, NoCache: one.NoCache,
		Announced: true})
	p.send(pub, who)
	if !noted {
		p.writeFiles(one)
	}
}

// note keeps a load of which no files are wanted until it is stored. Where it cannot, files do.
func (p *publications) note(one jobstore.Load) bool {
	err := p.jobs.store.Note(one)
	if err != nil {
		p.log.Debug("a job cannot be noted, its files are written", "jid", one.JID, "err", err)
	}
	return err == nil
}

// announce fires the events of a new job.
func (p *publications) announce(ask payload.PublishRequest, who found) {
	jid := ask.JID()
	p.events.fire(jid, event.NewShortJob(who.Minions)) // tools older than 3008 wait for it
	p.events.fire(event.TagJobNew(jid), event.NewJob(ask, who.Minions, who.Missing))
}

// writeFiles writes the files of a job. Those that cannot be written now are left to the JobStore.
func (p *publications) writeFiles(one jobstore.Load) {
	if err := p.jobs.store.Announce(one); err != nil {
		p.filesFailed(one.JID, err)
		p.jobs.writer.Send(&SaveLoad{JID: one.JID, Load: one.Load, Minions: one.Minions, NoCache: one.NoCache})
	} else if p.mute.Swap(false) {
		p.log.Warn("the files of jobs can be written again")
	}
}

// filesFailed says that the files of jobs for Salt's own tools cannot be written: once, until they can. Jobs and
// returns are stored all the same.
func (p *publications) filesFailed(jid string, err error) {
	if !p.mute.Swap(true) {
		p.log.Error("the files of jobs for Salt's own tools cannot be written", "jid", jid, "err", err)
	}
}

// publication is what the minions get.
func (p *publications) publication(ask payload.PublishRequest, extra payload.PublishExtras) payload.Job {
	return payload.NewPublication(ask, extra, p.opt.masterID)
}

// send announces a publication and hands it to the Publisher.
func (p *publications) send(pub payload.Job, who found) {
	jid := pub.JID()
	p.events.fire(event.TagJobPublish(jid), pub.Map())
	door.Known(p.log).Info(fmt.Sprintf("User %s Published command %v with jid %s", pub.User(), python.Str(pub.Fun()),
		jid))
	p.publisher.Send(&PublishJob{Job: pub, Topics: p.topicIDs(pub.TgtType(), who)})
}

// topicIDs are the ids a filtering master addresses; nil addresses everybody.
func (p *publications) topicIDs(tgtType string, who found) []string {
	if !p.opt.filter {
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

// askMinions sends a question of the master's own: its answers are no returns of a job.
func (p *publications) askMinions(jid, fun string, args []any, ids []string) {
	pub := payload.M("fun", fun, "arg", args, "tgt", payload.AnyList(ids), "jid", jid, "ret", "", "tgt_type", "list",
		"user", p.opt.user)
	p.publisher.Send(&PublishJob{Job: *payload.NewJob(pub), Topics: p.topicIDs("list", found{Minions: ids})})
}

// lost sends a publication once more that a Publisher has died of: minions leave a jid alone that they have
// seen. What is lost for good is known to the ledger, and said.
func (p *publications) lost(msg any, why error) {
	m, ok := msg.(*PublishJob)
	if !ok {
		return
	}
	if died := errors.Is(why, supervisor.ErrCrashed) || errors.Is(why, supervisor.ErrAbandoned); died && !m.again {
		p.publisher.Send(m.repeated())
		return
	}
	jid := m.Job.JID()
	p.log.Error("publication is lost", "jid", jid, "err", why)
	tellOutcome(p.server, &PublishRefused{JID: jid, Why: why, record: p.record})
}
