package control

import "brine/wire/payload"

// Done is the answer to what only has to be done.
type Done bool

// Acted is the answer to what was done to an actor.
type Acted struct {
	Path string `control:"path"`
}

// Stack is what goroutines do: of the actor at a path, or of the whole daemon.
type Stack struct {
	Path  string       `control:"path"`
	Stack string       `control:"stack"` // "" when no goroutine works for it
	Raw   *payload.Map `control:",raw"`
}

// Process is a daemon as a process. What its system does not tell is 0.
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
	Crashes      int64  `control:"crashes"`    // reports of processes before this one that crashed
	LastCrash    string `control:"last_crash"` // path of the last one
}

// Standing says of some minions who did not get a job, who has returned it, who is at work on it. Of the others nothing
// is known.
type Standing struct {
	Gone     []string `control:"gone"`
	Returned []string `control:"returned"`
	Running  []string `control:"running"`
}

// Job is the head of what is said about a job.
type Job struct {
	JID      string `control:"jid"`
	Fun      string `control:"fun"`
	Tgt      string `control:"tgt"`
	TgtType  string `control:"tgt_type"`
	User     string `control:"user"`
	Minions  *int64 `control:"minions"` // nil: the job is not known
	Returned int64  `control:"returned"`
	Silent   int64  `control:"silent"`
}

// Reasons says why minions have not returned a job.
type Reasons struct {
	Job
	Reasons []Reason     `control:"reasons"`
	Raw     *payload.Map `control:",raw"`
}

// Reason is why one minion is silent: in words, and as a code that does not change.
type Reason struct {
	Minion string       `control:"minion"`
	Text   string       `control:"text"`
	Code   string       `control:"code"`
	Facts  *payload.Map `control:"facts"` // what the reason rests on
}

// Trace is the way of a job through every hop.
type Trace struct {
	Job
	Began   int64        `control:"began"` // microseconds since 1970, 0: not known
	Hops    []Hop        `control:"hops"`
	Late    []string     `control:"late"`
	Open    []string     `control:"open"`
	Missing []string     `control:"missing"`
	Raw     *payload.Map `control:",raw"`
}

// Hop is one step of a job's way.
type Hop struct {
	Minion  string `control:"minion"` // "" for those before the minions
	Hop     string `control:"hop"`
	State   string `control:"state"`
	Where   string `control:"where"`
	AfterUS *int64 `control:"after_us"` // after the first, nil: not known
}
