package supervisor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// Reasons why a message was lost. ErrCrashed wraps the cause of the actor's death. A lost message is not handled later,
// with one exception: an abandoned handler may still finish after ErrAbandoned was reported.
var (
	ErrCrashed     = errors.New("supervisor: the actor died of this message")
	ErrDropped     = errors.New("supervisor: the actor died before this message")
	ErrGone        = errors.New("supervisor: the actor has ended")
	ErrMailboxFull = errors.New("supervisor: mailbox is full")
	ErrAbandoned   = errors.New("supervisor: the actor hung on this message and was abandoned")
	ErrUnhandled   = errors.New("supervisor: the actor does not know this message")
	ErrQuarantined = errors.New("supervisor: the actor died of this message twice")
)

// kindOf returns the kind of loss for the counters.
func kindOf(why error) stats.Loss {
	for _, k := range []struct {
		err  error
		kind stats.Loss
	}{
		{ErrCrashed, stats.LossCrashed}, {ErrDropped, stats.LossDropped}, {ErrMailboxFull, stats.LossFull},
		{ErrAbandoned, stats.LossAbandoned}, {ErrUnhandled, stats.LossUnhandled},
		{ErrQuarantined, stats.LossQuarantined},
	} {
		if errors.Is(why, k.err) {
			return k.kind
		}
	}
	return stats.LossGone
}

// Ref addresses a child by name over all its incarnations. It owns the mailbox: while no incarnation lives, messages
// wait there (Spec.Hold) for the next one.
type Ref struct {
	spec     Spec
	sup      *Supervisor
	path     string
	seq      uint64      // order of start
	group    *Supervisor // set for a child made by AddTree
	inbox    inbox
	stats    *stats.Counters
	received uint64 // by its predecessors, see carryover

	// reported is the start of the last slow handler that was reported.
	reported atomic.Int64
	sight    sight

	tree   atomic.Pointer[Supervisor]  // subtree of the living incarnation
	living atomic.Pointer[incarnation] // the last one that was started

	mu    sync.Mutex
	face  face
	pid   *PID
	ready chan struct{} // closed when face.begun or face.ended, nil without waiters
	// carried holds the carryovers of its last subtree's children, until the next subtree takes them.
	carried map[string]*carryover
}

// NewRef makes the Ref of a child that is added later, with this Ref in its Spec. Until then its messages are lost, and
// it must not be used concurrently with Add.
func NewRef() *Ref { return new(Ref) }

func newRef(s *Supervisor, spec Spec, seq uint64, group *Supervisor) *Ref {
	if spec.Hold <= 0 {
		spec.Hold = DefaultHold
	}
	if spec.StopTimeout <= 0 {
		spec.StopTimeout = s.opt.WaitForKill
	}
	if spec.WorkerTimeout == 0 {
		spec.WorkerTimeout = s.opt.WorkerTimeout
	}
	r := spec.Ref
	if r == nil {
		r = NewRef()
	}
	r.spec, r.sup, r.path, r.seq, r.group = spec, s, s.path+"/"+spec.Name, seq, group
	r.stats = new(stats.Counters)
	r.inbox.limit, r.inbox.hold, r.inbox.nanos, r.inbox.quarantine = spec.Limit, spec.Hold, s.nanos, s.quarantine
	if r.inbox.quarantine == nil {
		r.inbox.quarantine = new(quarantine)
	}
	if e := s.takeCarryover(spec.Name); e != nil {
		r.inherit(e)
	}
	r.tree.Store(group)
	r.face.state, r.face.since = stats.StateStarting, s.opt.Clock.Now()
	r.face.samples[0].at = s.nanos()
	r.face.samples[1].at = r.face.samples[0].at
	return r
}

// Name is the child's name.
func (r *Ref) Name() string { return r.spec.Name }

// Path is the path of the child: the names of its supervisors and its own, joined by "/".
func (r *Ref) Path() string { return r.path }

// Send puts a message into the child's mailbox. It never blocks. It returns false if the message was refused (mailbox
// full, child gone, nil message); Spec.OnLost and Loser have then been called. An actor sends with supervisor.Send, so
// that the message is counted.
func (r *Ref) Send(msg any) bool {
	if r.sup == nil {
		if loser, ok := msg.(Loser); ok {
			loser.Lost(ErrGone)
		}
		return false
	}
	err := ErrUnhandled
	if msg != nil {
		err = r.inbox.push(msg)
	}
	if err != nil {
		r.lose(msg, err)
	}
	return err == nil
}

// SendEvery sends a message every interval until ctx ends.
func (r *Ref) SendEvery(ctx context.Context, every time.Duration, msg any) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			r.Send(msg)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Depth is the number of waiting messages, for admission control by the sender.
func (r *Ref) Depth() int { return r.inbox.depth() }

// PID is a process id that stays valid over incarnations. Messages to it are delivered like those of Send. A Stop kills
// the living incarnation. When the child is gone, messages become dead letters.
func (r *Ref) PID() *PID {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pid == nil {
		r.pid = register(r.sup.system, process{r}, r.path)
	}
	return r.pid
}

// Ready waits until an incarnation has handled its Started message. Errors: ErrGone, or the context's.
func (r *Ref) Ready(ctx context.Context) error {
	wait := r.waiter()
	select {
	case <-wait:
	case <-ctx.Done():
		return fmt.Errorf("wait for %s: %w", r.path, context.Cause(ctx))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.face.begun {
		return fmt.Errorf("wait for %s: %w", r.path, ErrGone)
	}
	return nil
}

func (r *Ref) waiter() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready == nil {
		r.ready = make(chan struct{})
		if r.face.begun || r.face.ended {
			close(r.ready)
		}
	}
	return r.ready
}

// lose reports that no incarnation will finish handling msg.
func (r *Ref) lose(msg any, why error) {
	envelope, _ := msg.(*actor.MessageEnvelope)
	msg = unwrap(msg)
	if RuntimeMessage(msg) {
		return
	}
	r.stats.Lost[kindOf(why)].Add(1)
	if envelope != nil && envelope.Sender != nil {
		defer r.refuse(envelope.Sender, why)
	}
	defer func() {
		if p := recover(); p != nil {
			r.sup.log.Error("panic in a loss hook", "actor", r.path, "type", typeName(msg), "err", fmt.Sprint(p))
		}
	}()
	loser, ok := msg.(Loser)
	if ok {
		loser.Lost(why)
	}
	if r.spec.OnLost != nil {
		r.spec.OnLost(msg, why)
		return
	}
	if !ok {
		r.sup.log.Debug("message lost", "actor", r.path, "type", typeName(msg), "err", why)
	}
}

// refuse tells the sender of a request that no answer will come: an Ask ends with why, an actor gets a
// DeadLetterResponse as from a missing process.
func (r *Ref) refuse(sender *PID, why error) {
	system := r.sup.system
	if p, ok := system.ProcessRegistry.GetLocal(sender.Id); ok {
		if a, asks := p.(*asker); asks {
			a.refused(why)
			return
		}
	}
	system.Root.Send(sender, &actor.DeadLetterResponse{Target: system.NewLocalPID(r.path)})
}

// close refuses later messages, and returns the waiting ones.
func (r *Ref) close() []item {
	r.mu.Lock()
	pid := r.pid
	r.mu.Unlock()
	if pid != nil {
		r.sup.system.ProcessRegistry.Remove(pid)
	}
	return r.inbox.drain(true)
}

// process represents a Ref to protoactor.
type process struct{ r *Ref }

func (p process) SendUserMessage(_ *PID, msg any) { p.r.Send(msg) }

func (p process) SendSystemMessage(pid *PID, msg any) {
	if m := p.r.inbox.cur.Load(); m != nil {
		m.PostSystemMessage(msg)
		return
	}
	p.r.sup.system.DeadLetter.SendSystemMessage(pid, msg)
}

func (p process) Stop(*PID) { p.r.sup.tell(&post{ref: p.r, ev: event{kind: evKill}}) }
