package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"brine/wire/payload"
	"brine/wire/transport"
)

// Options say where the master is and how long to wait. The zero value of a duration means Salt's default.
type Options struct {
	// Dial makes a connection to the request port. Each connection carries one request at a time.
	Dial     func() transport.RequestClient
	SockDir  string // option sock_dir of the master
	CacheDir string // option cachedir of the master, the folder of the key files
	IPCMode  string // option ipc_mode: with "tcp" the file publish_pull.ipc is not needed

	User     string // name sent with every request, see LoginName
	KeyOwner string // option user of the master; root and sudo users send this user's key; "" is root

	Timeout          time.Duration // option timeout, 5 s: one try of a request, and the first wait for returns
	GatherJobTimeout time.Duration // option gather_job_timeout, 10 s: the wait for the answers of find_job
	SyndicWait       time.Duration // option syndic_wait, 5 s
	OrderMasters     bool          // option order_masters: minions may appear below syndics
	Tries            int           // how often one request is sent, 3
	ExtJobCache      string        // option ext_job_cache: an additional returner for all jobs

	EventPub  string // address of the event bus to listen to; "": master_event_pub.ipc in SockDir
	EventPull string // address to fire events at; "": master_event_pull.ipc in SockDir

	Bus Bus // replaces the two sockets
	// Exchange sends one request and returns its reply; it replaces Dial. It is for a master that sends a request to
	// itself. The end of ctx ends it with the context's cause.
	Exchange func(ctx context.Context, frame []byte) ([]byte, error)
	Logger   *slog.Logger // nil: silent

	Gate Gate // called before each request; nil: all requests pass

	// Gone returns those of the given minions that cannot have received a job that was just published. The answer must
	// be certain, because the client does not wait for these minions. It may take its time. nil: nothing is known.
	Gone func(ctx context.Context, jid string, ids []string) []string
	// Standing returns the state of minions that have not returned a job in time, before the minions are asked. The
	// answer must be certain. It may take its time. nil: nothing is known.
	Standing func(ctx context.Context, jid string, ids []string) Standing
}

// Gate is called before a request is sent, and may delay it; done gets the result. An error of Gate is the result of
// the request.
type Gate func(ctx context.Context, load *payload.Map) (done func(reply any, err error), err error)

// Bus is the event bus of a master, for a tool on the same machine.
type Bus interface {
	// Subscribe opens a stream of all future events.
	Subscribe(ctx context.Context) (Events, error)
	// Push puts the body of one event on the bus.
	Push(ctx context.Context, body []byte) error
}

// Events is a stream of event bodies.
type Events interface {
	// Next waits for the next body.
	Next(ctx context.Context) ([]byte, error)
	// Close ends the stream, and a waiting Next.
	Close() error
}

// protocolVersion is the version in every clear request. Old masters treat it as 2.
const protocolVersion = 3

// idleRequesters is how many connections to the request port are kept for later.
const idleRequesters = 4

// Client talks to one master. It is safe for concurrent use.
type Client struct {
	opt Options
	log *slog.Logger

	sockets *socketBus // nil if Bus was given

	mu   sync.Mutex
	key  string
	idle []transport.RequestClient

	hubs sync.Mutex
	hub  *hub // the latest subscription to the bus; nil before the first
}

// New makes a Client and reads the key file. Without a readable one the key is empty, which is right for a user with a
// token or a password.
func New(opt Options) *Client {
	fill(&opt.Timeout, 5*time.Second)
	fill(&opt.GatherJobTimeout, 10*time.Second)
	fill(&opt.SyndicWait, 5*time.Second)
	fill(&opt.Tries, 3)
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Client{opt: opt, log: opt.Logger}
	if opt.Bus == nil {
		c.sockets = newSocketBus(opt)
		c.opt.Bus = c.sockets
	}
	c.key = c.readKey()
	return c
}

func fill[T comparable](v *T, fallback T) {
	var zero T
	if *v == zero {
		*v = fallback
	}
}

// Close closes the connections to the request port and to the pull socket. Open Runs end by themselves.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, q := range c.idle {
		errs = append(errs, q.Close())
	}
	c.idle = nil
	if c.sockets != nil {
		errs = append(errs, c.sockets.pusher.Close())
	}
	return errors.Join(errs...)
}

// MasterHere reports whether a master runs on this machine, by the file that Salt's tools look for. The error is
// ErrNoMaster.
func (c *Client) MasterHere() error {
	if c.opt.IPCMode == "tcp" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(c.opt.SockDir, "publish_pull.ipc")); err != nil {
		return fmt.Errorf("%w: %w", ErrNoMaster, err)
	}
	return nil
}

// Request sends one clear load and returns the reply value. It repeats a try that takes longer than timeout.
func (c *Client) Request(ctx context.Context, load *payload.Map, timeout time.Duration) (any, error) {
	if c.opt.Gate != nil {
		done, err := c.opt.Gate(ctx, load)
		if err != nil {
			return nil, err
		}
		reply, err := c.request(ctx, load, timeout)
		done(reply, err)
		return reply, err
	}
	return c.request(ctx, load, timeout)
}

func (c *Client) request(ctx context.Context, load *payload.Map, timeout time.Duration) (any, error) {
	frame, err := (&payload.Request{Enc: payload.EncClear, Load: load, Version: protocolVersion,
		// the client reads returns from the bus, or through the master's runners
		NoFiles: payload.Command(load) == payload.CmdPublish}).Encode()
	if err != nil {
		return nil, fmt.Errorf("pack %s request: %w", payload.Command(load), err)
	}
	reply, err := c.exchange(ctx, frame, timeout)
	if err != nil {
		return nil, fmt.Errorf("%s request: %w", payload.Command(load), err)
	}
	value, err := payload.Unmarshal(reply)
	if err != nil {
		return nil, fmt.Errorf("read reply to %s: %w", payload.Command(load), err)
	}
	return value, nil
}

func (c *Client) exchange(ctx context.Context, frame []byte, timeout time.Duration) ([]byte, error) {
	if c.opt.Exchange != nil {
		ctx, cancel := context.WithTimeoutCause(ctx, timeout, ErrTimeout)
		defer cancel()
		return c.opt.Exchange(ctx, frame)
	}
	q := c.takeRequester()
	defer c.giveRequester(q)
	for try := 1; ; try++ {
		tryCtx, cancel := context.WithTimeout(ctx, timeout)
		reply, err := q.Do(tryCtx, frame)
		cancel()
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !errors.Is(err, transport.ErrTimeout) {
			return nil, err
		}
		if try >= c.opt.Tries {
			return nil, fmt.Errorf("%w: %w (%d tries)", ErrTimeout, err, try)
		}
		c.log.Debug("request not answered, trying again", "try", try, "err", err)
	}
}

func (c *Client) takeRequester() transport.RequestClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		q := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return q
	}
	return c.opt.Dial()
}

func (c *Client) giveRequester(q transport.RequestClient) {
	c.mu.Lock()
	if len(c.idle) < idleRequesters {
		c.idle = append(c.idle, q)
		q = nil
	}
	c.mu.Unlock()
	if q != nil {
		_ = q.Close() // it is idle
	}
}
