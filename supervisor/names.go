package supervisor

import "github.com/asynkron/protoactor-go/actor"

// Names for the parts of an actor. They are protoactor's names, so that no other package has to import it. If another
// of its names is needed, add it here (docs/decisions/0072-protoactor-behind-the-supervisor.md).
type (
	// Actor is the value that a Spec makes: Receive gets one message at a time.
	Actor = actor.Actor
	// ReceiveFunc is an actor without state of its own.
	ReceiveFunc = actor.ReceiveFunc
	// Context is the argument of Receive: it has the message and the actor's logger, and the functions of this package
	// need it.
	Context = actor.Context

	// Started is the first message of an incarnation.
	Started = actor.Started
	// Stopping tells an incarnation to end.
	Stopping = actor.Stopping
	// Stopped is the last message of an incarnation.
	Stopped = actor.Stopped
	// Restarting replaces Stopping if protoactor restarts an actor. Under a supervisor that never happens.
	Restarting = actor.Restarting

	// PID names a process of protoactor. A Ref needs none.
	PID = actor.PID
	// System contains the actors of one process, see NewSystem.
	System = actor.ActorSystem
)

// RuntimeMessage tells the messages of protoactor from those of its users.
func RuntimeMessage(msg any) bool {
	switch msg.(type) {
	case actor.SystemMessage, actor.AutoReceiveMessage, actor.MailboxMessage, actor.InfrastructureMessage,
		*actor.ReceiveTimeout, *actor.DeadLetterResponse:
		return true
	}
	return false
}
