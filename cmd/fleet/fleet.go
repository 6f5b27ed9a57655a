// Package fleet emulates many minions in one process: real sign-ins, real sockets, real returns, and functions
// that answer from memory. It produces the load for measurements of a brine master or a real one. It is no real
// minion (see actors/minion): nothing survives the process.
//
// Every minion has its own id and session. Minions share resources that would cost only this process: some
// dozens of minions listen on one connection to the publish port, all of them use a few connections to the
// request port in turn, and each publication is opened once.
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

// Options describes a fleet.
type Options struct {
	Minions     int
	Prefix      string // ids are Prefix0000 and so on
	Host        string
	PublishPort int // 0: the master's answer gives it
	RetPort     int
	Key         *crypt.PrivateKey // one key for all minions, because making a thousand takes minutes
	Version     int               // 2: the protocol without session keys; 0: the newest
	AtOnce      int               // sign-ins in progress at the same time, default 32
	PerSub      int               // minions on one connection to the publish port, default 50
	Requests    int               // connections to the request port, default 64: requests in progress at the same time
	Answer      func(id string, load *payload.Map) any
}

// Counts holds a fleet's counters.
type Counts struct {
	SignedIn int64 // minions with a session
	Up       int64 // of these, minions with a connection to the publish port
	Jobs     int64 // publications meant for an emulated minion
	Returns  int64 // returns the master has acknowledged
	Failures int64 // sign-ins and returns that failed
}

// Fleet is a running emulation.
type Fleet struct {
	opt      Options
	ctx      context.Context
	cancel   context.CancelCauseFunc
	zctx     *zmq.Context
	turn     chan struct{}  // permits for sign-ins
	requests chan *zmq.Req  // unused connections
	todo     chan task      // jobs to be answered
	pubs     publications   // recent publications
	troubles troubles       // of the minions without a session
	wg       sync.WaitGroup // goroutines that use the sockets
	held     atomic.Bool
	minions  []*emulated
	groups   []*group

	signedIn, jobs, returns, failures atomic.Int64
}

// Start makes the minions, which sign in in the background. They work until ctx ends, or until they cannot go
// on. Call Wait then. An error means that this machine cannot run so many.
func Start(ctx context.Context, opt Options) (*Fleet, error) {
	opt.AtOnce, opt.PerSub, opt.Requests = orDefault(opt.AtOnce, 32), orDefault(opt.PerSub, 50),
		orDefault(opt.Requests, 64)
	if err := raiseOpenFiles(opt); err != nil {
		return nil, err
	}
	token, err := crypt.TokenOf(opt.Key)
	if err != nil {
		return nil, fmt.Errorf("make token: %w", err)
	}
	zctx, err := zmq.NewContext(1)
	if err != nil {
		return nil, err
	}
	f := &Fleet{opt: opt, zctx: zctx, turn: make(chan struct{}, opt.AtOnce), requests: make(chan *zmq.Req,
		opt.Requests),
		todo: make(chan task, max(1<<16, 16*opt.Minions))}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	for i := range opt.Minions {
		if err := f.addMinion(fmt.Sprintf("%s%04d", opt.Prefix, i), token); err != nil {
			return nil, errors.Join(err, zctx.Close())
		}
	}
	for range opt.Requests {
		f.requests <- zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint(opt.Host, opt.RetPort, "", 0),
			Context: zctx, FailFast: true})
		f.wg.Go(f.answer)
	}
	for _, m := range f.minions {
		f.wg.Go(m.join)
	}
	return f, nil
}

func orDefault(n, fallback int) int {
	if n == 0 {
		return fallback
	}
	return n
}

// addMinion makes another minion, in the last group or in a new one.
func (f *Fleet) addMinion(id string, token []byte) error {
	a, err := auth.NewMinion(auth.MinionOptions{ID: id, Key: f.opt.Key, KeyToken: token, Trust: &memory{},
		AcceptanceWait: time.Second, MaxVersion: f.opt.Version})
	if err != nil {
		return err
	}
	if len(f.minions)%f.opt.PerSub == 0 {
		f.groups = append(f.groups, &group{f: f, number: len(f.groups)})
	}
	g := f.groups[len(f.groups)-1]
	m := &emulated{f: f, id: id, auth: a, group: g}
	g.minions, f.minions = append(g.minions, m), append(f.minions, m)
	return nil
}

// Counts reads the counters.
func (f *Fleet) Counts() Counts {
	c := Counts{SignedIn: f.signedIn.Load(), Jobs: f.jobs.Load(), Returns: f.returns.Load(),
		Failures: f.failures.Load()}
	for _, g := range f.groups {
		if g.connected.Load() {
			c.Up += g.signedIn.Load()
		}
	}
	return c
}

// Hold makes the minions ignore jobs, or take them again. They do not catch up on missed jobs.
func (f *Fleet) Hold(hold bool) { f.held.Store(hold) }

// Done returns a channel that is closed when the minions end.
func (f *Fleet) Done() <-chan struct{} { return f.ctx.Done() }

// Wait blocks until every minion has ended and closes the sockets. The error is the reason why they could not
// go on. The end of ctx is no error.
func (f *Fleet) Wait() error {
	<-f.ctx.Done()
	f.wg.Wait()
	errs := []error{f.broken()}
	for range f.opt.Requests {
		errs = append(errs, (<-f.requests).Close())
	}
	return errors.Join(append(errs, f.zctx.Close())...)
}

// brokenError is the reason of a fleet that cannot go on.
type brokenError struct{ error }

// fail ends the fleet.
func (f *Fleet) fail(err error) { f.cancel(brokenError{err}) }

func (f *Fleet) broken() error {
	if broken, ok := errors.AsType[brokenError](context.Cause(f.ctx)); ok {
		return broken.error
	}
	return nil
}

// memory is a TrustStore that does not write to disk.
type memory struct{ key atomic.Pointer[string] }

func (m *memory) MasterKey() (string, error) {
	if k := m.key.Load(); k != nil {
		return *k, nil
	}
	return "", nil
}
func (m *memory) SetMasterKey(pub string) error { m.key.Store(&pub); return nil }

func (m *memory) TakeMasterKey(pub string) (string, error) {
	m.key.CompareAndSwap(nil, &pub)
	return *m.key.Load(), nil
}

func (m *memory) SigningKey() (string, error) { return "", nil }
