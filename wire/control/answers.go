package control

import "brine/wire/payload"

// Done is the answer to a request without a result.
type Done bool

// Acted is the answer to a request that changed an actor.
type Acted struct {
	Path string `control:"path"`
}

// Stack is the stack of goroutines: of the actor at a path, or of the whole daemon.
type Stack struct {
	Path  string       `control:"path"`
	Stack string       `control:"stack"` // "" if no goroutine works for the actor
	Raw   *payload.Map `control:",raw"`
}

// Process is a daemon as a process. Values that the system does not report are 0.
type Process struct {
	Version      string `control:"version"` // of brine
	Go           string `control:"go"`
	PID          int64  `control:"pid"`
	UID          int64  `control:"uid"`
	Since        string `control:"since"` // UTC, with microseconds
	UptimeMS     int64  `control:"uptime_ms"`
	Goroutines   int64  `control:"goroutines"`
	Threads      int64  `control:"threads"`
	RSSBytes     int64  `control:"rss_bytes"`
	HeapBytes    int64  `control:"heap_bytes"`
	MemoryBytes  int64  `control:"memory_bytes"`
	OpenFiles    int64  `control:"open_files"`
	OpenFilesMax int64  `control:"open_files_max"`
	DeadLetters  int64  `control:"dead_letters"`
	Strays       int64  `control:"strays"`
	Crashes      int64  `control:"crashes"`    // crash reports of earlier processes
	LastCrash    string `control:"last_crash"` // path of the last one
}

// Standing says which minions did not get a job, which have returned it, and which are running it. Minions in no list
// are unknown.
type Standing struct {
	Gone     []string `control:"gone"`
	Returned []string `control:"returned"`
	Running  []string `control:"running"`
}

// Job is the common part of the answers about a job.
type Job struct {
	JID      string `control:"jid"`
	Fun      string `control:"fun"`
	Tgt      string `control:"tgt"`
	TgtType  string `control:"tgt_type"`
	User     string `control:"user"`
	Minions  *int64 `control:"minions"` // nil: the job is unknown
	Returned int64  `control:"returned"`
	Silent   int64  `control:"silent"`
}

// Reasons says why minions have not returned a job.
type Reasons struct {
	Job
	Reasons []Reason     `control:"reasons"`
	Raw     *payload.Map `control:",raw"`
}

// Reason is why one minion is silent: in words, and as a stable code.
type Reason struct {
	Minion string       `control:"minion"`
	Text   string       `control:"text"`
	Code   string       `control:"code"`
	Facts  *payload.Map `control:"facts"` // the facts behind the reason
}

// Trace is the path of a job through every hop.
type Trace struct {
	Job
	Began   int64        `control:"began"` // microseconds since 1970, 0: unknown
	Hops    []Hop        `control:"hops"`
	Late    []string     `control:"late"`
	Open    []string     `control:"open"`
	Missing []string     `control:"missing"`
	Raw     *payload.Map `control:",raw"`
}

// Hop is one step on a job's path.
type Hop struct {
	Minion  string `control:"minion"` // "" for hops before the minions
	Hop     string `control:"hop"`
	State   string `control:"state"`
	Where   string `control:"where"`
	AfterUS *int64 `control:"after_us"` // microseconds after the first hop, nil: unknown
}
