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

// Spec says how one child is made: always with the same constructor, whatever killed the one before.
type Spec struct {
	Name string // unique among the living children of its supervisor, without "/" and "#"

	// Ref, made by NewRef, becomes that of the child, so that others know it before it is added; nil: Add makes one.
	Ref *Ref

	// New makes the value of one incarnation. It is called in the goroutine of the new actor, before its
	// Started message; a panic in it is a death like any other.
	New func() Actor

	// OnLost is told of every message that this child took and that no incarnation will handle to its end:
	// the one in hand at a crash, the queued ones when the child goes for good, the ones refused because the
	// mailbox is full or the child gone, the ones it has no case for. The owner answers the requester there.
	// It runs in whichever goroutine found the loss, must not block, and may not call Stop. See also Loser.
	OnLost func(msg any, why error)

	// Limit bounds the mailbox, 0 is no bound. A message beyond it is refused: OnLost with ErrMailboxFull.
	Limit int
	// Hold bounds what is kept for the next incarnation while none lives, default DefaultHold.
	Hold int
	// DropQueued hands the queued messages of a dead incarnation to OnLost; by default they stay in the
	// mailbox and the next incarnation gets them, in order.
	DropQueued bool

	// Intake says that the actor takes work from outside: it gets CloseIntake at the beginning of a Stop. Store
	// says that it holds what must not be lost: it gets Flush when all the mailboxes are empty.
	Intake, Store bool

	// StopTimeout is how long the child may take to end before it is abandoned, default Options.WaitForKill.
	StopTimeout time.Duration

	// WorkerTimeout is how long one handler may run before the actor is abandoned and replaced, default
	// Options.WorkerTimeout. Negative: for ever.
	WorkerTimeout time.Duration

	// Component says that all the others wait while this actor hangs, and that none of its handlers waits for anything
	// that may take long: one that waits for more than Options.ComponentTimeout is abandoned and replaced. One that
	// works, is runnable or in a system call (a disk) has WorkerTimeout, as everybody.
	Component bool
}

// Loser is a message that wants to know when it is lost: a request that can refuse itself to its requester.
// Lost is called like Spec.OnLost, and before it.
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

	// ComponentTimeout is how long a handler of a Spec.Component may wait, default DefaultComponentTimeout. Negative,
	// or where WorkerTimeout is for ever: as long as that.
	ComponentTimeout time.Duration

	// HistoryFile keeps the last deaths of the whole tree for the next start of the daemon, see History. "" is
	// none. Only the root's counts.
	HistoryFile string

	// OnDeath is told of each death in the tree. It is called in the goroutine of the supervisor next to
	// the dead, so several calls may run at once, and must not block.
	OnDeath func(stats.Death)
	// OnSlow is told of each handler in the tree that runs longer than SlowAfter, and once more when it is left
	// behind after WorkerTimeout. It is called like OnDeath.
	OnSlow func(stats.Slow)
	// OnQuarantine is told of each message in the tree that was set aside because the same actor died of it
	// twice. It is called like OnDeath.
	OnQuarantine func(stats.Quarantined)
	// Pool says that the children are interchangeable: what has killed any two of them is set aside for all.
	Pool bool
	// Chaos allows Inject.
	Chaos bool

	// Unmeasured counts nothing per message, and the watchdog sees nothing. For benchmarks. Only the root's counts.
	Unmeasured bool
}

// Clock is the time of a supervisor: back-off, deadlines, ages. actortest has one that is driven by hand.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Report tells how a tree was stopped. Names are paths.
type Report struct {
	Stopped    []string
	Abandoned  []string // did not stop in time; their goroutines leak until the process ends
	Goroutines string   // dump of all goroutines, only when something was abandoned
	Phases     []Phase  // what came before, in a tree with an intake or a store
	Took       time.Duration
}

// Fault is a way to harm an actor on purpose.
type Fault string

// Faults that Inject knows.
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
