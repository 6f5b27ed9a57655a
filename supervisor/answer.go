package supervisor

import (
	"context"
	"fmt"
)

// question asks a core for a sign of life.
type question struct {
	quiet
	answer chan<- struct{}
}

// Answers waits until the supervisor at the root of the tree has handled all earlier messages. With it, an outside
// watchdog finds out whether actors that die would be restarted. Error: the context's, or ErrStopped.
func (s *Supervisor) Answers(ctx context.Context) error {
	answer := make(chan struct{})
	s.tell(&question{answer: answer})
	select {
	case <-answer:
		return nil
	case <-s.halted:
		return ErrStopped
	case <-ctx.Done():
		return fmt.Errorf("ask %s: %w", s.path, context.Cause(ctx))
	}
}
