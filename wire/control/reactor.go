package control

import "brine/wire/payload"

// Reactor tells about the Reactor of a master, since its process began.
type Reactor struct {
	Running      bool          `control:"running"` // false: it is not configured, and nothing else is told
	Leader       bool          `control:"leader"`  // false: reactor.set_leader has said that another master reacts
	File         string        `control:"file"`    // of the rules, "": they stand in the configuration
	Rules        []ReactorRule `control:"rules"`
	Waiting      int64         `control:"waiting"` // events that are not done with
	WaitingBytes int64         `control:"waiting_bytes"`
	Events       int64         `control:"events"`   // that a rule wanted
	Reacted      int64         `control:"reacted"`  // of which it was worked out what they mean
	Calls        int64         `control:"calls"`    // that were made
	Failures     int64         `control:"failures"` // of files, of calls
	Dropped      int64         `control:"dropped"`  // events that there was no room for
	// calls that were under way when a process before this one ended: they are not made again
	Doubtful    int64  `control:"doubtful"`
	LastError   string `control:"last_error"`
	LastErrorAt string `control:"last_error_at"` // UTC, with microseconds
}

// ReactorRule is one rule, and what became of the events that it wanted.
type ReactorRule struct {
	Tag         string   `control:"tag"`
	SLS         []string `control:"sls"`
	Hits        int64    `control:"hits"`
	Calls       int64    `control:"calls"` // of these events, whichever of their rules asks for them
	Failures    int64    `control:"failures"`
	LastError   string   `control:"last_error"`
	LastErrorAt string   `control:"last_error_at"`
}

// ReactorTrial tells what an event would set off.
type ReactorTrial struct {
	Tag    string        `control:"tag"`
	Own    bool          `control:"own"`    // it comes from what a reaction has called: it is not reacted to
	Leader bool          `control:"leader"` // false: no event is reacted to
	Rules  []ReactorRule `control:"rules"`  // that match
	Calls  []ReactorCall `control:"calls"`  // in their order
	Log    []string      `control:"log"`    // what would be logged
}

// ReactorCall is one call of a reaction.
type ReactorCall struct {
	Kind string       `control:"kind"` // local, runner, wheel or caller
	ID   string       `control:"id"`
	SLS  string       `control:"sls"` // the file
	Fun  string       `control:"fun"`
	Tgt  string       `control:"tgt"` // of local
	Args []any        `control:"args"`
	KW   *payload.Map `control:"kwargs"`
	More *payload.Map `control:"more"` // what else stands at the reaction
}

// ReactorManaged is what came of ManageReactor: the rules, and for all but list a result.
type ReactorManaged struct {
	Running  bool         `control:"running"` // false: there is no Reactor
	Reactors []any        `control:"reactors"`
	Leader   bool         `control:"leader"`
	Result   *payload.Map `control:"result"` // of add and delete: status and comment
}
