package door

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// maxTurns is how many requests of one minion may wait for their turn; the next are refused.
const maxTurns = 32

// ErrTurns means a minion of whom too many requests wait.
var ErrTurns = errors.New("too many targets of one minion wait to be worked out")

// Turns is the order in which targets are worked out that minions ask for: one of each minion at a time, and few at
// once of all. A minion chooses patterns and grains, so that a single target may take until target_timeout; it must not
// take the workers that others need.
type Turns struct {
	all chan struct{}

	mu   sync.Mutex
	byID map[string]*turn
}

type turn struct {
	one chan struct{}
	n   int // who has it or waits for it
}

// NewTurns makes an order in which nobody waits yet.
func NewTurns() *Turns {
	return &Turns{all: make(chan struct{}, max(2, runtime.NumCPU()/2)), byID: map[string]*turn{}}
}

// Take waits for the turn of a minion. Who has it calls done.
func (t *Turns) Take(ctx context.Context, id string) (done func(), err error) {
	own, err := t.enter(id)
	if err != nil {
		return nil, err
	}
	select {
	case own.one <- struct{}{}:
	case <-ctx.Done():
		t.leave(id, own)
		return nil, context.Cause(ctx)
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-own.one
		t.leave(id, own)
		return nil, context.Cause(ctx)
	}
	return func() {
		<-t.all
		<-own.one
		t.leave(id, own)
	}, nil
}

func (t *Turns) enter(id string) (*turn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.byID[id]
	if own == nil {
		own = &turn{one: make(chan struct{}, 1)}
		t.byID[id] = own
	}
	if own.n >= maxTurns {
		return nil, ErrTurns
	}
	own.n++
	return own, nil
}

func (t *Turns) leave(id string, own *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.n--; own.n == 0 {
		delete(t.byID, id)
	}
}
