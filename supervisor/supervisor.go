package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// Supervisor starts actors and restarts them when they die, with the rules of Salt's ProcessManager. All methods may be
// called from any goroutine and from inside any actor. Only Stop and Answers block.
type Supervisor struct {
	system     *System
	opt        Options // with defaults
	since      time.Time
	log        *slog.Logger
	path       string
	parent     *Supervisor // nil for a root
	owner      *Ref        // of a subtree made by Nest
	past       *history    // shared by the whole tree
	quarantine *quarantine // shared by all children; nil: each child has its own
	core       *PID
	nanos      func() int64

	frozen   atomic.Bool   // StopRestarting was called on this supervisor
	stopping atomic.Bool   // Stop was called
	reported chan struct{} // closed when the report of Stop is complete

	mu       sync.Mutex
	base     context.Context // parent of the children's contexts
	refs     map[string]*Ref
	seq      uint64
	closed   bool           // no more children can be added
	onHalted []func(Report) // called at the end of the next halt
	report   Report         // of the final halt
	halted   chan struct{}  // closed after the final halt
}

// Start makes the root supervisor of a daemon.
func Start(system *System, opt Options) *Supervisor {
	if opt.Logger == nil {
		opt.Logger = system.Logger()
	}
	s := newSupervisor(system, opt, opt.Name)
	s.past = newHistory(opt.HistoryFile, s.log)
	s.launch(context.Background(), false)
	return s
}

func newSupervisor(system *System, opt Options, path string) *Supervisor {
	opt = opt.withDefaults()
	s := &Supervisor{
		system: system, opt: opt, since: opt.Clock.Now(), log: opt.Logger, path: path, nanos: nanosOf(opt.Clock),
		refs: make(map[string]*Ref), halted: make(chan struct{}), reported: make(chan struct{}),
	}
	if opt.Pool {
		s.quarantine = new(quarantine)
	}
	return s
}

// launch starts the core actor. A resting tree starts its children when it is revived.
func (s *Supervisor) launch(base context.Context, resting bool) {
	s.base = base
	props := actor.PropsFromProducer(func() Actor {
		return newCore(s, resting)
	}, actor.WithSupervisor(alwaysStop{}))
	for s.core == nil {
		pid, err := s.system.Root.SpawnNamed(props, freeID(s.system, "", s.path))
		if err == nil { // otherwise the id was taken after freeID
			s.core = pid
		}
	}
	s.tell(&sweep{}) // the first sweep finds nothing and sets the timer for the next one
	if s.parent == nil && watchEvery(s.opt) > 0 {
		s.tell(&watch{})
	}
}

// below makes the supervisor of a subtree under ref.
func (s *Supervisor) below(ref *Ref, base context.Context, opt Options) *Supervisor {
	t := s.inherit(opt, ref.path)
	t.owner = ref
	t.launch(base, false)
	return t
}

// inherit makes a supervisor that takes options missing in opt from s.
func (s *Supervisor) inherit(opt Options, path string) *Supervisor {
	opt.Clock, opt.Chaos, opt.Unmeasured = s.opt.Clock, s.opt.Chaos, s.opt.Unmeasured
	if opt.Logger == nil {
		opt.Logger = s.opt.Logger
	}
	if opt.RestartDelayMax == 0 {
		opt.RestartDelayMax = s.opt.RestartDelayMax
	}
	if opt.WaitForKill == 0 {
		opt.WaitForKill = s.opt.WaitForKill
	}
	if opt.SweepEvery == 0 {
		opt.SweepEvery = s.opt.SweepEvery
	}
	if opt.SlowAfter == 0 {
		opt.SlowAfter = s.opt.SlowAfter
	}
	if opt.ComponentTimeout == 0 {
		opt.ComponentTimeout = s.opt.ComponentTimeout
	}
	if opt.WorkerTimeout == 0 {
		opt.WorkerTimeout = s.opt.WorkerTimeout
	}
	t := newSupervisor(s.system, opt, path)
	t.parent, t.past, t.nanos = s, s.past, s.nanos
	return t
}

// Add starts a child and adds it to the map, like ProcessManager.add_process. The actor starts asynchronously within
// microseconds; the Ref accepts messages at once. Errors: ErrNameTaken, ErrStopped, or an invalid Spec.
func (s *Supervisor) Add(spec Spec) (*Ref, error) {
	return s.enter(spec, nil)
}

// AddTree adds a child that is itself a supervisor and has no working actor. Its death (Restart, Inject) stops all its
// children and starts them again with the same Refs. For a subtree that belongs to a working actor use Nest.
func (s *Supervisor) AddTree(name string, opt Options) (*Supervisor, error) {
	tree := s.inherit(opt, s.path+"/"+name)
	spec := Spec{Name: name, New: func() Actor { return &group{tree: tree} }}
	if _, err := s.enter(spec, tree); err != nil {
		return nil, err
	}
	return tree, nil
}

func (s *Supervisor) enter(spec Spec, tree *Supervisor) (*Ref, error) {
	if spec.Name == "" || strings.ContainsAny(spec.Name, "/#") || spec.New == nil {
		return nil, fmt.Errorf("supervisor: child %q: a name without / and #, and New, must be given", spec.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("add %s: %w", spec.Name, ErrStopped)
	}
	if _, taken := s.refs[spec.Name]; taken {
		return nil, fmt.Errorf("add %s: %w", spec.Name, ErrNameTaken)
	}
	if spec.Ref != nil && spec.Ref.sup != nil {
		return nil, fmt.Errorf("supervisor: child %q: its Ref is another one's", spec.Name)
	}
	if tree != nil {
		tree.launch(context.Background(), true)
	}
	s.seq++
	ref := newRef(s, spec, s.seq, tree)
	s.refs[spec.Name] = ref
	s.tell(&post{ref: ref, ev: event{kind: evAdd}})
	return ref, nil
}

// Done says that a child has finished its work. The child is stopped if it has not ended, and it is removed instead of
// restarted. Its context is cancelled, so a job must call Done last. An unknown name is ignored.
func (s *Supervisor) Done(name string) {
	if ref, ok := s.Lookup(name); ok {
		ref.sup.tell(&post{ref: ref, ev: event{kind: evDone}})
	}
}

// Restart ends a child and starts it again at once, without back-off. A child that does not end within its StopTimeout
// is abandoned, and its successor starts. The name may be a path below this supervisor.
func (s *Supervisor) Restart(name string) error {
	ref, ok := s.Lookup(name)
	if !ok {
		return fmt.Errorf("restart %s: %w", name, ErrUnknown)
	}
	ref.sup.tell(&post{ref: ref, ev: event{kind: evRestart}})
	return nil
}

// StopRestarting ends all restarts in this tree (ProcessManager.stop_restarting).
func (s *Supervisor) StopRestarting() { s.frozen.Store(true) }

// Broadcast sends msg to every child (ProcessManager.send_signal_to_processes) and returns how many have accepted it. A
// dead child gets it in its next incarnation.
func (s *Supervisor) Broadcast(msg any) (took int) {
	for _, ref := range s.children() {
		if ref.Send(msg) {
			took++
		}
	}
	return took
}

// restarting is false after StopRestarting on this supervisor or one above it.
func (s *Supervisor) restarting() bool {
	for ; s != nil; s = s.parent {
		if s.frozen.Load() {
			return false
		}
	}
	return true
}

// Stop ends the tree like ProcessManager.kill_children: restarts end, and children are stopped in reverse order of
// their start; the context of each is cancelled first. If children ask for it (Spec.Intake, Spec.Store), Stop first
// closes the intake, drains the mailboxes and flushes the stores, in at most half of the time. In the first half of the
// remaining time it keeps the order. Then it stops all remaining children at once, and at the deadline it abandons
// those that have not ended. Stop blocks until then, and must not be called from an actor of the same tree. A second
// call waits for the first.
func (s *Supervisor) Stop(within time.Duration) Report {
	first := s.stopping.CompareAndSwap(false, true)
	if first {
		began := s.opt.Clock.Now()
		s.frozen.Store(true)
		phases := s.phases(within)
		spent := s.opt.Clock.Now().Sub(began)
		s.halt(true, max(within-spent, 0), func(Report) {})
		<-s.halted
		s.mu.Lock()
		s.report.Phases = phases
		s.report.Took += spent
		s.mu.Unlock()
		s.past.flush()
		close(s.reported)
	}
	<-s.reported
	return s.report
}

// halt stops the children, for good or to be revived. It calls done afterwards, in any goroutine.
func (s *Supervisor) halt(final bool, within time.Duration, done func(Report)) {
	s.mu.Lock()
	select {
	case <-s.halted:
		s.mu.Unlock()
		done(s.report)
		return
	default:
	}
	s.closed = s.closed || final
	s.onHalted = append(s.onHalted, done)
	s.tell(&haltTree{final: final, within: within})
	s.mu.Unlock()
}

// close ends a tree without giving it time.
func (s *Supervisor) close() { s.halt(true, 0, func(Report) {}) }

// revive starts the children of a resting tree.
func (s *Supervisor) revive(base context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = base
	s.tell(&reviveTree{})
}

func (s *Supervisor) context() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base
}

// Snapshot returns the state of every child, in start order, with their subtrees. It only reads memory and sends no
// message to an actor, so it works even if all actors hang.
func (s *Supervisor) Snapshot() []stats.Child {
	refs := s.children()
	out := make([]stats.Child, len(refs))
	for i, ref := range refs {
		out[i] = ref.Snapshot()
	}
	return out
}

// Look is the snapshot of the child at a path, with or without the root's name before it. "" or the root's name alone
// is the whole tree, as one child. Error: ErrUnknown.
func (s *Supervisor) Look(path string) (stats.Child, error) {
	path = strings.TrimPrefix(path, s.path+"/")
	if path == "" || path == s.path {
		return stats.Child{Name: s.path, Path: s.path, State: stats.StateRunning, Since: s.since, Incarnation: 1,
			Children: s.Snapshot()}, nil
	}
	ref, ok := s.Lookup(path)
	if !ok {
		return stats.Child{}, fmt.Errorf("%s: %w", path, ErrUnknown)
	}
	return ref.Snapshot(), nil
}

// children are the refs in start order.
func (s *Supervisor) children() []*Ref {
	s.mu.Lock()
	refs := make([]*Ref, 0, len(s.refs))
	for _, ref := range s.refs {
		refs = append(refs, ref)
	}
	s.mu.Unlock()
	slices.SortFunc(refs, func(a, b *Ref) int { return int(a.seq) - int(b.seq) })
	return refs
}

// History returns the last deaths in the whole tree, oldest first, including those of removed children.
func (s *Supervisor) History() []stats.Death { return s.past.list() }

// Remember adds a death that this tree did not see to the history, such as that of the previous process.
func (s *Supervisor) Remember(d stats.Death) { s.past.insert(d) }

// DeadLetters is DeadLetters of the tree's system.
func (s *Supervisor) DeadLetters() uint64 { return DeadLetters(s.system) }

// Name is the first element of every path in the tree, or the whole path of a subtree.
func (s *Supervisor) Name() string { return s.path }

// Strays counts the deaths in the whole tree that belonged to no living child, such as the late end of an abandoned
// one.
func (s *Supervisor) Strays() uint64 { return s.past.strays.Load() }

// Lookup finds a child by its name or its path below this supervisor.
func (s *Supervisor) Lookup(path string) (*Ref, bool) {
	name, rest, deeper := strings.Cut(path, "/")
	s.mu.Lock()
	ref, ok := s.refs[name]
	s.mu.Unlock()
	if !ok || !deeper {
		return ref, ok
	}
	if tree := ref.tree.Load(); tree != nil {
		return tree.Lookup(rest)
	}
	return nil, false
}

// Inject deliberately harms a child; the fault overtakes its waiting messages. It fails with ErrNoChaos unless
// Options.Chaos of the root is set.
func (s *Supervisor) Inject(path string, how Fault) error {
	ref, ok := s.Lookup(path)
	switch {
	case !s.opt.Chaos:
		return ErrNoChaos
	case !ok:
		return fmt.Errorf("harm %s: %w", path, ErrUnknown)
	case how != FaultPanic && how != FaultExit && how != FaultHang:
		return fmt.Errorf("harm %s: unknown fault %q", path, how)
	}
	if m := ref.inbox.cur.Load(); m != nil {
		m.PostSystemMessage(&injected{how: how})
		return nil
	}
	return fmt.Errorf("harm %s: %w", path, ErrGone)
}

// forget removes a child from the map, and its name is free again. The child is closed first: when the name is free,
// the child accepts no more messages, which would be lost.
func (s *Supervisor) forget(ref *Ref) {
	waiting := ref.close()
	s.mu.Lock()
	if s.refs[ref.spec.Name] == ref {
		delete(s.refs, ref.spec.Name)
	}
	s.mu.Unlock()
	for _, it := range waiting { // only now, because the code that handles a loss may use the name
		ref.lose(it.msg, ErrGone)
	}
}

// haltOver must be called by the core at the end of a halt.
func (s *Supervisor) haltOver(final bool, report Report) {
	s.mu.Lock()
	told := s.onHalted
	s.onHalted = nil
	if final {
		s.report = report
		close(s.halted)
	}
	s.mu.Unlock()
	for _, f := range told {
		f(report)
	}
}

// bury reports a death to the history and to the options of all supervisors above.
func (s *Supervisor) bury(d stats.Death) {
	s.past.add(d)
	for ; s != nil; s = s.parent {
		if s.opt.OnDeath != nil {
			s.opt.OnDeath(d)
		}
	}
}

func (s *Supervisor) tell(msg any) { s.system.Root.Send(s.core, msg) }
