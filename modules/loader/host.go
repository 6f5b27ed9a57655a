package loader

import (
	"context"
	"errors"
	"log/slog"

	"brine/wire/payload"
)

// Host is what the process around the functions offers them. A nil member is not offered: the functions that
// need it answer as Salt does without a minion or without a master.
type Host struct {
	Master  MasterChannel
	Events  EventFirer
	Jobs    Jobs
	Runner  RunnerClient
	Wheel   WheelClient
	Local   LocalClient
	Minion  MinionControl
	Log     Logger
	Secrets PillarSource
	Daemon  Daemon
	// Transfers is shared by the functions of this process that fetch files.
	Transfers Transfers
}

// ErrRequestTimeout is what a MasterChannel wraps when the master does not answer in time.
var ErrRequestTimeout = errors.New("modules: the master did not answer")

// MasterChannel asks the master. The implementation adds nothing the caller can set but the minion's token and
// the seal; an error is a transport error or a refusal.
type MasterChannel interface {
	Request(ctx context.Context, load *payload.Map) (any, error)
}

// PieceChannel is a MasterChannel that is asked for large answers, which are soon forgotten, too: what is long in one
// is a []byte that stands in room, as far as it fits, and in memory of its own else. Who opens it may do other work
// along with it.
type PieceChannel interface {
	RequestIn(ctx context.Context, load *payload.Map, room []byte, beside payload.Beside) (any, error)
}

// MasterByHost is a MasterChannel that knows several masters (publish.publish via_master=HOST).
type MasterByHost interface {
	MasterByHost(host string) (MasterChannel, bool)
}

// EventFirer puts events on the two buses. false means the bus could not be reached.
type EventFirer interface {
	// FireMaster sends an event to the master; preload, when not nil, is merged into the load of the request.
	FireMaster(ctx context.Context, tag string, data any, preload *payload.Map) bool
	// FireLocal fires on the minion's own bus.
	FireLocal(ctx context.Context, tag string, data any) bool
	// AwaitLocal fires tag and waits for an event whose tag begins with answer; false when ctx ends first.
	AwaitLocal(ctx context.Context, tag string, data any, answer string) (*payload.Map, bool)
}

// Jobs are the jobs this minion runs at the moment.
type Jobs interface {
	// Running lists the job maps (publish load with pid), in order of start.
	Running() []*payload.Map
	// Signal sends sig to a running job; false when the jid is not running here. text is Salt's sentence.
	Signal(jid string, sig int) (text string, ok bool)
}

// MasterRun is a run of a runner or wheel function that a function on the master's host asks for (saltutil.runner,
// saltutil.wheel).
type MasterRun struct {
	Fun     string
	Args    []any
	KW      *payload.Map
	Saltenv any          // for a function that takes one
	Pub     *payload.Map // what a function that takes any keyword gets as __pub_NAME; "user" asks
}

// RunnerClient runs a runner function on the master: its return, or with full the record of the run.
type RunnerClient interface {
	Run(ctx context.Context, run MasterRun, full bool) (any, error)
}

// WheelClient runs a wheel function on the master and gives the record of the run.
type WheelClient interface {
	Wheel(ctx context.Context, run MasterRun) (any, error)
}

// LocalCmd is one publication asked for by a function on the master's host (saltutil.cmd).
type LocalCmd struct {
	Tgt     any
	Fun     any
	Args    []any
	KW      *payload.Map // further keywords of the client, kwarg included
	TgtType string
	Ret     string
	Timeout *int64 // seconds; nil: the client's default
}

// LocalClient publishes jobs from the master's host: id → full return of one minion.
type LocalClient interface {
	Cmd(ctx context.Context, cmd LocalCmd) (*payload.Map, error)
}

// MinionControl acts on the minion process.
type MinionControl interface {
	// Reload drops what the process caches of its modules (sys.reload_modules).
	Reload() error
}

// PillarSource compiles a fresh pillar.
type PillarSource interface {
	Compile(ctx context.Context, q PillarQuery) (*payload.Map, error)
}

// PillarQuery is which pillar is wanted. "" is no environment.
type PillarQuery struct {
	Saltenv, Pillarenv string
	Override           *payload.Map // nil: none
	Ext                any          // one more external pillar, {name: arguments}; nil: none

	// Onto has a minion that compiles its pillar itself start from the one that it has. Whoever provides that one must
	// not set it.
	Onto bool
}

// Daemon is the daemon around the functions, as an operator looks at it.
type Daemon interface {
	// Actors is the actor at a path with what is below it, with the JSON names of stats.Child; "" is the daemon itself.
	Actors(ctx context.Context, path string) (*payload.Map, error)
	// JobFacts is what the daemon knows of a job, in the names of modules/fleet/ledger.
	JobFacts(ctx context.Context, jid string) (*payload.Map, error)
	// JobList is what the daemon has in hand: running, queued, and returns that a master has not acknowledged.
	JobList(ctx context.Context) (*payload.Map, error)
}

// Transfers lets one fetch a file for all who want it at the same time.
type Transfers interface {
	// Once calls fetch, unless a call with the same key is under way: then it waits for that one. The error is that of
	// fetch, or the cause of ctx. fetch goes on as long as anybody waits for it.
	Once(ctx context.Context, key string, fetch func(ctx context.Context) error) error
}

// Logger takes the lines a function writes to Salt's log; salt-call shows those from its level on.
type Logger interface {
	Log(level slog.Level, text string)
	// LogAs writes a line under the name of one of Salt's loggers.
	LogAs(name string, level slog.Level, text string)
}
