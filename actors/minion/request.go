package minion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/sealed"
)

// errNoMaster means that no request got an answer within its tries.
var errNoMaster = fmt.Errorf("the master does not answer: %w", loader.ErrRequestTimeout)

// request asks the master something. A session that has ended is renewed. tries attempts are made, each within timeout.
func (l *link) request(ctx context.Context, load *payload.Map, timeout time.Duration, tries int) (any, error) {
	v, err := l.channel(nil).Ask(ctx, load, askRules(timeout, tries))
	return v, l.unanswered(err)
}

// requestIn is request for a large answer: what is long in it stands in room, or in memory of its own.
func (l *link) requestIn(ctx context.Context, load *payload.Map, room []byte, beside payload.Beside,
	timeout time.Duration, tries int) (any, error) {
	c := l.channel(room)
	c.Beside = beside
	v, err := c.AskShared(ctx, load, askRules(timeout, tries))
	return v, l.unanswered(err)
}

// pillar asks for the pillar.
func (l *link) pillar(ctx context.Context, load *payload.Map) (*payload.Map, error) {
	now := l.times.Load()
	m, err := l.channel(nil).AskPillar(ctx, load, askRules(now.requestChannelTimeout, now.requestChannelTries))
	return m, l.unanswered(err)
}

func (l *link) channel(room []byte) *sealed.Channel {
	exchange := func(ctx context.Context, frame []byte) ([]byte, error) { return l.wire.exchange(ctx, frame, room) }
	return &sealed.Channel{Session: l.auth, Exchange: exchange, Number: l.sessions.Load, Renew: l.renew,
		Silence: errNoMaster, Clock: l.clock}
}

func askRules(timeout time.Duration, tries int) sealed.Rules {
	return sealed.Rules{Timeout: timeout, Tries: tries, Renewals: maxRenewals, Insist: true,
		Again: func(err error) bool { return errors.Is(err, errUnresolved) }}
}

// unanswered has the master looked for at another address when it does not answer.
func (l *link) unanswered(err error) error {
	if errors.Is(err, errNoMaster) {
		l.subscriber.Send(&lookAgain{})
	}
	return err
}

// renew asks the Authenticator for a session after the given one and waits for it.
func (l *link) renew(ctx context.Context, after int64) error {
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
