package daemon

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// BoundOptions are the limits of a Bound.
type BoundOptions struct {
	What      string // of which there may be too much, for the log
	Most      int
	MostBytes int64       // 0: bytes do not count
	Also      func() bool // room elsewhere that is needed, too; nil: none
	Bell      *Bell       // is rung when there may be room elsewhere; nil: the Bound has one of its own
	Log       *slog.Logger
}

// Bound counts what waits somewhere, by number and bytes. A mailbox refuses nothing, for what it refused would be lost:
// a sender asks here first. Any number of goroutines may use it. A nil Bound has room for everything.
type Bound struct {
	opt      BoundOptions
	n, bytes atomic.Int64
	full     atomic.Uint64 // how often a sender found it full
}

// NewBound makes a Bound.
func NewBound(opt BoundOptions) *Bound {
	if opt.Bell == nil {
		opt.Bell = &Bell{}
	}
	return &Bound{opt: opt}
}

// Place is that of one message in a Bound. The message holds it by value; the zero Place is in none.
type Place struct {
	in    *Bound
	bytes int64
	left  atomic.Bool
}

// Enter counts a message. It does not wait and does not refuse. A Place is entered once.
func (p *Place) Enter(b *Bound, bytes int) {
	if b == nil {
		return
	}
	p.in, p.bytes = b, int64(bytes)
	b.n.Add(1)
	b.bytes.Add(p.bytes)
}

// Leave gives the place back, once however often it is called.
func (p *Place) Leave() {
	if p.in == nil || p.left.Swap(true) {
		return
	}
	p.in.n.Add(-1)
	p.in.bytes.Add(-p.bytes)
	p.in.opt.Bell.Ring()
}

// Has tells whether there is room for one more.
func (b *Bound) Has() bool {
	return b == nil || b.n.Load() < int64(b.opt.Most) && (b.opt.MostBytes <= 0 || b.bytes.Load() < b.opt.MostBytes) &&
		(b.opt.Also == nil || b.opt.Also())
}

// Waiting is what waits now, by number and bytes.
func (b *Bound) Waiting() (n, bytes int64) { return b.n.Load(), b.bytes.Load() }

// Fill is what waits now as a part of what may wait: 1 is full, and there may be more.
func (b *Bound) Fill() float64 {
	fill := float64(b.n.Load()) / float64(b.opt.Most)
	if b.opt.MostBytes > 0 {
		fill = max(fill, float64(b.bytes.Load())/float64(b.opt.MostBytes))
	}
	return fill
}

// Texts of the log.
const (
	textWaits   = "too much waits: who sends more has to wait, too"
	textRefused = "too much waits: more is refused"
)

// Refused tells the log that more was refused.
func (b *Bound) Refused() { b.tell(textRefused) }

// tell says that there was no room, the 1st, 2nd, 4th, 8th ... time.
func (b *Bound) tell(text string) {
	if n := b.full.Add(1); n&(n-1) == 0 {
		b.opt.Log.Warn(text, "what", b.opt.What, "waiting", b.n.Load(), "bytes", b.bytes.Load(), "times", n)
	}
}

// Wait waits until there is room; false when ctx has ended first.
func (b *Bound) Wait(ctx context.Context) bool {
	if b.Has() {
		return true
	}
	b.tell(textWaits)
	for {
		rung := b.opt.Bell.Next() // before the look, so that nothing is missed in between
		if b.Has() {
			return true
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return false
		}
	}
}

// Bell wakes the senders that wait for room. Several Bounds may share one. The zero value is usable.
type Bell struct{ next atomic.Pointer[chan struct{}] }

// Next is closed by the next Ring.
func (b *Bell) Next() <-chan struct{} {
	fresh := make(chan struct{})
	for {
		if there := b.next.Load(); there != nil {
			return *there
		}
		if b.next.CompareAndSwap(nil, &fresh) {
			return fresh
		}
	}
}

// Ring lets everybody look who waits. It costs next to nothing while nobody does.
func (b *Bell) Ring() {
	if b.next.Load() == nil {
		return
	}
	if there := b.next.Swap(nil); there != nil {
		close(*there)
	}
}
