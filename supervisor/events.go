package supervisor

import (
	"fmt"

	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// Events on the EventStream of the actor system. Besides, there are protoactor's own: an actor.SupervisorEvent for
// every failure, as protoactor's strategies publish it, and an actor.DeadLetterEvent for every message to a missing
// process. Subscribers run in the supervisor's goroutine and must not block.
type (
	// ChildDied says that an incarnation has ended, although nobody requested it or not in a normal way.
	ChildDied struct {
		PID        *PID // of the incarnation
		Death      stats.Death
		Restarting bool // another incarnation follows
	}
	// ChildRestarted says that an incarnation was started after another one.
	ChildRestarted struct {
		PID         *PID
		Path        string
		Incarnation int
	}
)

// publish publishes an event. If a subscriber panics, nothing else is affected.
func (c *core) publish(event any) {
	defer func() {
		if r := recover(); r != nil {
			c.sup.log.Error("panic in a subscriber of the event stream", "type", typeName(event), "err", fmt.Sprint(r))
		}
	}()
	c.sup.system.EventStream.Publish(event)
}

// publishDeath publishes a death. A failure is published in protoactor's own form first.
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
