// Package stats holds the observable state of a running actor: counters that the actor updates with atomic operations,
// and the snapshots that an observer makes from them with atomic loads. It knows no actor library, no supervisor and no
// clock. Ages and times are in nanoseconds inside; a snapshot has the units of its field names.
package stats

import "time"

// States of a child, as in Child.State.
const (
	StateStarting   = "starting"   // added or restarted, has not handled Started yet
	StateRunning    = "running"    // alive
	StateBackoff    = "backoff"    // dead, to be restarted after the delay
	StateStopping   = "stopping"   // told to stop, or dead with goroutines or a subtree that have not ended
	StateDead       = "dead"       // dead, and restarting is off
	StateStopped    = "stopped"    // ended for good
	StateRestarting = "restarting" // told to stop, to be restarted
)

// Child is the snapshot of one supervised actor, or of a supervisor with its tree. The JSON names are stable: `brine
// admin` and other programs' tests read them.
type Child struct {
	Name         string    `json:"name"`
	Path         string    `json:"path"` // names from the root, joined by "/"
	PID          string    `json:"pid"`  // id of the incarnation, NAME#INCARNATION
	State        string    `json:"state"`
	Since        time.Time `json:"since"` // when State began
	Incarnation  int       `json:"incarnation"`
	Restarts     int       `json:"restarts"`
	RestartsHour int       `json:"restarts_hour"` // of these, in the last hour
	Mailbox      int       `json:"mailbox"`       // waiting messages
	OldestMS     int64     `json:"oldest_ms"`     // age of the oldest of them
	Received     uint64    `json:"received"`      // messages accepted by the mailbox, over all incarnations
	Sent         uint64    `json:"sent"`          // messages sent through the actor's context
	// messages that crashed the actor or for which it called supervisor.Failed
	Failed      uint64            `json:"failed"`
	Abandoned   int               `json:"abandoned"`    // incarnations that did not end in time
	Stuck       int64             `json:"stuck"`        // their goroutines that still run
	Slow        uint64            `json:"slow"`         // handlers that ran longer than Options.SlowAfter
	Quarantined int               `json:"quarantined"`  // messages set aside because they killed the actor twice
	Lost        uint64            `json:"lost"`         // messages that no incarnation has finished handling
	DeadLetters map[string]uint64 `json:"dead_letters"` // the same by kind, see Losses; kinds with 0 are left out
	Unhandled   uint64            `json:"unhandled"`    // messages that the actor has no case for
	Rate        float64           `json:"rate"`         // messages received per second in the last 10 to 20 s
	Busy        float64           `json:"busy"`         // share of the last 10 to 20 s spent in handlers, 0 to 1
	BusyMS      int64             `json:"busy_ms"`      // time spent in handlers, over all incarnations
	InHand      string            `json:"in_hand"`      // type of the message being handled, "" if idle
	InHandMS    int64             `json:"in_hand_ms"`
	Note        string            `json:"note"` // the actor's own text (supervisor.Note), such as a jid
	Handling    Spread            `json:"handling"`
	Waiting     Spread            `json:"waiting"`
	LastDeath   *Death            `json:"last_death"`
	LastSlow    *Slow             `json:"last_slow"`
	Deaths      []Death           `json:"deaths,omitempty"`     // the last few, oldest first
	Quarantine  []Quarantined     `json:"quarantine,omitempty"` // the last few messages set aside
	Children    []Child           `json:"children,omitempty"`
}

// Slow is the report of a handler that has run for too long.
type Slow struct {
	Time        time.Time     `json:"time"` // of the report
	Name        string        `json:"name"`
	Path        string        `json:"path"`
	Incarnation int           `json:"incarnation"`
	Message     string        `json:"message"` // type of the message being handled
	Running     time.Duration `json:"running"`
	Stack       string        `json:"stack"`     // of the handler's goroutine; "" if it has ended
	Abandoned   bool          `json:"abandoned"` // the actor was replaced
}

// Quarantined is a message that was set aside because it killed the same actor twice.
type Quarantined struct {
	Time    time.Time `json:"time"`
	Name    string    `json:"name"`
	Path    string    `json:"path"`
	Message string    `json:"message"` // its type
	Hash    string    `json:"hash"`    // SHA-256 of its bytes, or of its type and printed form, in hex
	Size    int       `json:"size"`    // of the hashed bytes
	Reason  string    `json:"reason"`  // cause of the second death
}

// Spread summarizes a histogram of durations; percentiles are upper bounds of their power-of-two bucket.
type Spread struct {
	Count   uint64   `json:"count"`
	P50US   int64    `json:"p50_us"`
	P99US   int64    `json:"p99_us"`
	MaxUS   int64    `json:"max_us"`
	SumUS   int64    `json:"sum_us"`
	Buckets []uint64 `json:"buckets"` // counts: below 512 ns, 1024 ns, 2048 ns, ... up to the last non-zero one
}

// Death is the end of one incarnation.
type Death struct {
	Time        time.Time     `json:"time"`
	Reason      string        `json:"reason"`  // text of the panic, "exit", or why the supervisor ended it
	Message     string        `json:"message"` // type of the message being handled, or ""
	Stack       string        `json:"stack"`   // of the panic or of a hung handler, "" for any other end
	Name        string        `json:"name"`
	Path        string        `json:"path"`
	Incarnation int           `json:"incarnation"`
	Status      int           `json:"status"` // 0 for a normal end, 1 for a panic, -9 if abandoned
	Lived       time.Duration `json:"lived"`
	Delay       time.Duration `json:"delay"` // pause before the restart
}
