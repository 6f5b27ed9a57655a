package link

import (
	"context"

	"brine/supervisor"
)

// onCloseIntake ends the subscription. What has come before is still opened.
func (s *subscriber) onCloseIntake(ctx supervisor.Context, m *supervisor.CloseIntake) {
	s.closed = true
	if s.cancel == nil {
		m.Done()
		return
	}
	s.n++ // what becomes of the connection is no news
	s.cancel()
	done := s.done
	supervisor.Go(ctx, "intake", func(ctx context.Context) error {
		<-done
		m.Done()
		return nil
	})
}

// onCloseIntake ends the wait for another sign-in. One that a return needs is still made.
func (a *authenticator) onCloseIntake(m *supervisor.CloseIntake) {
	a.closed = true
	a.breakOff()
	m.Done()
}

// breakOff tells those who wait for a sign-in that will not be made any more.
func (a *authenticator) breakOff() {
	if a.closed && a.rests {
		a.busy, a.rests = false, false
		a.answer(errBrokenOff)
	}
}
