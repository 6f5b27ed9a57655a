package control

import "brine/wire/payload"

// Question is a request to a daemon. A is the type of the answer.
type Question[A any] interface {
	// Command is the name of the question on the wire.
	Command() string
	answer() A
}

// asks, embedded in a question, sets the type of the answer.
type asks[A any] struct{}

func (asks[A]) answer() (a A) { return a }

// Questions to any daemon: its actors and its process. Only root and the daemon's user may ask private questions or
// request changes.
type (
	// GetTree asks for an actor with all actors below it, or for all actors: a map as stats.Child makes it.
	GetTree struct {
		asks[*payload.Map]
		Name string `control:"name"`
	}
	// GetHistory asks for the latest deaths, oldest first: maps as stats.Death makes them.
	GetHistory struct{ asks[[]any] }
	// GetProcess asks for the daemon as a process.
	GetProcess struct{ asks[Process] }
	// GetStack asks for the stacks of an actor's goroutines, or of all goroutines. Private.
	GetStack struct {
		asks[Stack]
		Name string `control:"name"`
	}
	// GetBundle asks for all of this and more, observed over some seconds: names of files and their contents. Private.
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
	// CrashActor harms an actor if the configuration allows it. A change.
	CrashActor struct {
		asks[Acted]
		Name string `control:"name"`
		How  string `control:"how"` // panic, exit or hang
	}
)

// Questions to a master about a job and its minions.
type (
	// GetTrace asks for the hops of a job, or only those of one minion.
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
	// GetGone asks which of the given minions certainly did not get a job.
	GetGone struct {
		asks[[]string]
		JID string   `control:"jid"`
		IDs []string `control:"ids"`
	}
	// GetStanding asks for the state of a job on the given minions.
	GetStanding struct {
		asks[Standing]
		JID string   `control:"jid"`
		IDs []string `control:"ids"`
	}
	// NoteClient reports what a command line saw of its job: facts as ledger.Client makes them. Private.
	NoteClient struct {
		asks[Done]
		JID   string       `control:"jid"`
		Facts *payload.Map `control:"facts"`
	}
	// GetRoster asks for the minions that have a key, or for those that match a glob: a map with a list of minions.
	GetRoster struct {
		asks[*payload.Map]
		Glob string `control:"glob"`
	}
	// GetPresent asks which minions are connected: a map of ids to their addresses.
	GetPresent struct{ asks[*payload.Map] }
)

// Questions to a master about its job store, which only its own process can open. Private; KeepJob is a change. The
// maps are Salt's.
type (
	// GetJobLoad asks for the load of a job; nil if the job is unknown.
	GetJobLoad struct {
		asks[*payload.Map]
		JID string `control:"jid"`
	}
	// GetJobReturns asks for the returns of a job, by minion; with ID only for that minion's return. A master that does
	// not know ID sends all.
	GetJobReturns struct {
		asks[*payload.Map]
		JID string `control:"jid"`
		ID  string `control:"id"`
	}
	// GetJobLoads asks for the loads of all jobs, by jid.
	GetJobLoads struct{ asks[*payload.Map] }
	// GetNewestJobs asks for the newest jobs, finished or not, in the form of GetJobList.
	GetNewestJobs struct {
		asks[*payload.Map]
		Count int64    `control:"count"` // the largest number of jobs
		User  string   `control:"user"`  // only jobs of this user; "": of all users
		Skip  []string `control:"skip"`  // functions whose jobs are left out
	}
	// GetJobEnd asks when a job ended, in Salt's form; empty if unknown.
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

// ForgetFileLists asks a master to drop its cached lists of files, for the given environments and backends, or for all
// of them. It is a change. The answer is a map of backends to environments.
type ForgetFileLists struct {
	asks[*payload.Map]
	Envs     []string `control:"envs"`
	Backends []string `control:"backends"`
}

// Questions to a master or a minion about its current work.
type (
	// GetJobList asks for jobs; a minion also lists its queue and the returns that it is sending. Minutes is how far a
	// master looks back.
	GetJobList struct {
		asks[*payload.Map]
		Minutes int64 `control:"minutes"`
	}
	// GetJobFacts asks a minion about a job.
	GetJobFacts struct {
		asks[*payload.Map]
		JID string `control:"jid"`
	}
)

// Questions to a master about its Reactor. Private; ManageReactor is a change.
type (
	// GetReactor asks for the rules, and for what happened to events.
	GetReactor struct{ asks[Reactor] }
	// TryReactor asks what an event would trigger. Nothing is run.
	TryReactor struct {
		asks[ReactorTrial]
		Tag  string       `control:"tag"`
		Data *payload.Map `control:"data"`
	}
	// ManageReactor does the work of the runner functions reactor.*: list, add, delete, is_leader or set_leader.
	ManageReactor struct {
		asks[ReactorManaged]
		Do    string `control:"do"`
		Event string `control:"event"` // for add and delete: the tag
		Files []any  `control:"files"` // for add
		Value bool   `control:"value"` // for set_leader
	}
)

// Batches is the command that a master lists in its help if it runs batches.
const Batches = "batches"

// Command is the name of a question on the wire.
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
