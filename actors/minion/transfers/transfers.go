package transfers

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"brine/actors/daemon"
	"brine/supervisor"
)

// Fetch asks the FileClient for the transfer of a key: the one under way, or a new one that fetch makes.
type Fetch struct {
	Key   string
	Fetch func(ctx context.Context) error
	Reply chan<- *transfer // takes one answer without waiting; nil: the question is lost

	settled atomic.Bool // it is answered, or nobody waits for the answer: whoever comes second knows
}

// Lost tells who waits.
func (m *Fetch) Lost(error) { m.answer(nil) }

// answer tells who waits, or takes him from those who want the transfer when he does not wait any more.
func (m *Fetch) answer(t *transfer) {
	if !m.settled.Swap(true) {
		m.Reply <- t
	} else if t != nil {
		t.leave()
	}
}

// transferEnded tells the FileClient that a transfer is over.
type transferEnded struct {
	key string
	of  *transfer
}

// transfer is a file that is being fetched, for as many as want it.
type transfer struct {
	waiting atomic.Int64 // those who want it; nobody joins again when the last has left
	cancel  context.CancelFunc
	done    chan struct{} // closed when it is over
	err     error         // then: why the file is not there
	died    bool          // then: the FileClient has ended before
}

// join tells whether one more may wait for it.
func (t *transfer) join() bool {
	for n := t.waiting.Load(); n > 0; n = t.waiting.Load() {
		if t.waiting.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// leave ends a transfer that nobody waits for any more.
func (t *transfer) leave() {
	if t.waiting.Add(-1) == 0 {
		t.cancel()
	}
}

// fileClient lets one transfer of a file at a time serve all jobs that want it. When it dies the transfers under way
// end, and who waits for one asks its successor.
type fileClient struct {
	under map[string]*transfer
}

func (f *fileClient) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		f.under = map[string]*transfer{}
	case *Fetch:
		f.onFetchFile(ctx, m)
	case *transferEnded:
		if f.under[m.key] == m.of {
			delete(f.under, m.key)
		}
	default:
		supervisor.Unhandled(ctx)
	}
}

func (f *fileClient) onFetchFile(ctx supervisor.Context, m *Fetch) {
	t := f.under[m.Key]
	if t == nil || !t.join() {
		t = f.begin(ctx, m)
		f.under[m.Key] = t
	}
	m.answer(t)
}

// begin starts a transfer, for one who waits.
func (f *fileClient) begin(ctx supervisor.Context, m *Fetch) *transfer {
	own, cancel := context.WithCancel(supervisor.Lifetime(ctx))
	t := &transfer{cancel: cancel, done: make(chan struct{}), died: true, err: errors.New("the FileClient died")}
	t.waiting.Store(1)
	self, fetch, key := supervisor.Self(ctx), m.Fetch, m.Key
	supervisor.Go(ctx, "transfer", func(ctx context.Context) error {
		defer close(t.done)
		defer cancel()
		err := fetch(own)
		t.err, t.died = err, err != nil && ctx.Err() != nil
		self.Send(&transferEnded{key, t})
		return nil
	})
	return t
}

// mostAsked is how often a transfer is asked for whose FileClient dies each time.
const mostAsked = 3

// Transfers are the FileClient as functions see it (loader.Transfers).
type Transfers struct{ client *supervisor.Ref }

// New makes the part.
func New() *Transfers { return &Transfers{client: supervisor.NewRef()} }

// Child is the FileClient as a child.
func (t *Transfers) Child() daemon.Child {
	return daemon.Child{Spec: supervisor.Spec{Ref: t.client, Name: "FileClient", New: func() supervisor.Actor {
		return &fileClient{}
	}}}
}

// Once calls fetch unless a call with the same key is under way.
func (t *Transfers) Once(ctx context.Context, key string, fetch func(ctx context.Context) error) error {
	var last error
	for range mostAsked {
		reply := make(chan *transfer, 1)
		ask := &Fetch{Key: key, Fetch: fetch, Reply: reply}
		t.client.Send(ask)
		var got *transfer
		select {
		case got = <-reply:
		case <-ctx.Done():
			if ask.settled.Swap(true) { // the answer is there, and with it a place among those who wait
				if got := <-reply; got != nil {
					got.leave()
				}
			}
			return context.Cause(ctx)
		}
		if got == nil {
			last = supervisor.ErrGone
			continue
		}
		select {
		case <-got.done:
			got.leave()
			if last = got.err; !got.died {
				return last
			}
		case <-ctx.Done():
			got.leave()
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("the file could not be fetched: %w", last)
}
