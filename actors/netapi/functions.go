package netapi

import (
	"context"
	"time"

	"brine/wire/client"
	"brine/wire/payload"
)

// These are the times for a list of functions: how long a list without a function counts, how long a master may
// take to send it, and how long a request that does not wait for its runner waits for the list.
const (
	listedFor    = 30 * time.Second
	listedWithin = 20 * time.Second
	lackedWithin = 5 * time.Second
)

// theirs knows the runner functions of a Salt master. Such a master starts an unknown function and never
// reports that it lacks it. Salt's own salt-api therefore checks the modules of its installation beforehand
// (salt/runner.py, _reformat_low).
type theirs struct {
	ask    func(ctx context.Context) (names *payload.Map, err error)
	beside func(f func(ctx context.Context)) error // in the background; f ends with the daemon, not with the request
	now    func() time.Time

	turn   chan struct{} // the holder of its one place may use the fields below
	names  *payload.Map  // nil: the master did not send them
	at     time.Time     // time of the list; zero: never
	asking chan struct{} // closed when the current question is answered; nil: there is none
}

// newTheirs makes a theirs that asks in an actor of calls.
func newTheirs(c *client.Client, calls *calls) *theirs {
	t := &theirs{now: time.Now, turn: make(chan struct{}, 1)}
	t.ask = func(ctx context.Context) (*payload.Map, error) {
		// with the rights of the master's own user, because a list of functions is no secret
		_, ret, err := c.RunRunner(ctx, client.Call{Fun: "doc.runner"})
		if err != nil {
			return nil, err
		}
		docs, _ := ret.Value().(*payload.Map)
		return docs, nil
	}
	t.beside = func(f func(ctx context.Context)) error {
		return calls.detach(context.Background(), func(ctx context.Context, note func(string)) (any, error) {
			note("runner doc.runner")
			f(ctx)
			return nil, nil
		})
	}
	return t
}

// surelyLack tells whether the master is known to lack a function. It does not ask and does not wait.
func (t *theirs) surelyLack(fun string) bool {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	lacks, sure := t.known(fun)
	return lacks && sure
}

// lack tells whether the master lacks a function. It asks for the master's list if necessary. If the answer is
// not known when ctx ends, it returns false. It is safe for concurrent use.
func (t *theirs) lack(ctx context.Context, fun string) bool {
	t.turn <- struct{}{}
	lacks, sure := t.known(fun)
	if sure {
		<-t.turn
		return lacks
	}
	answered := t.asking
	if answered == nil {
		answered = make(chan struct{})
		t.asking = answered
		if err := t.beside(t.list); err != nil { // no call is free now
			t.asking = nil
			<-t.turn
			return false
		}
	}
	<-t.turn
	select {
	case <-answered:
		return t.surelyLack(fun)
	case <-ctx.Done():
		return false
	}
}

// known returns the answer of the last list about a function, and whether the list still counts.
func (t *theirs) known(fun string) (lacks, sure bool) {
	if t.names.Has(fun) {
		return false, true
	}
	return t.names.Len() > 0, !t.at.IsZero() && t.now().Sub(t.at) <= listedFor
}

// list asks for the functions. If the master does not send them, it is not asked again at once.
func (t *theirs) list(ctx context.Context) {
	defer func() {
		t.turn <- struct{}{}
		defer func() { <-t.turn }()
		close(t.asking)
		t.asking = nil
	}()
	ctx, cancel := context.WithTimeout(ctx, listedWithin)
	defer cancel()
	names, err := t.ask(ctx)
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	if t.names, t.at = names, t.now(); err != nil || names.Len() == 0 {
		t.names = nil
	}
}
