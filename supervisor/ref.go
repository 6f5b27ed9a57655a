package supervisor

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"
)

// Why a message was lost. ErrCrashed wraps what the actor died of.
var (
	ErrCrashed     = errors.New("supervisor: the actor died of this message")
	ErrDropped     = errors.New("supervisor: the actor died before this message")
	ErrGone        = errors.New("supervisor: the actor has ended")
	ErrMailboxFull = errors.New("supervisor: mailbox is full")
	ErrAbandoned   = errors.New("supervisor: the actor hung on this message and was abandoned")
	ErrUnhandled   = errors.New("supervisor: the actor does not know this message")
)

// Ref addresses a child by name over all its incarnations. It owns the mailbox: a message sent while no
// incarnation lives waits there (Spec.Hold) for the next one.
type Ref struct{}

// Name is the child's name.
func (r *Ref) Name() string { return "" }

// Path is the child's name with those of its supervisors before it, joined by "/".
func (r *Ref) Path() string { return "" }

// Send puts a message in the child's mailbox. It never blocks. False means it was refused (mailbox full, child gone);
// Spec.OnLost and Loser have been told by then. An actor sends with supervisor.Send so that it is counted.
func (r *Ref) Send(msg any) bool { return false }

// Depth is the number of messages waiting, for admission control by the sender.
func (r *Ref) Depth() int { return 0 }

// PID is a process id that stays valid over incarnations; messages sent to it take the way of Send, a
// Stop sent to it kills the incarnation that lives.
func (r *Ref) PID() *actor.PID { return nil }

// Ready waits until an incarnation has handled its Started message.
func (r *Ref) Ready(ctx context.Context) error { return nil }
