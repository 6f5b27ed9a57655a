package supervisor

import (
	"log/slog"
	"time"

	"brine/supervisor/stats"
)

// Defaults of Options and Spec.
const (
	DefaultRestartDelayMax  = 10 * time.Second
	DefaultWaitForKill      = 5 * time.Second
	DefaultHold             = 4096
	DefaultSlowAfter        = time.Second
	DefaultWorkerTimeout    = 60 * time.Second
	DefaultComponentTimeout = 5 * time.Second
	DefaultSweepEvery       = 10 * time.Second // interval of ProcessManager.run (salt/utils/process.py)
)

// Spec describes how to make one child: each incarnation with the same constructor, whatever killed the last one.
type Spec struct {
	Name string // unique among the living children of its supervisor, without "/" and "#"

	// Ref, made by NewRef, becomes the child's Ref, so that others have it before the child is added; nil: Add makes
	// one.
	Ref *Ref

	// New makes the value of one incarnation. The goroutine of the new actor calls it before the Started message; a
	// panic in it is a death like any other.
	New func() Actor

	// OnLost is called for every message that this child has accepted or refused, and that no incarnation will finish
	// handling: the current message at a crash, the queued ones when the child goes for good, the ones refused because
	// the mailbox is full or the child has gone, and the ones that it has no case for. The owner can answer the
	// requester there. It runs in the goroutine that noticed the loss, must not block, and must not call Stop. See also
	// Loser.
	OnLost func(msg any, why error)

	// Limit is the largest number of messages in the mailbox, 0: no limit. A message beyond it is refused: OnLost with
	// ErrMailboxFull.
	Limit int
	// Hold is the largest number of messages that wait while no incarnation lives, default DefaultHold.
	Hold int
	// DropQueued gives the queued messages of a dead incarnation to OnLost. By default they stay in the mailbox, and
	// the next incarnation gets them in order.
	DropQueued bool

	// Intake says that the actor accepts work from outside: it gets CloseIntake at the beginning of a Stop. Store says
	// that it holds data that must not be lost: it gets Flush when all mailboxes are empty.
	Intake, Store bool

	// StopTimeout is how long the child may take to end before it is abandoned, default Options.WaitForKill.
	StopTimeout time.Duration

	// WorkerTimeout is how long one handler may run before the actor is abandoned and replaced, default
	// Options.WorkerTimeout. Negative: no limit.
	WorkerTimeout time.Duration

	// Component says that all other actors wait while this actor hangs, and that none of its handlers waits for
	// anything slow. A handler that waits for longer than Options.ComponentTimeout is abandoned and replaced. A handler
	// that is running, runnable or in a system call (a disk) has WorkerTimeout, like those of other actors.
	Component bool
}

// Loser is a message that is notified when it is lost, such as a request that can refuse itself to its requester. Lost
// is called like Spec.OnLost, and before it.
type Loser interface{ Lost(why error) }

// Options of one supervisor. The zero value is usable.
type Options struct {
	Name   string       // first element of every path, such as "master"
	Clock  Clock        // default: the real one
	Logger *slog.Logger // default: the logger of the actor system

	RestartDelayMax time.Duration // cap of the back-off, default DefaultRestartDelayMax
	WaitForKill     time.Duration // default of Spec.StopTimeout, default DefaultWaitForKill
	SweepEvery      time.Duration // check_children interval, default DefaultSweepEvery
	SlowAfter       time.Duration // a handler that runs longer is reported, default DefaultSlowAfter; negative: never
	WorkerTimeout   time.Duration // default of Spec.WorkerTimeout, default DefaultWorkerTimeout

	// ComponentTimeout is how long a handler of a Spec.Component may wait, default DefaultComponentTimeout. If it is
	// negative, or WorkerTimeout has no limit, the limit of workers applies.
	ComponentTimeout time.Duration

	// HistoryFile keeps the last deaths of the whole tree for the next start of the daemon, see History; "": no file.
	// Only the root's setting counts.
	HistoryFile string

	// OnDeath is called for each death in the tree. The supervisor of the dead child calls it in its own goroutine, so
	// several calls may run at once. It must not block.
	OnDeath func(stats.Death)
	// OnSlow is called for each handler in the tree that runs longer than SlowAfter, and again when it is left behind
	// after WorkerTimeout. It is called like OnDeath.
	OnSlow func(stats.Slow)
	// OnQuarantine is called for each message in the tree that was set aside because the same actor died of it twice.
	// It is called like OnDeath.
	OnQuarantine func(stats.Quarantined)
	// Pool says that the children are interchangeable: a message that has killed any two of them is set aside for all.
	Pool bool
	// Chaos allows Inject.
	Chaos bool

	// Unmeasured turns off all counting per message, and with it the watchdog. It is for benchmarks. Only the root's
	// setting counts.
	Unmeasured bool
}

// Clock is the time of a supervisor: back-off, deadlines, ages. actortest has one that tests advance by hand.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Report says how a tree was stopped. Names are paths.
type Report struct {
	Stopped    []string
	Abandoned  []string // did not stop in time; their goroutines leak until the process ends
	Goroutines string   // dump of all goroutines, only if a child was abandoned
	Phases     []Phase  // the phases before, in a tree with an intake or a store
	Took       time.Duration
}

// Fault is a way to harm an actor on purpose.
type Fault string

// Faults for Inject.
const (
	FaultPanic Fault = "panic" // its next message panics
	FaultExit  Fault = "exit"  // it stops itself
	FaultHang  Fault = "hang"  // its handler does not return until it is abandoned
)

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "supervisor"
	}
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	if o.RestartDelayMax <= 0 {
		o.RestartDelayMax = DefaultRestartDelayMax
	}
	if o.WaitForKill <= 0 {
		o.WaitForKill = DefaultWaitForKill
	}
	if o.SweepEvery <= 0 {
		o.SweepEvery = DefaultSweepEvery
	}
	if o.SlowAfter == 0 {
		o.SlowAfter = DefaultSlowAfter
	}
	if o.WorkerTimeout == 0 {
		o.WorkerTimeout = DefaultWorkerTimeout
	}
	if o.ComponentTimeout == 0 {
		o.ComponentTimeout = DefaultComponentTimeout
	}
	return o
}
