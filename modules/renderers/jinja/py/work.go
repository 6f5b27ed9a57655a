package py

import (
	"context"
	"fmt"
)

// Work counts what a template has cost and ends it at the limits. It belongs to one goroutine.
type Work struct {
	ctx             context.Context
	steps, maxSteps int
	bytes, maxBytes int
	check           int // steps until ctx is looked at
}

// checkEvery is the number of steps between two looks at the context.
const checkEvery = 1024

// NewWork begins an account. Limits of 0 mean none.
func NewWork(ctx context.Context, maxSteps, maxBytes int) *Work {
	return &Work{ctx: ctx, maxSteps: maxSteps, maxBytes: maxBytes, check: checkEvery}
}

// LimitError says which limit a template has reached.
type LimitError struct{ Text string }

func (e *LimitError) Error() string { return e.Text }

// Context is what the account was opened with.
func (w *Work) Context() context.Context { return w.ctx }

// Step pays for n turns of work.
func (w *Work) Step(n int) error {
	w.steps += n
	if w.maxSteps > 0 && w.steps > w.maxSteps {
		return &LimitError{fmt.Sprintf("the template was stopped: it took more than %d steps", w.maxSteps)}
	}
	if w.check -= n; w.check <= 0 {
		w.check = checkEvery
		if err := context.Cause(w.ctx); err != nil {
			return &LimitError{"the template was stopped: " + err.Error()}
		}
	}
	return nil
}

// Grow pays for n bytes of memory. What is freed again is not given back: the limit is on all that a template makes.
func (w *Work) Grow(n int) error {
	if n < 0 || w.maxBytes > 0 && n > w.maxBytes-w.bytes {
		return &LimitError{fmt.Sprintf("the template was stopped: its values took more than %d bytes", w.maxBytes)}
	}
	w.bytes += n
	return w.Step(n / 256)
}

// grown pays for a text that was made.
func (w *Work) grown(s string, err error) (string, error) {
	if err == nil {
		err = w.Grow(len(s))
	}
	return s, err
}

// slot is what an item of a list costs, in bytes.
const slot = 16

// Free is an account without limits, for what costs next to nothing.
func Free() *Work { return NewWork(context.Background(), 0, 0) }
