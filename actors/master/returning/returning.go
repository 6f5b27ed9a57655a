// Package returning hands what a master has to returners: its events (EventReturn), and the jobs of an external job
// cache (JobCache). What is to be handed over waits on disk, in a modules/returners/queue; the actor gives each
// returner its next records, one call at a time, and again what it could not take. So it outlives the actor and the
// process; a slow returner holds up no other one, and what waits costs no memory. Records may come twice: when the
// process ends while they are handed over. Answers to salt/utils/event.py, class EventReturn.
package returning

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"brine/modules/returners/queue"
	"brine/supervisor"
	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

// Options are what the actor needs of the master.
type Options struct {
	Name    string        // of the actor
	What    string        // its records are, in the log: "events"
	Queue   queue.Options // its Readers are the returners
	Least   int           // records that are handed over together, as they come; 0: each at once
	Most    int           // in one call
	MaxWait time.Duration // of records that are fewer than Least; 0: they wait for the end
	// Hand gives records to a returner. It tells how many of them, from the first, are taken.
	Hand func(ctx context.Context, returner string, items []queue.Item) (taken int, err error)
	// Hopeless tells of an error that another try does not mend. The record is dropped then.
	Hopeless func(err error) bool
	Mask     func(text string) string // takes secrets out of what a returner says; nil: there are none
	Started  func()                   // is called by each incarnation; nil: nobody is to know
	Fire     func(tag string, data *payload.Map)
	Calm     func() bool // whether the clock may be believed
	Log      *slog.Logger
}

// Part is what the incarnations of the actor share. Any number of goroutines may use it.
type Part struct {
	opt      Options
	ref      atomic.Pointer[supervisor.Ref] // of the actor; nil until it has started
	queue    *queue.Queue
	mailed   atomic.Int64  // bytes on their way to the actor
	poked    atomic.Bool   // it will look at the queue
	ripe     atomic.Uint64 // records before it are to be handed over, however few
	unwanted atomic.Uint64 // dropped, of all returners
	noDisk   atomic.Bool
	tallies  map[string]*tally // by returner
}

// tally is how it stands with one returner.
type tally struct {
	dropped atomic.Uint64
	failing atomic.Bool // its last call failed
}

// New opens the queue.
func New(opt Options) (*Part, error) {
	p := &Part{opt: opt, tallies: map[string]*tally{}}
	for _, name := range opt.Queue.Readers {
		p.tallies[name] = &tally{}
	}
	opt.Queue.Dropped = func(returner string, n uint64, why string) { p.drop(returner, n, why) }
	opt.Queue.Damaged = func(d setaside.Damage) {
		opt.Log.Error(setaside.Text, append(d.Attrs(), "actor", opt.Name)...)
	}
	var err error
	if p.queue, err = queue.Open(opt.Queue); err != nil {
		return nil, fmt.Errorf("%s: %w", opt.Name, err)
	}
	p.ripe.Store(p.queue.End()) // what a process before has left
	return p, nil
}

// Child is the actor as a child of the master.
func (p *Part) Child() supervisor.Spec {
	return supervisor.Spec{Name: p.opt.Name, Hold: holdRecords, Store: true, New: func() supervisor.Actor {
		return &courier{part: p}
	}}
}

// Close closes the queue, when the actor has ended.
func (p *Part) Close() error { return p.queue.Close() }

// Bounds of what is on its way to the disk: a disk that stands still costs no more.
const (
	maxMailed   = 8 << 20
	holdRecords = 1 << 20
)

// Keep puts a record on its way to the queue, when the actor has started. It does not wait, and copies nothing.
func (p *Part) Keep(body []byte) {
	if p.mailed.Add(int64(len(body))) > maxMailed {
		p.mailed.Add(-int64(len(body)))
		p.dropForAll("too much is on its way to the disk")
		return
	}
	if ref := p.ref.Load(); ref != nil {
		ref.Send(&KeepRecord{Body: body, part: p})
	}
}

// Append puts records into the queue before it returns; with sync they are on the disk itself.
func (p *Part) Append(sync bool, bodies ...[]byte) error {
	kept, err := p.queue.Append(time.Now(), sync, bodies...)
	if kept {
		err = nil
		p.poke()
	}
	return err
}

// keep puts one record into the queue.
func (p *Part) keep(body []byte) {
	kept, err := p.queue.Append(time.Now(), false, body)
	switch {
	case !kept:
		p.dropForAll(err.Error())
	case err != nil && !p.noDisk.Swap(true):
		p.opt.Log.Error("what waits for returners cannot be written to disk: it waits in memory", "actor", p.opt.Name,
			"err", err)
	case err == nil && p.noDisk.Swap(false):
		p.opt.Log.Warn("what waits for returners can be written to disk again", "actor", p.opt.Name)
	}
}

// poke makes the actor look at the queue, unless it will anyway.
func (p *Part) poke() {
	if ref := p.ref.Load(); ref != nil && !p.poked.Swap(true) {
		ref.Send(&RecordsWait{part: p})
	}
}

func (p *Part) dropForAll(why string) {
	for _, name := range p.opt.Queue.Readers {
		p.drop(name, 1, why)
	}
}

// tagDropped names drops to the bus.
const tagDropped = "brine/returner/dropped"

// drop counts what a returner does not get, and names it: the 1st, 2nd, 4th, 8th ... time. It blocks nowhere.
func (p *Part) drop(returner string, n uint64, why string) {
	now := p.tallies[returner].dropped.Add(n)
	before := now - n
	p.unwanted.Add(n)
	if before != 0 && powers(before) == powers(now) {
		return
	}
	why = p.masked(why)
	p.opt.Log.Error("a returner does not get "+p.opt.What, "actor", p.opt.Name, "returner", returner, "why", why,
		"dropped", now)
	if ref := p.ref.Load(); p.opt.Fire != nil && ref != nil {
		ref.Send(&recordsDropped{payload.M("actor", p.opt.Name, "returner", returner, "why", why, "dropped",
			int64(now))})
	}
}

// powers is how often a number can be halved.
func powers(n uint64) (out int) {
	for ; n > 1; n /= 2 {
		out++
	}
	return out
}

// masked takes the secrets of the configuration out of a text: what a driver says may quote them.
func (p *Part) masked(text string) string {
	if p.opt.Mask == nil {
		return text
	}
	return p.opt.Mask(text)
}

// Healthy tells whether the last call of a returner succeeded, or there was none.
func (p *Part) Healthy(returner string) bool { return !p.tallies[returner].failing.Load() }

// Handed waits until a returner has all records of now; it does not wait for one that fails.
func (p *Part) Handed(ctx context.Context, returner string) error {
	end, ref := p.queue.End(), p.ref.Load()
	if p.queue.Next(returner) >= end || ref == nil {
		return nil
	}
	done := make(chan error, 1)
	ref.Send(&AwaitHanded{Returner: returner, End: end, Done: func(err error) {
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

// summary is one line about the queue, for brine tree.
func (p *Part) summary() string {
	var b strings.Builder
	end := p.queue.End()
	for _, name := range p.opt.Queue.Readers {
		t := p.tallies[name]
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %d wait", name, end-p.queue.Next(name))
		if n := t.dropped.Load(); n > 0 {
			fmt.Fprintf(&b, ", %d dropped", n)
		}
		if t.failing.Load() {
			b.WriteString(", fails")
		}
	}
	return b.String()
}

var errFailing = errors.New("the returner fails")
