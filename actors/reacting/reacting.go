// Package reacting is the Reactor of a master or a minion: three kinds of actors, and what they share. The
// ReactorKeeper writes the events that a rule wants to the backlog on disk; the Reactor hands them out; below it
// Compiler-N renders what an event means and publishes its jobs, and Reaction-N runs the other functions. Whichever of
// them dies: no event is forgotten, and no call is made twice. What an event means is worked out by modules/reactor.
// Answers to salt/utils/reactor.py and to the engine reactor.
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

// Doer makes the calls of reactions. Any number of goroutines may use it.
type Doer interface {
	NextJID() string
	// Publish publishes a job under an id. It returns when the master has taken it; a minion refuses.
	Publish(ctx context.Context, jid string, c reactor.Call) error
	// Published tells whether there is a job of that id.
	Published(jid string) bool
	// Run starts a runner or wheel function; a minion refuses. done is called once, by any goroutine, and must not
	// block.
	Run(jid string, c reactor.Call, done func(error)) error
	// Execute calls an execution function on this machine.
	Execute(ctx context.Context, c reactor.Call) error
}

// Options are what the Reactor needs of its daemon.
type Options struct {
	Rules   any    // the option reactor: a list, or the name of a file that holds one
	Threads int    // reactor_worker_threads: functions that run at once
	Queue   int    // reactor_worker_hwm: calls that wait for that in memory; more wait on disk
	Path    string // of the backlog
	ID      string // of the daemon
	Limits  backlog.Limits
	// Engine makes the one that works out what events mean; it logs to log. With dry its templates call no functions.
	Engine    func(dry bool, log func(level slog.Level, text string, err error)) *reactor.Reactor
	Do        Doer
	Fire      func(tag string, data *payload.Map)
	Subscribe func(name string, sink bus.Sink)
	MasterKey func(key string) bool // whether a key is that of the master's user; never on a minion
	Log       *slog.Logger
}

// Part is what the actors share; it outlives them all. Any number of goroutines may use it.
type Part struct {
	keeper   *supervisor.Ref // of the ReactorKeeper
	opt      Options
	engine   *reactor.Reactor
	back     *backlog.Backlog
	rules    atomic.Pointer[ruleSet]
	reactor  atomic.Pointer[supervisor.Ref] // nil until it has started
	follower atomic.Bool                    // another master reacts
	mailed   atomic.Int64                   // bytes on their way to the ReactorKeeper
	poked    atomic.Bool                    // the Reactor will look at the backlog
	halted   atomic.Bool                    // the daemon stops
	tally    tally
}

// ruleSet is the rules of a moment, and where they come from.
type ruleSet struct {
	*reactor.Rules
	tallies []*ruleTally // of the rules, in their order
	option  any          // as it is configured
	file    string       // "": they stand in the configuration
	stamp   string       // of the file, when it was read
	again   bool         // it is read again: it had changed just before
	wrong   string       // with it
}

// Configured tells whether an option asks for a Reactor at all.
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

// Halt says that the daemon is about to stop: what is not begun by now is left to the next one, for requests will be
// refused.
func (p *Part) Halt() { p.halted.Store(true) }

// Close closes the backlog, when the actors have ended.
func (p *Part) Close() error { return p.back.Close() }

func none() *reactor.Rules {
	r, _ := reactor.ParseRules(nil)
	return r
}

// lane is where events of a tag wait for each other: those that mean the same files are reacted to in their order.
func (p *Part) lane(tag string) string {
	var b strings.Builder
	for _, sls := range p.rules.Load().Match(tag) {
		b.WriteString(python.Str(sls))
		b.WriteByte(0)
	}
	return b.String()
}

// maxMailed is how many bytes of events may be on their way to the ReactorKeeper, which reads as fast as the disk
// writes. A disk that stands still costs no more than that.
const maxMailed = 8 << 20

// sink takes the events of the bus. It runs in the EventPublisher and does little for those that no rule wants.
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

// drop counts an event that is not reacted to, and names it: the 1st, 2nd, 4th, 8th ... time.
func (p *Part) drop(tag, why string) {
	if n := p.tally.drop(tag, why); n&(n-1) == 0 {
		p.opt.Log.Error("the Reactor drops an event", "tag", payload.Show(tag), "why", why, "dropped", n)
	}
}

// poke makes the Reactor look at the backlog, unless it will anyway.
func (p *Part) poke() {
	if ref := p.reactor.Load(); ref != nil && !p.poked.Swap(true) {
		ref.Send(&EventsWait{part: p})
	}
}
