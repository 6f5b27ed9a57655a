// Package workers answers requests. An MWorker, an actor, opens a request and looks for its command in two tables; a
// command in neither does not exist. Handlers own whose turn it is among requests that take long, and how many
// publications a minion waits for. They ask all parts below them, and the ReqServer asks none of them by name. Answers
// to MWorker, ClearFuncs and AESFuncs in salt/master.py.
package workers

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

// Handlers are where requests are answered: each has what its commands need, and no more.
type Handlers struct {
	console *console
	returns *returnHandler
	events  *eventHandler
	data    *dataHandler
	files   *fileHandler
	peers   *peerHandler
}

// Parts are the parts of the master by which requests are answered.
type Parts struct {
	Answers      *answers.Service
	Auth         *auth.Master
	Cache        *datacache.Banks
	Complaints   *complaints.Log
	Events       *eventbus.Bus
	Files        *files.Files
	Functions    *run.Functions
	Admission    *access.Admission
	Jobs         *jobs.Jobs
	Keys         *keys.Store
	Meant        *speakers.Jobs
	Meter        *meter.Meter
	Mines        *mine.Reader
	Pillars      *pillars.Pillars
	Kept         pillars.Cache
	Publications *publish.Publications
	Pushed       *pushed.Store
	Record       *record.Record
	SignIns      *signin.Side
	Targets      *targets.Targets
	Tops         *tops.Tops
}

// Options are what the configuration says of requests, by who sends them or what they are about.
type Options struct {
	Console    ConsoleOptions
	Returns    ReturnOptions
	Data       DataOptions
	Peers      PeerOptions
	MostEvents int // minion_events_max: of one request
}

// New shares the parts out.
func New(opt Options, p Parts, log *slog.Logger) *Handlers {
	line := &turns{door.NewTurns(), p.Complaints}
	return &Handlers{
		console: &console{ConsoleOptions: opt.Console, jobs: p.Jobs, targets: p.Targets, record: p.Record,
			publications: p.Publications, functions: p.Functions, events: p.Events, complaints: p.Complaints, log: log},
		returns: &returnHandler{opt: opt.Returns, auth: p.Auth, admission: p.Admission, answers: p.Answers,
			jobs: p.Jobs, events: p.Events, record: p.Record, meter: p.Meter, meant: p.Meant, log: log},
		events: &eventHandler{admission: p.Admission, jobs: p.Jobs, events: p.Events, most: opt.MostEvents, log: log},
		data: &dataHandler{opt: opt.Data, auth: p.Auth, keys: p.Keys, cache: p.Cache, admission: p.Admission,
			events: p.Events, mines: p.Mines, pillars: p.Pillars, pushed: p.Pushed, kept: p.Kept, tops: p.Tops,
			turns: line, signIns: p.SignIns, log: log},
		files: &fileHandler{p.Files, line},
		peers: &peerHandler{opt: opt.Peers, admission: p.Admission, targets: p.Targets, jobs: p.Jobs,
			publications: p.Publications, functions: p.Functions, events: p.Events, turns: line,
			atOnce: quota.AtOnce{Most: maxAtOnce}, log: log},
	}
}

// TurnOf waits for the turn of a minion, in which it has one thing done that takes long; done ends it.
func (d *Handlers) TurnOf(ctx context.Context, id string) (done func(), err error) {
	return d.data.turns.Take(ctx, id)
}

// MayWait is how many more publications and runners a minion may wait for.
func (d *Handlers) MayWait(id string) (n int) {
	for d.peers.atOnce.Enter(id) {
		n++
	}
	for range n {
		d.peers.atOnce.Leave(id)
	}
	return n
}
