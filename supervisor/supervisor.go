package supervisor

import (
	"errors"
	"time"

	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// Errors of a supervisor's methods.
var (
	ErrNameTaken = errors.New("supervisor: name is taken")
	ErrStopped   = errors.New("supervisor: stopped")
	ErrUnknown   = errors.New("supervisor: no such child")
	ErrNoChaos   = errors.New("supervisor: faults are not allowed")
)

// Supervisor starts actors and starts them again when they die, with the rules of Salt's ProcessManager.
// All methods may be called from any goroutine, from inside any actor, and none but Stop blocks.
type Supervisor struct{}

// Start makes the root supervisor of a daemon.
func Start(system *actor.ActorSystem, opt Options) *Supervisor { return &Supervisor{} }

// Add starts a child and enters it in the map, as ProcessManager.add_process. The actor is started
// behind the caller's back within microseconds; the Ref takes messages at once.
// Errors: ErrNameTaken, ErrStopped, or a Spec that cannot be.
func (s *Supervisor) Add(spec Spec) (*Ref, error) { return nil, ErrStopped }

// AddTree adds a child that is itself a supervisor, without an actor of its own to do any work. Its death
// (Restart, Inject) stops all its children and starts them again with the Refs they had. A subtree that
// belongs to a working actor is made by Nest instead.
func (s *Supervisor) AddTree(name string, opt Options) (*Supervisor, error) { return nil, ErrStopped }

// Done says that a child has finished its work: it is stopped if it has not ended itself, and its death
// removes it instead of starting it again. An unknown name is ignored.
func (s *Supervisor) Done(name string) {}

// Restart ends a child and starts it again at once, without back-off. A child that does not end within its
// StopTimeout is abandoned: its successor starts beside it. The name may be a path below this supervisor.
func (s *Supervisor) Restart(name string) error { return ErrUnknown }

// StopRestarting lets the dead lie from now on, in the whole tree (ProcessManager.stop_restarting).
func (s *Supervisor) StopRestarting() {}

// Stop ends the tree as ProcessManager.kill_children does: nothing is restarted any more, children are
// stopped in reverse order of their start, each with its context cancelled first. The order is kept for
// the first half of the time given; then all that are left are told at once, and at its end the rest is abandoned.
// It blocks until then and must not be called from an actor of the same tree. A second call waits for the first.
func (s *Supervisor) Stop(within time.Duration) Report { return Report{} }

// Snapshot tells the state of every child, in start order, with their subtrees. It asks no actor: it loads
// atomics, so it answers even while everything hangs.
func (s *Supervisor) Snapshot() []stats.Child { return nil }

// History returns the last deaths in the whole tree, oldest first, also of children that are gone.
func (s *Supervisor) History() []stats.Death { return nil }

// Lookup finds a child by its name or its path below this supervisor.
func (s *Supervisor) Lookup(path string) (*Ref, bool) { return nil, false }

// Inject harms a child on purpose. It fails with ErrNoChaos unless Options.Chaos of the root was set.
func (s *Supervisor) Inject(path string, how Fault) error { return ErrNoChaos }
