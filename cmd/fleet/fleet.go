// Package fleet emulates many minions in one process: real sign-ins, real sockets, real returns, and functions
// that answer from memory. It is the load of brine's measurements, for a brine master or a real one; it is
// no minion (see actors/minion): nothing it does survives the process.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// Options describe a fleet.
type Options struct {
	Minions     int
	Prefix      string // ids are Prefix0001 and so on
	Host        string
	PublishPort int // 0: what the master says
	RetPort     int
	Key         *crypt.PrivateKey // one key for all: making a thousand takes minutes
	AtOnce      int               // sign-ins under way at the same time, default 32
	Answer      func(id string, load *payload.Map) any
}

// Counts is what a fleet has done so far.
type Counts struct {
	SignedIn int64 // minions with a session
	Up       int64 // minions connected to the publish port
	Jobs     int64 // publications meant for an emulated minion
	Returns  int64 // returns the master has acknowledged
	Failures int64 // sign-ins and returns that failed
}

// Fleet is a running emulation.
type Fleet struct {
	opt                                   Options
	ctx                                   context.Context
	zctx                                  *zmq.Context
	turn                                  chan struct{}
	wg                                    sync.WaitGroup
	signedIn, up, jobs, returns, failures atomic.Int64
	minions                               []*emulated
}

// emulated is one minion of a fleet.
type emulated struct {
	f    *Fleet
	id   string
	auth *auth.Minion
	req  *zmq.Req
	jobs chan *payload.Map
	sign sync.Mutex // one sign-in at a time
}

// memory is a TrustStore that forgets.
type memory struct{ key atomic.Pointer[string] }

func (m *memory) MasterKey() (string, error) {
	if k := m.key.Load(); k != nil {
		return *k, nil
	}
	return "", nil
}
func (m *memory) SetMasterKey(pub string) error { m.key.Store(&pub); return nil }
func (m *memory) SigningKey() (string, error)   { return "", nil }

// Start makes the minions and lets them sign in behind the caller's back. They work until ctx ends; then Wait.
func Start(ctx context.Context, opt Options) (*Fleet, error) {
	if opt.AtOnce == 0 {
		opt.AtOnce = 32
	}
	zctx, err := zmq.NewContext(1)
	if err != nil {
		return nil, err
	}
	f := &Fleet{opt: opt, ctx: ctx, zctx: zctx, turn: make(chan struct{}, opt.AtOnce)}
	for i := range opt.Minions {
		m, err := f.newMinion(fmt.Sprintf("%s%04d", opt.Prefix, i))
		if err != nil {
			return nil, errors.Join(err, zctx.Close())
		}
		f.minions = append(f.minions, m)
	}
	for _, m := range f.minions {
		f.wg.Go(m.live)
	}
	return f, nil
}

func (f *Fleet) newMinion(id string) (*emulated, error) {
	a, err := auth.NewMinion(auth.MinionOptions{ID: id, Key: f.opt.Key, Trust: &memory{}, AcceptanceWait: time.Second})
	if err != nil {
		return nil, err
	}
	return &emulated{f: f, id: id, auth: a, jobs: make(chan *payload.Map, 1024),
		req: zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint(f.opt.Host, f.opt.RetPort, "", 0), Context: f.zctx})}, nil
}

// Counts reads the counters.
func (f *Fleet) Counts() Counts {
	return Counts{SignedIn: f.signedIn.Load(), Up: f.up.Load(), Jobs: f.jobs.Load(), Returns: f.returns.Load(), Failures: f.failures.Load()}
}

// Wait blocks until every minion has ended and closes the sockets.
func (f *Fleet) Wait() error {
	f.wg.Wait()
	return f.zctx.Close()
}

// live signs in, subscribes and answers jobs until the fleet ends.
func (m *emulated) live() {
	defer func() { _ = m.req.Close() }()
	port, err := m.signIn()
	if err != nil {
		return // only the end of the fleet stops the attempts
	}
	m.f.signedIn.Add(1)
	if m.f.opt.PublishPort != 0 {
		port = m.f.opt.PublishPort
	}
	m.f.wg.Go(m.answer)
	sub := zmq.NewSub(zmq.SubOptions{
		Endpoint: zmq.ConnectEndpoint(m.f.opt.Host, port, "", 0), Identity: m.id, Context: m.f.zctx,
		ReconnectIvl: 200 * time.Millisecond, ReconnectIvlMax: 2 * time.Second,
		OnEvent: func(e zmq.Event) {
			switch e.Kind {
			case zmq.Connected:
				m.f.up.Add(1)
			case zmq.Disconnected:
				m.f.up.Add(-1)
			}
		},
	})
	if err := sub.Serve(m.f.ctx, m.onFrames); err != nil && m.f.ctx.Err() == nil {
		m.f.failures.Add(1)
	}
}

// signIn tries until the master accepts; the error is the end of the fleet.
func (m *emulated) signIn() (port int, err error) {
	m.sign.Lock()
	defer m.sign.Unlock()
	for {
		step, err := m.trySignIn()
		if err == nil && step.Verdict == auth.Accepted {
			return step.PublishPort, nil
		}
		if m.f.ctx.Err() != nil {
			return 0, context.Cause(m.f.ctx)
		}
		if step.Verdict != auth.Pending {
			m.f.failures.Add(1)
		}
		select {
		case <-time.After(time.Second):
		case <-m.f.ctx.Done():
			return 0, context.Cause(m.f.ctx)
		}
	}
}

func (m *emulated) trySignIn() (auth.Step, error) {
	select {
	case m.f.turn <- struct{}{}:
		defer func() { <-m.f.turn }()
	case <-m.f.ctx.Done():
		return auth.Step{}, context.Cause(m.f.ctx)
	}
	frame, err := m.auth.Request()
	if err != nil {
		return auth.Step{}, err
	}
	ctx, cancel := context.WithTimeout(m.f.ctx, 30*time.Second)
	defer cancel()
	reply, err := m.req.Do(ctx, frame)
	if err != nil {
		return m.auth.TimedOut(), err
	}
	return m.auth.Reply(reply), nil
}

// onFrames queues the job of a publication; it runs in the socket's goroutine.
func (m *emulated) onFrames(frames [][]byte) {
	frame := frames[len(frames)-1]
	load, err := m.auth.OpenPublication(frame)
	if errors.Is(err, auth.ErrReauth) {
		m.f.wg.Go(func() {
			if _, err := m.signIn(); err != nil {
				return
			}
			if load, err := m.auth.OpenPublication(frame); err == nil {
				m.queue(load)
			}
		})
		return
	}
	if err == nil {
		m.queue(load)
	}
}

func (m *emulated) queue(load *payload.Map) {
	if !m.meant(load) {
		return
	}
	m.f.jobs.Add(1)
	select {
	case m.jobs <- load:
	default:
		m.f.failures.Add(1)
	}
}

// meant knows the targets that measurements use: everybody, or a list.
func (m *emulated) meant(load *payload.Map) bool {
	if list, ok := load.Value("tgt").([]any); ok {
		for _, id := range list {
			if id == m.id {
				return true
			}
		}
		return false
	}
	tgt := load.Str("tgt")
	return tgt == "*" || tgt == m.id
}

// answer returns the queued jobs, one after another.
func (m *emulated) answer() {
	for {
		select {
		case load := <-m.jobs:
			if err := m.giveBack(load); err != nil && m.f.ctx.Err() == nil {
				m.f.failures.Add(1)
			}
		case <-m.f.ctx.Done():
			return
		}
	}
}

func (m *emulated) giveBack(load *payload.Map) error {
	var value any = true
	if m.f.opt.Answer != nil {
		value = m.f.opt.Answer(m.id, load)
	}
	ret := payload.M("cmd", payload.CmdReturn, "id", m.id, "jid", load.Value("jid"), "fun", load.Value("fun"),
		"fun_args", load.Value("arg"), "return", value, "retcode", int64(0), "success", true)
	return m.Request(ret)
}

// Request sends one load, renewing the session once when the master asks for it.
func (m *emulated) Request(load *payload.Map) error {
	for attempt := 0; ; attempt++ {
		frame, nonce, err := m.auth.Seal(load)
		if err == nil {
			err = m.exchange(frame, nonce)
		}
		if err == nil {
			m.f.returns.Add(1)
			return nil
		}
		if attempt > 0 || !errors.Is(err, auth.ErrReauth) {
			return err
		}
		if _, err := m.signIn(); err != nil {
			return err
		}
	}
}

func (m *emulated) exchange(frame []byte, nonce string) error {
	ctx, cancel := context.WithTimeout(m.f.ctx, 30*time.Second)
	defer cancel()
	reply, err := m.req.Do(ctx, frame)
	if err != nil {
		return err
	}
	_, err = m.auth.Open(reply, nonce)
	return err
}
