package netapi

import (
	"context"
	"time"

	"brine/wire/client"
	"brine/wire/payload"
)

// Times of a list of functions: how long it counts for a function that it does not have, and how long a master may take to give it.
const (
	listedFor    = 30 * time.Second
	listedWithin = 20 * time.Second
)

// theirs knows the runner functions of a master of Salt, which starts one that it does not have and never says a word of it: Salt's own
// salt-api looks into the modules of its installation beforehand (salt/runner.py, _reformat_low).
type theirs struct {
	ask  func(ctx context.Context) (names *payload.Map, err error)
	now  func() time.Time
	turn chan struct{} // who holds the one place may use what follows

	names *payload.Map // nil: they could not be had
	at    time.Time    // when they were asked for, zero: never
}

func newTheirs(c *client.Client) *theirs {
	t := &theirs{now: time.Now, turn: make(chan struct{}, 1)}
	t.ask = func(ctx context.Context) (*payload.Map, error) {
		_, ret, err := c.RunRunner(ctx, client.Call{Fun: "doc.runner"}) // as the master's own user: a list of functions is no secret
		if err != nil {
			return nil, err
		}
		docs, _ := ret.Value().(*payload.Map)
		return docs, nil
	}
	return t
}

// lack tells whether the master has no such function. What cannot be found out is no lack. Any number may ask at the same time.
func (t *theirs) lack(ctx context.Context, fun string) bool {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return false
	}
	if !t.names.Has(fun) && (t.at.IsZero() || t.now().Sub(t.at) > listedFor) {
		within, cancel := context.WithTimeout(ctx, listedWithin)
		defer cancel()
		names, err := t.ask(within)
		if ctx.Err() != nil { // the client has gone: the next one asks again
			return false
		}
		if err != nil || names.Len() == 0 {
			names = nil
		}
		t.names, t.at = names, t.now()
	}
	return t.names.Len() > 0 && !t.names.Has(fun)
}
