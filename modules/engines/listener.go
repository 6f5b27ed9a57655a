package engines

import (
	"context"

	"brine/modules/outputters"
)

// listener writes all events to the log, at debug (salt/engines/test.py).
type listener struct{}

func newListener(*fields) Engine { return listener{} }

// Run listens.
func (listener) Run(ctx context.Context, s Surroundings) error {
	q := newQueue(nil)
	stop, err := s.Daemon.Listen(ctx, q.put)
	if err != nil {
		return err
	}
	defer stop()
	s.Log.Debug("test engine started")
	for {
		_, data, lost, err := q.next(ctx)
		if err != nil {
			return err
		}
		if lost > 0 {
			s.Log.Warn("events were not written to the log: they came too fast", "count", lost)
		}
		s.Log.Debug(outputters.JSON(data))
	}
}
