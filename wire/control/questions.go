package control

import "brine/wire/payload"

// Question is what can be asked of a daemon. A is the type of the answer.
type Question[A any] interface {
	// Command is the name of the question on the wire.
	Command() string
	answer() A
}

// asks, embedded, says of which type the answer is.
type asks[A any] struct{}

func (asks[A]) answer() (a A) { return a }

// Of every daemon: its actors and its process. Only root and the daemon's user get what is private, or changes
// something.
type (
	// GetTree asks for an actor with all below it, or for all: a map as stats.Child makes it.
	GetTree struct {
		asks[*payload.Map]
		Name string `control:"name"`
	}
	// GetHistory asks for the last deaths, oldest first: maps as stats.Death makes them.
	GetHistory struct{ asks[[]any] }
	// GetProcess asks for the daemon as a process.
	GetProcess struct{ asks[Process] }
	// GetStack asks what the goroutines of an actor do, or all of them. Private.
	GetStack struct {
		asks[Stack]
		Name string `control:"name"`
	}
	// GetBundle asks for all of this and more, after looks over some seconds: names of files to what they hold.
	// Private.
	GetBundle struct {
		asks[*payload.Map]
		Seconds int64 `control:"seconds"`
	}
	// GetHelp asks for the names of all commands: {changes, private} for each.
	GetHelp struct{ asks[*payload.Map] }
	// RestartActor ends an actor and starts it again. A change.
	RestartActor struct {
		asks[Acted]
		Name string `control:"name"`
	}
	// CrashActor harms an actor where the configuration allows it. A change.
	CrashActor struct {
		asks[Acted]
		Name string `control:"name"`
		How  string `control:"how"` // panic, exit or hang
	}
)

// Of a master, what it knows of a job and its minions.
type (
	// GetTrace asks for the hops of a job, of one minion when one is named.
	GetTrace struct {
		asks[Trace]
		JID    string `control:"jid"`
		Minion string `control:"minion"`
	}
	// GetWhy asks why minions have not returned a job: all of its minions, or some.
	GetWhy struct {
		asks[Reasons]
		JID string   `control:"jid"`
		IDs []string `control:"ids"`
	}
	// GetGone asks which of some minions certainly did not get a job.
	GetGone struct {
		asks[[]string]
		JID string   `control:"jid"`
		IDs []string `control:"ids"`
	}
	// GetStanding asks how some minions stand with a job.
	GetStanding struct {
		asks[Standing]
		JID string   `control:"jid"`
		IDs []string `control:"ids"`
	}
	// NoteClient tells what a command line saw of its job: facts as ledger.Client makes them. Private.
	NoteClient struct {
		asks[Done]
		JID   string       `control:"jid"`
		Facts *payload.Map `control:"facts"`
	}
	// GetRoster asks for the minions that have a key, or for those that a glob means: a map with a list of minions.
	GetRoster struct {
		asks[*payload.Map]
		Glob string `control:"glob"`
	}
	// GetPresent asks which minions are connected: a map of ids to the addresses that they are connected from.
	GetPresent struct{ asks[*payload.Map] }
)

// Of a master, its job store: what only its own process can open. Private; KeepJob is a change. The maps are Salt's.
type (
	// GetJobLoad asks for the load of a job; no map when it is not known.
	GetJobLoad struct {
		asks[*payload.Map]
		JID string `control:"jid"`
	}
	// GetJobReturns asks for its returns, by minion; with ID for that of one minion. A master that does not know ID
	// sends all.
	GetJobReturns struct {
		asks[*payload.Map]
		JID string `control:"jid"`
		ID  string `control:"id"`
	}
	// GetJobLoads asks for the loads of all jobs, by jid.
	GetJobLoads struct{ asks[*payload.Map] }
	// GetNewestJobs asks for the newest jobs, done or not, in the form of GetJobList.
	GetNewestJobs struct {
		asks[*payload.Map]
		Count int64    `control:"count"` // at most
		User  string   `control:"user"`  // only his; those of everybody without
		Skip  []string `control:"skip"`  // functions whose jobs are left out
	}
	// GetJobEnd asks when a job ended, in Salt's form; empty when that is not known.
	GetJobEnd struct {
		asks[string]
		JID string `control:"jid"`
	}
	// KeepJob stores a job of one minion with its return.
	KeepJob struct {
		asks[Done]
		JID  string       `control:"jid"`
		ID   string       `control:"id"`
		Load *payload.Map `control:"load"`
	}
)

// ForgetFileLists asks a master to drop the lists of files that it remembers, of some environments and backends, all
// without any. It is a change; the answer is a map of backends to environments.
type ForgetFileLists struct {
	asks[*payload.Map]
	Envs     []string `control:"envs"`
	Backends []string `control:"backends"`
}

// Of a master or a minion, what it has in hand.
type (
	// GetJobList asks for jobs, and on a minion for the queue and the returns on their way. Minutes is how far a master
	// looks back.
	GetJobList struct {
		asks[*payload.Map]
		Minutes int64 `control:"minutes"`
	}
	// GetJobFacts asks a minion what became of a job.
	GetJobFacts struct {
		asks[*payload.Map]
		JID string `control:"jid"`
	}
)

// Of a master, its Reactor. Private; ManageReactor is a change.
type (
	// GetReactor asks for the rules, and what became of events.
	GetReactor struct{ asks[Reactor] }
	// TryReactor asks what an event would set off. Nothing is run.
	TryReactor struct {
		asks[ReactorTrial]
		Tag  string       `control:"tag"`
		Data *payload.Map `control:"data"`
	}
	// ManageReactor does what the runner functions reactor.* do: list, add, delete, is_leader or set_leader.
	ManageReactor struct {
		asks[ReactorManaged]
		Do    string `control:"do"`
		Event string `control:"event"` // of add and delete: the tag
		Files []any  `control:"files"` // of add
		Value bool   `control:"value"` // of set_leader
	}
)

// Batches is the command that the help of a master names when it drives batches.
const Batches = "batches"

// Command is the name on the wire, here and below.
func (GetTree) Command() string         { return "tree" }
func (GetHistory) Command() string      { return "history" }
func (GetProcess) Command() string      { return "process" }
func (GetStack) Command() string        { return "stack" }
func (GetBundle) Command() string       { return "bundle" }
func (GetHelp) Command() string         { return "help" }
func (RestartActor) Command() string    { return "restart" }
func (CrashActor) Command() string      { return "crash" }
func (GetTrace) Command() string        { return "trace" }
func (GetWhy) Command() string          { return "why" }
func (GetGone) Command() string         { return "jobs.gone" }
func (GetStanding) Command() string     { return "jobs.standing" }
func (NoteClient) Command() string      { return "jobs.client" }
func (GetRoster) Command() string       { return "minions" }
func (GetPresent) Command() string      { return "minions.present" }
func (GetJobLoad) Command() string      { return "jobs.load" }
func (GetJobReturns) Command() string   { return "jobs.returns" }
func (GetJobLoads) Command() string     { return "jobs.loads" }
func (GetNewestJobs) Command() string   { return "jobs.newest" }
func (GetJobEnd) Command() string       { return "jobs.end_time" }
func (KeepJob) Command() string         { return "jobs.store" }
func (ForgetFileLists) Command() string { return "files.forget" }
func (GetJobList) Command() string      { return "jobs" }
func (GetJobFacts) Command() string     { return "job" }
func (GetReactor) Command() string      { return "reactor" }
func (TryReactor) Command() string      { return "reactor.try" }
func (ManageReactor) Command() string   { return "reactor.manage" }
