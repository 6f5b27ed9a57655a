package control

import "brine/wire/payload"

// Reactor is the state of a master's Reactor, with counts since its process began.
type Reactor struct {
	Running      bool          `control:"running"` // false: it is not configured, and the other fields are empty
	Leader       bool          `control:"leader"`  // false: reactor.set_leader has made another master react
	File         string        `control:"file"`    // of the rules, "": they are in the configuration
	Rules        []ReactorRule `control:"rules"`
	Waiting      int64         `control:"waiting"` // events that are not finished
	WaitingBytes int64         `control:"waiting_bytes"`
	Events       int64         `control:"events"`   // events that match a rule
	Reacted      int64         `control:"reacted"`  // of these, events whose calls were determined
	Calls        int64         `control:"calls"`    // calls that were made
	Failures     int64         `control:"failures"` // of files and calls
	Dropped      int64         `control:"dropped"`  // events for which there was no space
	// calls that were running when an earlier process ended: they are not repeated
	Doubtful    int64  `control:"doubtful"`
	LastError   string `control:"last_error"`
	LastErrorAt string `control:"last_error_at"` // UTC, with microseconds
}

// ReactorRule is one rule, with counts of the events that match it.
type ReactorRule struct {
	Tag         string   `control:"tag"`
	SLS         []string `control:"sls"`
	Hits        int64    `control:"hits"`
	Calls       int64    `control:"calls"` // calls of these events, including those of their other rules
	Failures    int64    `control:"failures"`
	LastError   string   `control:"last_error"`
	LastErrorAt string   `control:"last_error_at"`
}

// ReactorTrial says what an event would trigger.
type ReactorTrial struct {
	Tag    string        `control:"tag"`
	Own    bool          `control:"own"`    // a reaction has caused this event itself: there is no reaction to it
	Leader bool          `control:"leader"` // false: there is no reaction to any event
	Rules  []ReactorRule `control:"rules"`  // that match the event
	Calls  []ReactorCall `control:"calls"`  // in order
	Log    []string      `control:"log"`    // the log lines that would appear
}

// ReactorCall is one call of a reaction.
type ReactorCall struct {
	Kind string       `control:"kind"` // local, runner, wheel or caller
	ID   string       `control:"id"`
	SLS  string       `control:"sls"` // the name of the file
	Fun  string       `control:"fun"`
	Tgt  string       `control:"tgt"` // for local
	Args []any        `control:"args"`
	KW   *payload.Map `control:"kwargs"`
	More *payload.Map `control:"more"` // the other fields of the reaction
}

// ReactorManaged is the answer to ManageReactor: the rules, and except for list a result.
type ReactorManaged struct {
	Running  bool         `control:"running"` // false: there is no Reactor
	Reactors []any        `control:"reactors"`
	Leader   bool         `control:"leader"`
	Result   *payload.Map `control:"result"` // for add and delete: status and comment
}
