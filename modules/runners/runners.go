// Package runners is what the functions that salt-run calls on the master stand on; a module of them is a folder below.
// It also runs one function the way Salt's runner and wheel clients do (Run). It has no sockets and no files: what the
// functions need of the master comes in by small interfaces. Answers to salt/runners and salt/client/mixins.py.
package runners

import (
	"context"
	"time"

	"brine/modules/fileserver"
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/pillar"
	"brine/wire/payload"
)

// Job is a publication a runner asks for.
type Job struct {
	Tgt     any
	TgtType string // "" is glob
	Fun     any    // text, or a list of text
	Args    []any
	KW      *payload.Map
	Ret     string        // returners of the minions, with commas
	Timeout time.Duration // 0: the option timeout
	Gather  time.Duration // 0: the option gather_job_timeout
}

// Collected is what came of a publication.
type Collected struct {
	JID     string
	Minions []string     // ids that were expected to answer
	Returns *payload.Map // id → data of its return event: return, retcode, success, ...
}

// Publisher publishes a job and waits for its returns by the rules of the salt command. Nobody meant by the
// target is an empty answer; a master that cannot be asked is a *loader.ClientError.
type Publisher interface {
	Collect(ctx context.Context, job Job) (*Collected, error)
}

// JobStore reads the master's job cache.
type JobStore interface {
	// Load returns the publish load of a job with "Minions", the ids it was for; nil when there is no such job.
	Load(jid string) (*payload.Map, error)
	// Returns maps each id that answered to its {return, retcode, success, out}.
	Returns(jid string) (*payload.Map, error)
	// Loads maps every known jid to its publish load.
	Loads() (*payload.Map, error)
}

// JobCache reads the jobs that a returner keeps, as Salt's functions of that returner show them.
type JobCache interface {
	// GetLoad returns the publish load of a job, GetJID what is kept of its returns, by minion; nil or empty for none.
	GetLoad(ctx context.Context, jid string) (*payload.Map, error)
	GetJID(ctx context.Context, jid string) (*payload.Map, error)
	// GetJIDs maps job ids to records, as jobs.list_jobs shows them. GetJIDsFilter lists the newest.
	GetJIDs(ctx context.Context) (*payload.Map, error)
	GetJIDsFilter(ctx context.Context, count int64, skipFindJob bool) (any, error)
	EndTime(ctx context.Context, jid string) (string, error)
}

// EndTimes is a JobStore that knows when jobs ended (job_cache_store_endtime).
type EndTimes interface {
	EndTime(jid string) string
}

// Minions is what the master's data cache knows of minions, in whichever form of Salt's releases it stands. bank is
// grains, pillar or mine.
type Minions interface {
	Cached(bank string) ([]string, error)       // ids, in order
	Data(bank, id string) (*payload.Map, error) // nil: nothing is known
	Forget(id string, banks ...string) error    //
	DropMine(id string, fun any) error          // one function of its mine
}

// Banks reads and writes the files of the master's data cache under their names.
type Banks interface {
	List(bank string) ([]string, error)
	Fetch(bank, key string) (any, error)
	Store(bank, key string, value any) error
	Flush(bank, key string) (bool, error) // key "": the whole bank
}

// Presence tells which minions are connected, and from which address.
type Presence interface {
	Connected() (map[string]string, error)
}

// Bus fires and watches events. node is "master" or "minion", sockDir "" the master's own.
type Bus interface {
	Fire(ctx context.Context, tag string, data *payload.Map) error
	Watch(ctx context.Context, node, sockDir string) (Stream, error)
}

// Stream is a subscription to every event.
type Stream interface {
	Next(ctx context.Context) (tag string, data *payload.Map, err error)
	Close() error
}

// MineReader reads mines as the runner mine.get does: for all, without asking anybody's permission.
type MineReader interface {
	MineGet(ctx context.Context, tgt any, fun any, tgtType string) (any, error)
}

// Files are the files that the master serves.
type Files interface {
	// Answer answers a command of the wire about files (salt/master.py, AESFuncs).
	Answer(cmd string, load *payload.Map) (any, error)
	// Update looks for what has changed, by some backends and remotes of them, nil for all.
	Update(ctx context.Context, back, remotes []string) ([]*fileserver.Changes, error)
	// Do does a chore of backends that keep copies (fileserver.Server.Do).
	Do(chore fileserver.Chore, back []string, remote string) (done, failed []string, err error)
	// Forget drops remembered lists of some environments and backends, nil for all, and returns which, by backend.
	Forget(ctx context.Context, envs, back []string) (*payload.Map, error)
}

// Pillar compiles pillars of minions.
type Pillar interface {
	Compile(ctx context.Context, q pillar.Question) (*payload.Map, error)
	// Top is what the top files say together, and what is wrong with them.
	Top(ctx context.Context, q pillar.Question) (*payload.Map, []any, error)
}

// Reactor is the Reactor of the master, as its runner functions see it.
type Reactor interface {
	List(ctx context.Context) ([]any, error)
	// Add and Delete answer with {status, comment}.
	Add(ctx context.Context, tag, sls any) (*payload.Map, error)
	Delete(ctx context.Context, tag any) (*payload.Map, error)
	Leader(ctx context.Context) (bool, error)
	SetLeader(ctx context.Context, yes bool) (bool, error)
}

// Options are what the functions stand on. The master's options come with the call (loader.Env). A nil member
// makes the functions that need it answer with an error.
type Options struct {
	Publisher Publisher
	Jobs      JobStore
	JobCaches func(name string) JobCache // of returners (ext_job_cache, ext_source, master_job_cache)
	Minions   Minions
	Banks     Banks
	Keys      *keys.Manager
	Presence  Presence
	Bus       Bus
	Mine      MineReader
	Files     Files
	Pillar    Pillar
	Targets   *matchers.Expander
	// Token makes an eauth token for who proves to be a user; an empty map for others (auth.mk_token).
	Token     func(fields *payload.Map) (*payload.Map, error)
	Running   func() []*payload.Map  // runner jobs under way on this master (jobs.master)
	Runners   *loader.Registry       // for doc.runner
	Wheel     *loader.Registry       // for doc.wheel
	Execution *loader.Env            // for salt.cmd: execution functions on the master
	Version   string                 // of Salt, as this master answers to test.version
	Reactor   func() (Reactor, bool) // false: no Reactor runs
	Print     func(line string)      // the tool's standard output; nil when nobody looks
}
