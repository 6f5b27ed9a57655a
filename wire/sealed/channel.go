// Package sealed sends requests to a master within the session of a minion: it seals a load, sends it, and opens the
// answer. It signs in again when the session has ended, and tries again when no answer comes. It holds no socket and
// makes no session (see wire/zmq, wire/auth), and does not know what a request means. Minions, emulated minions and
// salt-call use it. Answers to salt/channel/client.py, AsyncReqChannel.
package sealed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/transport"
)

// ErrSilence means that no try got an answer.
var ErrSilence = errors.New("the master does not answer")

// Session seals loads and opens the answers. An *auth.Minion is one.
type Session interface {
	Seal(load *payload.Map) (frame []byte, nonce string, err error)
	Open(reply []byte, nonce string) (any, error)
	OpenPillar(reply []byte, nonce string) (*payload.Map, error)
}

// Channel is the way to one master. Goroutines may use it concurrently if its functions allow that.
type Channel struct {
	Session Session
	// Exchange sends one frame and waits for its reply until ctx ends (transport.ErrTimeout, or the cause).
	Exchange func(ctx context.Context, frame []byte) ([]byte, error)
	// Number returns the number of the current session; nil: sessions have no numbers. Renew waits for a session with a
	// later number. Without Renew a request fails when its session has ended (auth.ErrReauth).
	Number func() int64
	Renew  func(ctx context.Context, after int64) error
	// Silence is wrapped in the error of a request that got no answer in any of its tries; default: ErrSilence.
	Silence error
	Clock   Clock // default: the real one
	// Beside runs while a shared answer is opened; may be nil.
	Beside payload.Beside
}

// Rules say how often a request is tried.
type Rules struct {
	Timeout  time.Duration // of one try; 0: Exchange has its own limit
	Tries    int           // that may stay without an answer; at least one try is made
	Pause    time.Duration // between tries
	Renewals int           // of the session, for one request
	// Again reports whether an error of Exchange allows another try. transport.ErrTimeout always does; nil: no other.
	Again func(error) bool
	// Insist repeats the attempt within a try when its connection ends before the answer. It is for requests that may
	// arrive twice.
	Insist bool
}

// Ask sends a request to the master.
func (c *Channel) Ask(ctx context.Context, load *payload.Map, r Rules) (any, error) {
	return c.ask(ctx, load, r, c.Session.Seal, c.Session.Open)
}

// AskPillar requests a pillar, whose answer is sealed to the key of the minion alone.
func (c *Channel) AskPillar(ctx context.Context, load *payload.Map, r Rules) (*payload.Map, error) {
	v, err := c.ask(ctx, load, r, c.Session.Seal, func(reply []byte, nonce string) (any, error) {
		return c.Session.OpenPillar(reply, nonce)
	})
	m, _ := v.(*payload.Map)
	return m, err
}

// AskShared is Ask for large answers that are soon discarded: long values in the answer share the memory of the frame
// that Exchange has returned. If Session has no OpenShared, it is Ask.
func (c *Channel) AskShared(ctx context.Context, load *payload.Map, r Rules) (any, error) {
	if s, ok := c.Session.(sharer); ok {
		return c.ask(ctx, load, r, s.SealShared, func(reply []byte, nonce string) (any, error) {
			return s.OpenShared(reply, nonce, c.Beside)
		})
	}
	return c.Ask(ctx, load, r)
}

type sharer interface {
	SealShared(load *payload.Map) (frame []byte, nonce string, err error)
	OpenShared(reply []byte, nonce string, beside payload.Beside) (any, error)
}

type (
	sealer func(load *payload.Map) (frame []byte, nonce string, err error)
	opener func(reply []byte, nonce string) (any, error)
)

// ask makes the tries. Each error but the cause of ctx names the request.
func (c *Channel) ask(ctx context.Context, load *payload.Map, r Rules, seal sealer, open opener) (any, error) {
	cmd, renewals := payload.Command(load), 0
	var last error
	for try := 0; try < max(1, r.Tries); {
		number := c.number()
		v, err := c.once(ctx, load, r, seal, open)
		switch {
		case err == nil:
			return v, nil
		case c.Renew != nil && (errors.Is(err, auth.ErrReauth) || errors.Is(err, auth.ErrNotSignedIn)):
			if renewals >= r.Renewals {
				return nil, fmt.Errorf("request %s: the master refuses the renewed session: %w", cmd, err)
			}
			renewals++
			if err := c.Renew(ctx, number); err != nil {
				return nil, fmt.Errorf("request %s: %w", cmd, err)
			}
			continue
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.Is(err, transport.ErrTimeout) && (r.Again == nil || !r.Again(err)):
			return nil, fmt.Errorf("request %s: %w", cmd, err)
		}
		last = err
		if try++; try < r.Tries && !rest(ctx, c.clock(), r.Pause) {
			return nil, context.Cause(ctx)
		}
	}
	return nil, fmt.Errorf("request %s: %w: %w", cmd, c.silence(), last)
}

// once makes one try.
func (c *Channel) once(ctx context.Context, load *payload.Map, r Rules, seal sealer, open opener) (any, error) {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	var nonce string
	attempt := func(ctx context.Context) ([]byte, error) {
		frame, fresh, err := seal(load) // sealed again for each attempt: no nonce is sent twice
		if err != nil {
			return nil, err
		}
		nonce = fresh
		return c.Exchange(ctx, frame)
	}
	var reply []byte
	var err error
	if r.Insist && repeatable(load) {
		reply, err = Insist(ctx, c.clock(), attempt)
	} else {
		reply, err = attempt(ctx)
	}
	if err != nil {
		return nil, err
	}
	return open(reply, nonce)
}

func (c *Channel) number() int64 {
	if c.Number == nil {
		return 0
	}
	return c.Number()
}

func (c *Channel) silence() error {
	if c.Silence == nil {
		return ErrSilence
	}
	return c.Silence
}

func (c *Channel) clock() Clock {
	if c.Clock == nil {
		return realClock{}
	}
	return c.Clock
}
