package master

import (
	"context"
	"log/slog"

	"brine/actors/master/access"
	"brine/actors/master/answers"
	"brine/actors/master/complaints"
	"brine/actors/master/eventbus"
	"brine/actors/master/files"
	"brine/actors/master/jobs"
	"brine/actors/master/meter"
	"brine/actors/master/pillars"
	"brine/actors/master/publish"
	"brine/actors/master/record"
	"brine/actors/master/run"
	"brine/actors/master/signin"
	"brine/actors/master/targets"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/door"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/mine"
	"brine/modules/fleet/pushed"
	"brine/modules/fleet/quota"
	"brine/modules/fleet/speakers"
	"brine/modules/tops"
	"brine/wire/auth"
)

// desks are where requests are answered: each has what its commands need, and no more.
type desks struct {
	console *console
	returns *returnDesk
	events  *eventDesk
	data    *dataDesk
	files   *fileDesk
	peers   *peerDesk
}

// deskParts are the parts of the master by which requests are answered.
type deskParts struct {
	answers      *answers.Desk
	auth         *auth.Master
	cache        *datacache.Banks
	complaints   *complaints.Log
	events       *eventbus.Bus
	files        *files.Files
	functions    *run.Functions
	gate         *access.Gate
	jobs         *jobs.Jobs
	keys         *keys.Store
	meant        *speakers.Jobs
	meter        *meter.Meter
	mines        *mine.Reader
	pillars      *pillars.Pillars
	kept         pillars.Cache
	publications *publish.Publications
	pushed       *pushed.Store
	record       *record.Record
	signIns      *signin.Side
	targets      *targets.Targets
	tops         *tops.Tops
}

// deskOptions are what the configuration says of requests, by who sends them or what they are about.
type deskOptions struct {
	console    consoleOptions
	returns    returnOptions
	data       dataOptions
	peers      peerOptions
	mostEvents int // minion_events_max: of one request
}

// newDesks shares the parts out.
func newDesks(opt deskOptions, p deskParts, log *slog.Logger) *desks {
	line := &turns{door.NewTurns(), p.complaints}
	return &desks{
		console: &console{consoleOptions: opt.console, jobs: p.jobs, targets: p.targets, record: p.record,
			publications: p.publications, functions: p.functions, events: p.events, complaints: p.complaints, log: log},
		returns: &returnDesk{opt: opt.returns, auth: p.auth, gate: p.gate, answers: p.answers, jobs: p.jobs,
			events: p.events, record: p.record, meter: p.meter, meant: p.meant, log: log},
		events: &eventDesk{gate: p.gate, jobs: p.jobs, events: p.events, most: opt.mostEvents, log: log},
		data: &dataDesk{opt: opt.data, auth: p.auth, keys: p.keys, cache: p.cache, gate: p.gate, events: p.events,
			mines: p.mines, pillars: p.pillars, pushed: p.pushed, kept: p.kept, tops: p.tops, turns: line,
			signIns: p.signIns, log: log},
		files: &fileDesk{p.files, line},
		peers: &peerDesk{opt: opt.peers, gate: p.gate, targets: p.targets, jobs: p.jobs, publications: p.publications,
			functions: p.functions, events: p.events, turns: line, atOnce: quota.AtOnce{Most: maxAtOnce}, log: log},
	}
}

// turnOf waits for the turn of a minion, in which it has one thing done that takes long; done ends it.
func (d *desks) turnOf(ctx context.Context, id string) (done func(), err error) {
	return d.data.turns.Take(ctx, id)
}

// mayWait is how many more publications and runners a minion may wait for.
func (d *desks) mayWait(id string) (n int) {
	for d.peers.atOnce.Enter(id) {
		n++
	}
	for range n {
		d.peers.atOnce.Leave(id)
	}
	return n
}
