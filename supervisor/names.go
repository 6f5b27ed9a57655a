package supervisor

import "github.com/asynkron/protoactor-go/actor"

// What an actor is made of. The names are protoactor's, so that no other package has to import it; whoever needs
// another of its names adds it here (docs/decisions/0072-protoactor-behind-the-supervisor.md).
type (
	// Actor is what a Spec makes: Receive gets one message at a time.
	Actor = actor.Actor
	// ReceiveFunc is an actor without a state of its own.
	ReceiveFunc = actor.ReceiveFunc
	// Context is what Receive gets: the message, the actor's logger, and what the functions of this package ask for.
	Context = actor.Context

	// Started is the first message of an incarnation.
	Started = actor.Started
	// Stopping comes when it is to end.
	Stopping = actor.Stopping
	// Stopped is the last one.
	Stopped = actor.Stopped
	// Restarting comes in place of Stopping where protoactor restarts an actor, which under a supervisor it never does.
	Restarting = actor.Restarting

	// PID names a process of protoactor's. Who sends to a Ref needs none.
	PID = actor.PID
	// System is what the actors of one process live in, see NewSystem.
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
