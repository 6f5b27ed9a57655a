package work

import (
	"context"

	"brine/wire/payload"
)

// Driver carries runs out in its own way; a daemon makes actors of them.
type Driver interface {
	// Drive is Work.Drive.
	Drive(ctx context.Context, w *Work) (*payload.Map, error)
}

type driverKey struct{}

// WithDriver is a context whose runs are carried out by a driver.
func WithDriver(ctx context.Context, d Driver) context.Context {
	return context.WithValue(ctx, driverKey{}, d)
}

// Carry carries a run out by the driver of the context, or by itself where there is none.
func (w *Work) Carry(ctx context.Context) (*payload.Map, error) {
	if d, ok := ctx.Value(driverKey{}).(Driver); ok {
		return d.Drive(ctx, w)
	}
	return w.Drive(ctx)
}

// Progress is how many chunks have their return, and how many there are.
func (w *Work) Progress() (done, all int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.run.Results().Len(), len(w.opt.Steps)
}
