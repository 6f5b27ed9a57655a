package netapi

import (
	"context"
	"time"

	"brine/wire/client"
	"brine/wire/payload"
)

// Times of a list of functions: how long it counts for a function that it does not have, how long a master may take to
// give it, and how long who does not wait for a runner waits for it.
const (
	listedFor    = 30 * time.Second
	listedWithin = 20 * time.Second
	lackedWithin = 5 * time.Second
)

// theirs knows the runner functions of a master of Salt, which starts one that it does not have and never says a word
// of it: Salt's own salt-api looks into the modules of its installation beforehand (salt/runner.py, _reformat_low).
type theirs struct {
	ask    func(ctx context.Context) (names *payload.Map, err error)
	beside func(f func(ctx context.Context)) error // runs f beside whoever asks: it ends with the daemon, not with him
	now    func() time.Time

	turn   chan struct{} // who holds the one place may use what follows
	names  *payload.Map  // nil: they could not be had
	at     time.Time     // when they were told, zero: never
	asking chan struct{} // closed when the question under way is answered; nil: there is none
}

// newTheirs makes one that asks in an actor of calls.
func newTheirs(c *client.Client, calls *calls) *theirs {
	t := &theirs{now: time.Now, turn: make(chan struct{}, 1)}
	t.ask = func(ctx context.Context) (*payload.Map, error) {
		// as the master's own user: a list of functions is no secret
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

// surelyLack tells whether the master is known to lack a function. Nobody is asked, and nobody waits.
func (t *theirs) surelyLack(fun string) bool {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	lacks, sure := t.known(fun)
	return lacks && sure
}

// lack tells whether the master has no such function, and asks for its list where that is not known. What cannot be
// found out while ctx lasts is no lack. Any number may ask at the same time.
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
		if err := t.beside(t.list); err != nil { // there is no room for it now
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

// known is what the last list says of a function, and whether that counts.
func (t *theirs) known(fun string) (lacks, sure bool) {
	if t.names.Has(fun) {
		return false, true
	}
	return t.names.Len() > 0, !t.at.IsZero() && t.now().Sub(t.at) <= listedFor
}

// list asks for the functions. A master that does not tell them is not asked again at once, either.
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
