package returning

import (
	"context"
	"time"

	"brine/supervisor"
)

// after sends the actor a message when some time is over, unless it has ended by then.
func after(ctx supervisor.Context, d time.Duration, msg any) {
	self, life := supervisor.Self(ctx), supervisor.Lifetime(ctx)
	var unhook func() bool
	ready := make(chan struct{})
	timer := time.AfterFunc(d, func() {
		<-ready
		if unhook() {
			self.Send(msg)
		}
	})
	unhook = context.AfterFunc(life, func() { timer.Stop() })
	close(ready)
}
