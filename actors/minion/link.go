package minion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"brine/config"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// link is one master as the actors of its connection share it: the sign-in state and the request sockets. It
// outlives their restarts. Everything in it may be used by many goroutines.
type link struct {
	cfg    *config.Minion
	master config.MasterAddr
	auth   *auth.Minion
	log    *slog.Logger
	zctx   *zmq.Context

	authenticator *supervisor.Ref // told when a request shows that the session has ended
	subscriber    *supervisor.Ref
	sender        *supervisor.Ref // the ReturnSender
	pool          chan *zmq.Req   // idle request sockets
	address       atomic.Pointer[string]
	connected     atomic.Bool // the publish port is connected and the minion signed in
}

// requestSockets bounds the requests under way to one master. A socket is opened when all others are busy.
const requestSockets = 16

func newLink(cfg *config.Minion, master config.MasterAddr, a *auth.Minion, zctx *zmq.Context, log *slog.Logger) *link {
	l := &link{cfg: cfg, master: master, auth: a, zctx: zctx, log: log.With("master", master.Host), pool: make(chan *zmq.Req, requestSockets)}
	for range requestSockets {
		l.pool <- nil // a socket that is not open yet
	}
	return l
}

// name is the master in file names and actor names.
func (l *link) name() string {
	out := []byte(l.master.Host)
	for i, c := range out {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			out[i] = '_'
		}
	}
	return fmt.Sprintf("%s_%d", out, l.master.Port)
}

// errNoMaster means that no request got an answer within its tries.
var errNoMaster = errors.New("the master does not answer")

// exchange sends one frame and waits for its reply, on a socket of its own.
func (l *link) exchange(ctx context.Context, frame []byte) ([]byte, error) {
	var req *zmq.Req
	select {
	case req = <-l.pool:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	addr, err := l.resolve(ctx)
	if err != nil {
		l.pool <- req
		return nil, err
	}
	if req == nil {
		req = l.newReq(addr)
	}
	reply, err := req.Do(ctx, frame)
	if err != nil { // the next request asks for the address anew: the master may have moved
		_ = req.Close()
		req = nil
		l.address.Store(nil)
	}
	l.pool <- req
	return reply, err
}

func (l *link) newReq(addr string) *zmq.Req {
	c := l.cfg
	return zmq.NewReq(zmq.ReqOptions{
		Endpoint: zmq.ConnectEndpoint(addr, l.master.Port, c.SourceAddress, c.SourceRetPort), IPv6: c.IPv6, Keepalive: l.keepalive(),
		Context: l.zctx,
	})
}

func (l *link) keepalive() *zmq.Keepalive {
	k := &zmq.Keepalive{Idle: l.cfg.TCPKeepaliveIdle, Count: l.cfg.TCPKeepaliveCnt, Interval: l.cfg.TCPKeepaliveIntvl}
	if l.cfg.TCPKeepalive {
		k.On = 1
	}
	return k
}

// close closes the idle sockets; called when no actor of the connection lives any more.
func (l *link) close() {
	for range requestSockets {
		if req := <-l.pool; req != nil {
			_ = req.Close()
		}
	}
}

// request seals a load, sends it and opens the answer. A session that has ended is renewed once, then the load
// is sealed anew. tries attempts are made, each within timeout.
func (l *link) request(ctx context.Context, load *payload.Map, timeout time.Duration, tries int) (any, error) {
	return l.ask(ctx, load, timeout, tries, l.auth.Open)
}

// pillar asks for the pillar, whose answer is sealed to this minion's key alone.
func (l *link) pillar(ctx context.Context, load *payload.Map) (*payload.Map, error) {
	v, err := l.ask(ctx, load, l.cfg.RequestChannelTimeout, l.cfg.RequestChannelTries, func(reply []byte, nonce string) (any, error) {
		return l.auth.OpenPillar(reply, nonce)
	})
	m, _ := v.(*payload.Map)
	return m, err
}

type opener func(reply []byte, nonce string) (any, error)

func (l *link) ask(ctx context.Context, load *payload.Map, timeout time.Duration, tries int, open opener) (any, error) {
	renewed := false
	var last error
	for try := 0; try < max(1, tries); {
		v, err := l.askOnce(ctx, load, timeout, open)
		switch {
		case err == nil:
			return v, nil
		case errors.Is(err, auth.ErrReauth) || errors.Is(err, auth.ErrNotSignedIn):
			if renewed {
				return nil, fmt.Errorf("request %s: the master refuses the renewed session: %w", load.Str("cmd"), err)
			}
			renewed = true
			if err := l.renew(ctx); err != nil {
				return nil, err
			}
			continue
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !errors.Is(err, zmq.ErrTimeout):
			return nil, fmt.Errorf("request %s: %w", load.Str("cmd"), err)
		}
		last = err
		try++
	}
	return nil, fmt.Errorf("request %s: %w: %w", load.Str("cmd"), errNoMaster, last)
}

func (l *link) askOnce(ctx context.Context, load *payload.Map, timeout time.Duration, open opener) (any, error) {
	frame, nonce, err := l.auth.Seal(load)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	reply, err := l.exchange(ctx, frame)
	if err != nil {
		return nil, err
	}
	return open(reply, nonce)
}

// renew asks the Authenticator for a new session and waits for it.
func (l *link) renew(ctx context.Context) error {
	done := make(chan error, 1)
	l.authenticator.Send(&SignIn{Done: func(err error) {
		select {
		case done <- err:
		default:
		}
	}})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// returnTimeout is the time one attempt to deliver a return may take: a random value, so that a fleet does not
// come back at one moment.
func (l *link) returnTimeout() time.Duration {
	return between(l.cfg.ReturnRetryTimer, l.cfg.ReturnRetryTimerMax)
}

// between is a random duration from low to high.
func between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + rand.N(high-low)
}
