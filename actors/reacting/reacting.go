// Package reacting is the Reactor of a master or a minion. It consists of three kinds of actors and their
// shared data. The ReactorKeeper writes the events that a rule wants to the backlog on disk. The Reactor
// distributes them. Below it, each Compiler-N renders the calls for an event and publishes its jobs, and each
// Reaction-N runs the other functions. If one of them dies, no event is lost, and no call is made twice.
// modules/reactor computes the calls for an event. Answers to salt/utils/reactor.py and to the engine reactor.
package reacting

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"brine/modules/reactor"
	"brine/modules/reactor/backlog"
	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/disk/setaside"
	"brine/wire/payload"
	"brine/wire/python"
)

// Doer makes the calls of reactions. It is safe for concurrent use.
type Doer interface {
	NextJID() string
	// Publish publishes a job under an id. It returns when the master has accepted the job. On a minion it
	// returns an error.
	Publish(ctx context.Context, jid string, c reactor.Call) error
	// Published tells whether a job with that id exists.
	Published(jid string) bool
	// Run starts a runner or wheel function. On a minion it returns an error. It calls done once, from any
	// goroutine. done must not block.
	Run(jid string, c reactor.Call, done func(error)) error
	// Execute calls an execution function on this machine.
	Execute(ctx context.Context, c reactor.Call) error
}

// Options holds the daemon's data for the Reactor.
type Options struct {
	Rules   any    // the option reactor: a list, or the name of a file with a list
	Threads int    // reactor_worker_threads: functions that run concurrently
	Queue   int    // reactor_worker_hwm: waiting calls in memory; further ones wait on disk
	Path    string // path of the backlog
	ID      string // id of the daemon
	Limits  backlog.Limits
	// Engine makes the part that computes the calls for events. It calls log for its messages. With dry its
	// templates call no functions.
	Engine    func(dry bool, log func(level slog.Level, text string, err error)) *reactor.Reactor
	Do        Doer
	Fire      func(tag string, data *payload.Map)
	Subscribe func(name string, sink bus.Sink)
	MasterKey func(key string) bool // tells whether a key is that of the master's user; always false on a minion
	Log       *slog.Logger
}

// Part holds the data that the actors share. It outlives them all, and is safe for concurrent use.
type Part struct {
	keeper   *supervisor.Ref // the ReactorKeeper
	opt      Options
	engine   *reactor.Reactor
	back     *backlog.Backlog
	rules    atomic.Pointer[ruleSet]
	reactor  atomic.Pointer[supervisor.Ref] // nil until it has started
	follower atomic.Bool                    // another master reacts
	mailed   atomic.Int64                   // bytes on their way to the ReactorKeeper
	poked    atomic.Bool                    // an EventsWait is on its way to the Reactor
	halted   atomic.Bool                    // the daemon is stopping
	tally    tally
}

// ruleSet holds the rules at a moment, with their source.
type ruleSet struct {
	*reactor.Rules
	tallies []*ruleTally // of the rules, in order
	option  any          // as configured
	file    string       // "": the rules are in the configuration
	stamp   string       // stamp of the file when it was read
	again   bool         // read the file again, because it had changed just before
	wrong   string       // errors in the file
}

// Configured tells whether the option configures a Reactor.
func Configured(option any) bool {
	switch v := option.(type) {
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	}
	return false
}

// New opens the backlog and reads the rules.
func New(opt Options) (*Part, error) {
	p := &Part{opt: opt, keeper: supervisor.NewRef()}
	p.rules.Store(&ruleSet{Rules: none()})
	p.engine = opt.Engine(false, func(level slog.Level, text string, err error) {
		if err != nil {
			opt.Log.Log(context.Background(), level, text, "err", err)
			return
		}
		opt.Log.Log(context.Background(), level, text)
	})
	p.SetRules(opt.Rules)
	back, err := backlog.Open(opt.Path, opt.Limits, p.lane, func(d setaside.Damage) {
		opt.Log.Error(setaside.Text, d.Attrs()...)
	})
	if err != nil {
		return nil, fmt.Errorf("reactor: %w", err)
	}
	if n, _ := back.Waiting(); n > 0 {
		opt.Log.Info("the Reactor takes up events from before the start", "events", n)
	}
	p.back = back
	return p, nil
}

// Halt announces the stop of the daemon. Work that has not begun is left to the next process, because requests
// will be refused.
func (p *Part) Halt() { p.halted.Store(true) }

// Close closes the backlog. Call it after the actors have ended.
func (p *Part) Close() error { return p.back.Close() }

func none() *reactor.Rules {
	r, _ := reactor.ParseRules(nil)
	return r
}

// lane is the queue of events with this tag. Events with the same SLS files are handled in order.
func (p *Part) lane(tag string) string {
	var b strings.Builder
	for _, sls := range p.rules.Load().Match(tag) {
		b.WriteString(python.Str(sls))
		b.WriteByte(0)
	}
	return b.String()
}

// maxMailed limits the bytes of events on their way to the ReactorKeeper, which reads as fast as the disk
// writes. If the disk hangs, no more memory is used.
const maxMailed = 8 << 20

// sink handles the events of the bus. It runs in the EventPublisher and does little for events without a rule.
func (p *Part) sink(tag string, body []byte) {
	if strings.Contains(tag, manageTag) {
		p.tellManager(tag, body)
	}
	if p.follower.Load() || !p.current().Wants(tag) {
		return
	}
	if p.mailed.Add(int64(len(body))) > maxMailed {
		p.mailed.Add(-int64(len(body)))
		p.drop(tag, "too much is on its way to the backlog")
		return
	}
	p.keeper.Send(&KeepEvent{Tag: tag, Body: body, part: p})
}

// drop counts an event without a reaction. It logs the 1st, 2nd, 4th, 8th ... such event.
func (p *Part) drop(tag, why string) {
	if n := p.tally.drop(tag, why); n&(n-1) == 0 {
		p.opt.Log.Error("the Reactor drops an event", "tag", payload.Show(tag), "why", why, "dropped", n)
	}
}

// poke sends EventsWait to the Reactor, unless one is on its way.
func (p *Part) poke() {
	if ref := p.reactor.Load(); ref != nil && !p.poked.Swap(true) {
		ref.Send(&EventsWait{part: p})
	}
}
