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

// These limits apply to frames in one direction of a cable: their number and their size. Further frames wait in
// the queue of the interface, and the kernel drops those that do not fit.
const (
	framesAhead = 4096
	maxFrame    = 64 << 10
)

// Frames counts the frames that entered a cable in one direction.
type Frames struct{ Passed, Lost uint64 }

// cable carries frames between two network interfaces, one of a minion and one of the site. It keeps their order.
type cable struct {
	ends   [2]io.ReadWriteCloser // of the minion, of the site
	lanes  [2]*lane              // frames from the minion, frames from the site
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// newCable starts to carry frames. Each Read of an end returns one frame that its interface sends. Each Write
// is a frame that it receives. The cable owns the ends from now on.
func newCable(minion, site io.ReadWriteCloser) *cable {
	ctx, cancel := context.WithCancel(context.Background())
	c := &cable{ends: [2]io.ReadWriteCloser{minion, site}, lanes: [2]*lane{{}, {}}, cancel: cancel}
	for i, l := range c.lanes {
		c.work.Go(func() { l.carry(ctx, c.ends[i], c.ends[1-i]) })
	}
	return c
}

// close closes both ends and waits until all goroutines of the cable have ended.
func (c *cable) close() {
	c.cancel()
	for _, end := range c.ends {
		_ = end.Close() // the end's namespace may be gone
	}
	c.work.Wait()
}

// lane is one direction of a cable: its faults and its counters.
type lane struct {
	passed, lost atomic.Uint64

	mu            sync.Mutex
	cut           bool
	delay, jitter time.Duration
	loss          int        // percent
	draw          *rand.Rand // nil while no frame is delayed or lost
	last          time.Time  // arrival of the last frame
}

// frame is a frame in the cable.
type frame struct {
	data []byte
	due  time.Time
}

// shape sets the faults for all further frames. The fate of the first frame, of the second and so on depends
// only on the random source.
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

// enter returns the time of arrival of a frame that enters now. ok is false if the frame is lost. Each frame
// uses two random numbers, whatever its fate, except a frame that meets a cut.
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

// carry passes frames from one end on until that end or the cable is closed.
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

// read passes on the frames that enter and are not lost.
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

// leave delivers a frame, unless the cable was cut meanwhile or nobody is at the end.
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
