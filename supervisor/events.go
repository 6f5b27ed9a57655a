package supervisor

import (
	"fmt"

	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// Events on the EventStream of the actor system, beside protoactor's own: an actor.SupervisorEvent for every failure,
// as its strategies publish them, and an actor.DeadLetterEvent for every message to a process that is not there.
// Subscribers run in the goroutine of the supervisor and must not block.
type (
	// ChildDied says that an incarnation has ended and nobody had asked for it, or that it had not ended well.
	ChildDied struct {
		PID        *PID // of the incarnation
		Death      stats.Death
		Restarting bool // another one follows
	}
	// ChildRestarted says that an incarnation has been started after another one.
	ChildRestarted struct {
		PID         *PID
		Path        string
		Incarnation int
	}
)

// publish puts an event on the stream. A subscriber that panics harms nobody else.
func (c *core) publish(event any) {
	defer func() {
		if r := recover(); r != nil {
			c.sup.log.Error("panic in a subscriber of the event stream", "type", typeName(event), "err", fmt.Sprint(r))
		}
	}()
	c.sup.system.EventStream.Publish(event)
}

// publishDeath tells the stream of a death, first in protoactor's own form if it was a failure.
func (c *core) publishDeath(rec *record, d stats.Death, restarting bool) {
	var reason any
	if cause := rec.inc.mailbox.cause.Load(); cause != nil {
		reason = cause.value
	} else if rec.inc.hung != nil || rec.inc.isAbandoned() {
		reason = fmt.Errorf("%w: %s", ErrAbandoned, d.Reason)
	}
	if reason != nil {
		directive := actor.StopDirective
		if restarting {
			directive = actor.RestartDirective
		}
		c.publish(&actor.SupervisorEvent{Child: rec.pid, Reason: reason, Directive: directive})
	}
	c.publish(&ChildDied{PID: rec.pid, Death: d, Restarting: restarting})
}
