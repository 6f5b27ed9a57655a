package minion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/modules"
	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// errNoMaster means that no request got an answer within its tries.
var errNoMaster = fmt.Errorf("the master does not answer: %w", modules.ErrRequestTimeout)

// request seals a load, sends it and opens the answer. A session that has ended is renewed, then the load is
// sealed anew. tries attempts are made, each within timeout.
func (l *link) request(ctx context.Context, load *payload.Map, timeout time.Duration, tries int) (any, error) {
	return l.ask(ctx, load, timeout, tries, l.auth.Open)
}

// pillar asks for the pillar, whose answer is sealed to this minion's key alone.
func (l *link) pillar(ctx context.Context, load *payload.Map) (*payload.Map, error) {
	now := l.times.Load()
	v, err := l.ask(ctx, load, now.requestChannelTimeout, now.requestChannelTries, func(reply []byte, nonce string) (any, error) {
		return l.auth.OpenPillar(reply, nonce)
	})
	m, _ := v.(*payload.Map)
	return m, err
}

type opener func(reply []byte, nonce string) (any, error)

func (l *link) ask(ctx context.Context, load *payload.Map, timeout time.Duration, tries int, open opener) (any, error) {
	renewals := 0
	var last error
	for try := 0; try < max(1, tries); {
		session := l.sessions.Load()
		v, err := l.askOnce(ctx, load, timeout, open)
		switch {
		case err == nil:
			return v, nil
		case errors.Is(err, auth.ErrReauth) || errors.Is(err, auth.ErrNotSignedIn):
			if renewals >= maxRenewals {
				return nil, fmt.Errorf("request %s: the master refuses the renewed session: %w", load.Str("cmd"), err)
			}
			renewals++
			if err := l.renew(ctx, session); err != nil {
				return nil, fmt.Errorf("request %s: %w", load.Str("cmd"), err)
			}
			continue
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.Is(err, zmq.ErrTimeout) && !errors.Is(err, errUnresolved):
			return nil, fmt.Errorf("request %s: %w", load.Str("cmd"), err)
		}
		last = err
		try++
	}
	l.subscriber.Send(&lookAgain{})
	return nil, fmt.Errorf("request %s: %w: %w", load.Str("cmd"), errNoMaster, last)
}

// askOnce makes one attempt. A load that may be sent twice is, as soon as the connection has ended before the answer.
func (l *link) askOnce(ctx context.Context, load *payload.Map, timeout time.Duration, open opener) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var nonce string
	attempt := func(ctx context.Context) ([]byte, error) {
		frame, fresh, err := l.auth.Seal(load) // anew each time: no nonce goes out twice
		if err != nil {
			return nil, err
		}
		nonce = fresh
		return l.wire.exchange(ctx, frame)
	}
	var reply []byte
	var err error
	if repeatable(load) {
		reply, err = insist(ctx, l.clock, attempt)
	} else {
		reply, err = attempt(ctx)
	}
	if err != nil {
		return nil, err
	}
	return open(reply, nonce)
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
