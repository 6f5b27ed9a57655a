package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"brine/supervisor/stats"
)

// incarnation is one life of a child: its context, mailbox, goroutines and subtree. The actor reaches it through a
// bound context, the core actor from outside.
type incarnation struct {
	sup     *Supervisor
	ref     *Ref
	n       int
	id      string // NAME#N, the last element of the actor's id
	ctx     context.Context
	cancel  context.CancelFunc
	mailbox *mailbox
	logger  atomic.Pointer[slog.Logger] // made at first use
	patient atomic.Int32                // running calls of Patiently

	abandoned chan struct{} // closed when the supervisor stops waiting
	hung      *stats.Slow   // for the core: the handler that was given up
	limit     time.Duration // for the core: the time limit of that handler

	mu      sync.Mutex
	nested  *Supervisor
	busy    map[string]int // goroutines of Go by name
	open    int            // the number of those goroutines that run
	left    bool           // running goroutines count as stuck
	onIdle  func()         // called once when open becomes 0
	expired bool           // no subtree may be made any more
}

func newIncarnation(s *Supervisor, ref *Ref, n int, id string) *incarnation {
	inc := &incarnation{sup: s, ref: ref, n: n, id: id, abandoned: make(chan struct{})}
	inc.ctx, inc.cancel = context.WithCancel(s.context())
	inc.mailbox = &mailbox{
		labels: pprof.WithLabels(context.Background(), pprof.Labels(labelActor, ref.path)),
		inbox:  &ref.inbox, lost: ref.lose, killed: ref.killedBy, last: inc.cancel, stuck: &ref.stats.Stuck,
		slow: int64(slowAfter(s.opt)), late: ref.late, n: n,
	}
	if !s.opt.Unmeasured {
		inc.mailbox.stats = ref.stats
	}
	return inc
}

func (inc *incarnation) log() *slog.Logger {
	if l := inc.logger.Load(); l != nil {
		return l
	}
	l := inc.sup.log.With("actor", inc.ref.path)
	inc.logger.Store(l)
	return l
}

// taskError is the failure of a goroutine of Go. It is sent to the actor and kills it.
type taskError struct {
	name  string
	err   error
	stack string
}

func (e *taskError) Error() string { return e.name + ": " + e.err.Error() }
func (e *taskError) Unwrap() error { return e.err }

// spawn runs f as described at Go.
func (inc *incarnation) spawn(name string, f func(context.Context) error) {
	inc.mu.Lock()
	if inc.busy == nil {
		inc.busy = make(map[string]int)
	}
	inc.busy[name]++
	inc.open++
	if inc.left {
		inc.ref.stats.Stuck.Add(1)
	}
	inc.mu.Unlock()
	go inc.task(name, f)
}

func (inc *incarnation) task(name string, f func(context.Context) error) {
	pprof.SetGoroutineLabels(inc.mailbox.labels)
	growStack()
	whole := false
	defer func() {
		if !whole {
			inc.fail(&taskError{name: name, err: asError(recover()), stack: trimStack(string(debug.Stack()))})
		}
		inc.ended(name)
	}()
	if err := f(inc.ctx); err != nil && inc.ctx.Err() == nil {
		inc.fail(&taskError{name: name, err: err})
	}
	whole = true
}

func asError(reason any) error {
	switch r := reason.(type) {
	case nil:
		return errGoexit
	case error:
		return r
	}
	return fmt.Errorf("%v", reason)
}

// fail kills the actor with err, from another goroutine.
func (inc *incarnation) fail(err error) { inc.mailbox.PostSystemMessage(&injected{err: err}) }

func (inc *incarnation) ended(name string) {
	inc.mu.Lock()
	inc.open--
	if inc.left {
		inc.ref.stats.Stuck.Add(-1)
	}
	if inc.busy[name]--; inc.busy[name] == 0 {
		delete(inc.busy, name)
	}
	var tell func()
	if inc.open == 0 {
		tell, inc.onIdle = inc.onIdle, nil
	}
	inc.mu.Unlock()
	if tell != nil {
		tell()
	}
}

// strand counts the running goroutines as stuck, each until it ends.
func (inc *incarnation) strand() {
	inc.mu.Lock()
	defer inc.mu.Unlock()
	if !inc.left {
		inc.left = true
		inc.ref.stats.Stuck.Add(int64(inc.open))
	}
}

// whenIdle calls f when no goroutine of Go is running.
func (inc *incarnation) whenIdle(f func()) {
	inc.mu.Lock()
	if inc.open > 0 {
		inc.onIdle = f
		inc.mu.Unlock()
		return
	}
	inc.mu.Unlock()
	f()
}

// tasks returns the names of the running goroutines.
func (inc *incarnation) tasks() []string {
	inc.mu.Lock()
	defer inc.mu.Unlock()
	names := make([]string, 0, len(inc.busy))
	for name := range inc.busy {
		names = append(names, name)
	}
	return names
}

// nest returns the subtree of this incarnation. If there is none, it makes it.
func (inc *incarnation) nest(opt Options) *Supervisor {
	inc.mu.Lock()
	defer inc.mu.Unlock()
	if inc.nested == nil {
		inc.nested = inc.sup.below(inc.ref, inc.ctx, opt)
		if inc.expired {
			inc.nested.close()
		} else {
			inc.ref.tree.Store(inc.nested)
		}
	}
	return inc.nested
}

// adopt makes a tree that outlives incarnations the subtree of this one.
func (inc *incarnation) adopt(tree *Supervisor) {
	inc.mu.Lock()
	inc.nested = tree
	inc.mu.Unlock()
	tree.revive(inc.ctx)
}

// subtree returns the subtree, and prevents that a new one is made.
func (inc *incarnation) subtree() *Supervisor {
	inc.mu.Lock()
	defer inc.mu.Unlock()
	inc.expired = true
	return inc.nested
}

func (inc *incarnation) isAbandoned() bool { return isClosed(inc.abandoned) }
