package master

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// room bounds what waits in an actor's mailbox, by number and bytes. A sender asks before it sends: a mailbox itself
// refuses nothing, for what it refused would be lost. Any number of goroutines may use it; nil has room for everything.
type room struct {
	what      string // of which there is too much, for the log
	most      int64
	mostBytes int64
	log       *slog.Logger

	n, bytes atomic.Int64
	full     atomic.Uint64 // how often somebody found it full
}

// roomLook is how often who waits for room looks.
const roomLook = 2 * time.Millisecond

// enter counts what is being sent.
func (r *room) enter(bytes int) { r.count(1, bytes) }

// leave counts what has been handled, or lost.
func (r *room) leave(bytes int) { r.count(-1, -bytes) }

func (r *room) count(n, bytes int) {
	if r != nil {
		r.n.Add(int64(n))
		r.bytes.Add(int64(bytes))
	}
}

// has says whether more may be sent.
func (r *room) has() bool { return r == nil || r.n.Load() < r.most && r.bytes.Load() < r.mostBytes }

// wait waits until more may be sent; false when there is no room within a time, or ctx has ended. It says so the 1st,
// 2nd, 4th, 8th ... time.
func (r *room) wait(ctx context.Context, within time.Duration) bool {
	if r.has() {
		return true
	}
	if n := r.full.Add(1); n&(n-1) == 0 {
		r.log.Warn("too much waits: who sends more has to wait, too", "what", r.what, "waiting", r.n.Load(), "bytes",
			r.bytes.Load(), "times", n)
	}
	look := time.NewTicker(roomLook)
	defer look.Stop()
	end := time.NewTimer(within)
	defer end.Stop()
	for {
		select {
		case <-look.C:
			if r.has() {
				return true
			}
		case <-end.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// Times that a sender waits for room.
const (
	ownPatience    = 2 * time.Second  // the master's own events: then they are sent all the same, for none may be lost
	toolPatience   = time.Hour        // a local tool that fires events: it can wait
	syndicPatience = 10 * time.Second // a syndic, which hears nothing of what becomes of its returns
)

// newBusRoom is the room of the EventPublisher, newReturnRoom that of returns in the JobStore.
func newBusRoom(most int, bytes int64, log *slog.Logger) *room {
	return &room{what: "events for the bus", most: int64(most), mostBytes: bytes, log: log}
}

func newReturnRoom(most int, log *slog.Logger) *room {
	// bytes are the request port's
	return &room{what: "returns for the job store", most: int64(most), mostBytes: 1, log: log}
}
