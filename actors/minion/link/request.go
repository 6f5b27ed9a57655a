package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/sealed"
)

// ErrNoMaster means that no request got an answer within its tries.
var ErrNoMaster = fmt.Errorf("the master does not answer: %w", loader.ErrRequestTimeout)

// Ask asks the master something. A session that has ended is renewed. tries attempts are made, each within timeout.
func (l *Link) Ask(ctx context.Context, load *payload.Map, timeout time.Duration, tries int) (any, error) {
	v, err := l.channel(nil).Ask(ctx, load, askRules(timeout, tries))
	return v, l.unanswered(err)
}

// AskIn is request for a large answer: what is long in it stands in room, or in memory of its own.
func (l *Link) AskIn(ctx context.Context, load *payload.Map, room []byte, beside payload.Beside,
	timeout time.Duration, tries int) (any, error) {
	c := l.channel(room)
	c.Beside = beside
	v, err := c.AskShared(ctx, load, askRules(timeout, tries))
	return v, l.unanswered(err)
}

// Pillar asks for the pillar.
func (l *Link) Pillar(ctx context.Context, load *payload.Map) (*payload.Map, error) {
	now := l.times.Load()
	m, err := l.channel(nil).AskPillar(ctx, load, askRules(now.RequestChannelTimeout, now.RequestChannelTries))
	return m, l.unanswered(err)
}

func (l *Link) channel(room []byte) *sealed.Channel {
	exchange := func(ctx context.Context, frame []byte) ([]byte, error) { return l.wire.Exchange(ctx, frame, room) }
	return &sealed.Channel{Session: l.auth, Exchange: exchange, Number: l.sessions.Load, Renew: l.Renew,
		Silence: ErrNoMaster, Clock: l.clock}
}

func askRules(timeout time.Duration, tries int) sealed.Rules {
	return sealed.Rules{Timeout: timeout, Tries: tries, Renewals: maxRenewals, Insist: true,
		Again: func(err error) bool { return errors.Is(err, ErrUnresolved) }}
}

// unanswered has the master looked for at another address when it does not answer.
func (l *Link) unanswered(err error) error {
	if errors.Is(err, ErrNoMaster) {
		l.subscriber.Send(&LookAgain{})
	}
	return err
}

// Renew asks the Authenticator for a session after the given one and waits for it.
func (l *Link) Renew(ctx context.Context, after int64) error {
	done := make(chan error, 1)
	l.authenticator.Send(&SignIn{After: after, Done: func(err error) {
		select {
		case done <- err:
		default: // told already
		}
	}})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
