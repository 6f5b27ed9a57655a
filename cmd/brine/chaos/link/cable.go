package link

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// What a cable holds in one direction: so many frames of at most so many bytes. What comes beyond that waits in the
// queue of the interface, where the kernel drops what is too much.
const (
	framesAhead = 4096
	maxFrame    = 64 << 10
)

// Frames counts what has come into a cable in one direction.
type Frames struct{ Passed, Lost uint64 }

// cable carries frames between two network interfaces, one of a minion and one of the site. It keeps their order.
type cable struct {
	ends   [2]io.ReadWriteCloser // of the minion, of the site
	lanes  [2]*lane              // what the minion sends, what the site sends
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// newCable begins to carry frames. Each Read of an end brings one frame that its interface sends, each Write is one
// that it receives. The ends are the cable's from now on.
func newCable(minion, site io.ReadWriteCloser) *cable {
	ctx, cancel := context.WithCancel(context.Background())
	c := &cable{ends: [2]io.ReadWriteCloser{minion, site}, lanes: [2]*lane{{}, {}}, cancel: cancel}
	for i, l := range c.lanes {
		c.work.Go(func() { l.carry(ctx, c.ends[i], c.ends[1-i]) })
	}
	return c
}

// close ends both interfaces and waits until nothing of the cable runs any more.
func (c *cable) close() {
	c.cancel()
	for _, end := range c.ends {
		_ = end.Close() // one whose namespace is gone is fine
	}
	c.work.Wait()
}

// lane is one direction of a cable: its faults and how much has passed.
type lane struct {
	passed, lost atomic.Uint64

	mu            sync.Mutex
	cut           bool
	delay, jitter time.Duration
	loss          int        // percent
	draw          *rand.Rand // nil while frames are neither late nor lost
	last          time.Time  // when the frame before arrives
}

// frame is one that is under way.
type frame struct {
	data []byte
	due  time.Time
}

// shape sets what happens to the frames that come in from now on. What is drawn of the first, the second and so on
// follows from the random source alone.
func (l *lane) shape(delay, jitter time.Duration, loss int, source rand.Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay, l.jitter, l.loss, l.draw = max(delay, 0), max(jitter, 0), loss, nil
	if l.delay > 0 || l.jitter > 0 || l.loss > 0 {
		l.draw = rand.New(source)
	}
}

func (l *lane) setCut(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
}

func (l *lane) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// enter says when a frame that comes in now arrives, or that it does not. Each frame takes two draws, whatever comes of
// them, but for those that meet a cut.
func (l *lane) enter(now time.Time) (due time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return now, false
	}
	due, ok = now, true
	if l.draw != nil {
		ok = l.draw.IntN(100) >= l.loss
		sway := time.Duration((2*l.draw.Float64() - 1) * float64(l.jitter))
		due = now.Add(max(l.delay+sway, 0))
	}
	if ok && due.Before(l.last) {
		due = l.last
	}
	if ok {
		l.last = due
	}
	return due, ok
}

// carry passes on what one end sends until that end is closed, or the cable.
func (l *lane) carry(ctx context.Context, from io.Reader, to io.Writer) {
	frames := make(chan frame, framesAhead)
	var reader sync.WaitGroup
	reader.Go(func() { l.read(ctx, from, frames) })
	defer reader.Wait()
	for f := range frames {
		if !pause(time.Until(f.due), ctx.Done()) {
			return
		}
		l.leave(f, to)
	}
}

// read hands on the frames that come in, but for those that are lost.
func (l *lane) read(ctx context.Context, from io.Reader, frames chan<- frame) {
	defer close(frames)
	buf := make([]byte, maxFrame)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		due, ok := l.enter(time.Now())
		if !ok {
			l.lost.Add(1)
			continue
		}
		select {
		case frames <- frame{bytes.Clone(buf[:n]), due}:
		case <-ctx.Done():
			return
		}
	}
}

// leave lets a frame arrive, unless the cable was cut while it was under way or nobody is at the end.
func (l *lane) leave(f frame, to io.Writer) {
	if l.isCut() {
		l.lost.Add(1)
		return
	}
	if _, err := to.Write(f.data); err != nil {
		l.lost.Add(1)
		return
	}
	l.passed.Add(1)
}
