// Package stats holds what is known of an actor while it runs: counters that the actor writes with atomic
// adds, and the snapshots an observer makes of them with atomic loads. It knows no actor library, no
// supervisor and no clock. Ages and times are in nanoseconds inside, in the units of the field names in a
// snapshot.
package stats

import "time"

// States of a child, as they stand in Child.State.
const (
	StateStarting   = "starting"   // added or restarted, its Started message is not handled yet
	StateRunning    = "running"    // alive
	StateBackoff    = "backoff"    // dead, restarted when the delay is over
	StateStopping   = "stopping"   // told to stop, or dead with goroutines or a subtree still ending
	StateDead       = "dead"       // dead, and restarting is switched off
	StateStopped    = "stopped"    // ended for good
	StateRestarting = "restarting" // told to stop, to be started again
)

// Child is the snapshot of one supervised actor, or of a supervisor in whose tree it hangs. The JSON names
// are stable: `brine admin` and the tests of others read them.
type Child struct {
	Name         string    `json:"name"`
	Path         string    `json:"path"` // names from the root, joined by "/"
	PID          string    `json:"pid"`  // id of the incarnation, NAME#INCARNATION
	State        string    `json:"state"`
	Since        time.Time `json:"since"` // when State began
	Incarnation  int       `json:"incarnation"`
	Restarts     int       `json:"restarts"`
	RestartsHour int       `json:"restarts_hour"` // of those, in the last hour
	Mailbox      int       `json:"mailbox"`       // messages waiting
	OldestMS     int64     `json:"oldest_ms"`     // age of the oldest of them
	Received     uint64    `json:"received"`      // messages taken into the mailbox, over all incarnations
	Sent         uint64    `json:"sent"`          // messages sent through the actor's context
	// messages that crashed the actor or were counted by supervisor.Failed
	Failed      uint64            `json:"failed"`
	Abandoned   int               `json:"abandoned"`    // incarnations that did not end in time
	Stuck       int64             `json:"stuck"`        // goroutines of those that still run
	Slow        uint64            `json:"slow"`         // handlers that ran longer than Options.SlowAfter
	Quarantined int               `json:"quarantined"`  // messages set aside because they killed the actor twice
	Lost        uint64            `json:"lost"`         // messages that no incarnation has handled to the end
	DeadLetters map[string]uint64 `json:"dead_letters"` // the same by kind, see Losses; kinds without any are left out
	Unhandled   uint64            `json:"unhandled"`    // messages the actor has no case for
	Rate        float64           `json:"rate"`         // messages received per second in the last 10 to 20 s
	Busy        float64           `json:"busy"`         // share of the last 10 to 20 s spent in handlers, 0 to 1
	BusyMS      int64             `json:"busy_ms"`      // time spent in handlers, over all incarnations
	InHand      string            `json:"in_hand"`      // type of the message being handled, "" when idle
	InHandMS    int64             `json:"in_hand_ms"`
	Note        string            `json:"note"` // what the actor says it does (supervisor.Note), such as a jid
	Handling    Spread            `json:"handling"`
	Waiting     Spread            `json:"waiting"`
	LastDeath   *Death            `json:"last_death"`
	LastSlow    *Slow             `json:"last_slow"`
	Deaths      []Death           `json:"deaths,omitempty"`     // the last few, oldest first
	Quarantine  []Quarantined     `json:"quarantine,omitempty"` // the last few messages set aside
	Children    []Child           `json:"children,omitempty"`
}

// Slow tells of a handler that has been running for too long.
type Slow struct {
	Time        time.Time     `json:"time"` // of the report
	Name        string        `json:"name"`
	Path        string        `json:"path"`
	Incarnation int           `json:"incarnation"`
	Message     string        `json:"message"` // type of the message in hand
	Running     time.Duration `json:"running"`
	Stack       string        `json:"stack"`     // of the handler's goroutine
	Abandoned   bool          `json:"abandoned"` // the actor was replaced
}

// Quarantined tells of a message that was set aside because it killed the same actor twice.
type Quarantined struct {
	Time    time.Time `json:"time"`
	Name    string    `json:"name"`
	Path    string    `json:"path"`
	Message string    `json:"message"` // its type
	Hash    string    `json:"hash"`    // SHA-256 of its bytes, or of its type and printed form, in hex
	Size    int       `json:"size"`    // of what was hashed, in bytes
	Reason  string    `json:"reason"`  // what the actor died of the second time
}

// Spread sums up a histogram of durations; percentiles are upper bounds of their power-of-two bucket.
type Spread struct {
	Count   uint64   `json:"count"`
	P50US   int64    `json:"p50_us"`
	P99US   int64    `json:"p99_us"`
	MaxUS   int64    `json:"max_us"`
	SumUS   int64    `json:"sum_us"`
	Buckets []uint64 `json:"buckets"` // counts: below 512 ns, 1024 ns, 2048 ns, ... up to the last that is not empty
}

// Death tells how one incarnation ended.
type Death struct {
	Time        time.Time     `json:"time"`
	Reason      string        `json:"reason"`  // text of the panic, "exit", or why the supervisor ended it
	Message     string        `json:"message"` // type of the message in hand, "" when there was none
	Stack       string        `json:"stack"`   // of the panic, "" for any other end
	Name        string        `json:"name"`
	Path        string        `json:"path"`
	Incarnation int           `json:"incarnation"`
	Status      int           `json:"status"` // 0 for a normal end, 1 for a panic, -9 when it was abandoned
	Lived       time.Duration `json:"lived"`
	Delay       time.Duration `json:"delay"` // wait before the restart
}
