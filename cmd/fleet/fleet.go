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
	Prefix      string // ids are Prefix0000 and so on
	Host        string
	PublishPort int // 0: what the master says
	RetPort     int
	Key         *crypt.PrivateKey // one key for all: making a thousand takes minutes
	Version     int               // 2: speak the protocol of minions before session keys; 0: the newest
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
	held                                  atomic.Bool
	signedIn, up, jobs, returns, failures atomic.Int64
	minions                               []*emulated
}

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
	a, err := auth.NewMinion(auth.MinionOptions{ID: id, Key: f.opt.Key, Trust: &memory{}, AcceptanceWait: time.Second,
		MaxVersion: f.opt.Version})
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

// Hold lets the minions take no jobs, or take them again. What they miss is not made up for.
func (f *Fleet) Hold(hold bool) { f.held.Store(hold) }

// Wait blocks until every minion has ended and closes the sockets.
func (f *Fleet) Wait() error {
	f.wg.Wait()
	return f.zctx.Close()
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
