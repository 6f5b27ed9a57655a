package door

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

const (
	knockWindow    = time.Minute // in which failures are counted
	knocksAddress  = 10          // times the limit of one user are all of an address together
	knocksWaiting  = 256         // of an address wait, unless it is said
	knocksVisitors = 1 << 16     // users and addresses that are counted apart; past it all others are one
	knocksGuests   = 1 << 12     // users at addresses of whom it is remembered that they have come in
)

// ErrKnocks means that too many of somebody's knocks have failed, or wait.
var ErrKnocks = errors.New("door: too many have failed")

// Knocks counts the log-ins that failed in the present minute, by address and user and by address alone, and lets no
// more be tried at a time than may still fail: a storm of them is not over before the first has failed. Users who have
// come in at an address before are counted together apart from those who have not: who guesses names there does not
// shut them out. The zero value is ready.
type Knocks struct {
	Waiting int // of an address so many wait at most; 0: 256

	mu      sync.Mutex
	since   time.Time
	guests  map[visitor]struct{} // have come in
	known   map[visitor]*knocks
	changed chan struct{} // closed when somebody has left
	now     func() time.Time
}

// visitor is a user at an address, or with all set all of an address: those who have come in before, or the others.
type visitor struct {
	from, user string
	all, guest bool
}

type knocks struct{ failed, inside, waiting int }

func (k *knocks) idle() bool { return *k == knocks{} }

// Enter waits until a log-in may be tried; most failures of a user at an address are allowed in a minute, and ten times
// as many of an address. Who was let in leaves and tells whether it failed. The error is ErrKnocks, or the context's.
func (k *Knocks) Enter(ctx context.Context, most int, from, user string) (leave func(failed bool), err error) {
	if most <= 0 {
		return func(bool) {}, nil
	}
	from = Network(from)
	k.mu.Lock()
	defer k.mu.Unlock()
	_, guest := k.guests[visitor{from: from, user: user}]
	me, we := visitor{from: from, user: user}, visitor{from: from, all: true, guest: guest}
	for {
		k.turn()
		one, all := k.of(me), k.of(we)
		switch {
		case one.failed >= most || all.failed >= most*knocksAddress || all.waiting >= cmp.Or(k.Waiting, knocksWaiting):
			k.sweep(me, we)
			return nil, ErrKnocks
		case one.failed+one.inside < most && all.failed+all.inside < most*knocksAddress:
			one.inside++
			all.inside++
			return func(failed bool) { k.leave(me, we, one, all, failed) }, nil
		}
		if err := k.wait(ctx, all); err != nil {
			k.sweep(me, we)
			return nil, err
		}
	}
}

// Came remembers that a user has come in at an address.
func (k *Knocks) Came(from, user string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.guests == nil {
		k.guests = map[visitor]struct{}{}
	}
	for v := range k.guests { // any: who is forgotten is counted with the others
		if len(k.guests) < knocksGuests {
			break
		}
		delete(k.guests, v)
	}
	k.guests[visitor{from: Network(from), user: user}] = struct{}{}
}

// wait waits until somebody leaves.
func (k *Knocks) wait(ctx context.Context, all *knocks) error {
	if k.changed == nil {
		k.changed = make(chan struct{})
	}
	changed := k.changed
	all.waiting++
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		all.waiting--
	}()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *Knocks) leave(me, we visitor, one, all *knocks, failed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn()
	one.inside--
	all.inside--
	if failed {
		one.failed++
		all.failed++
	}
	k.sweep(me, we)
	if k.changed != nil {
		close(k.changed)
		k.changed = nil
	}
}

// of are the knocks of a visitor.
func (k *Knocks) of(v visitor) *knocks {
	if k.known[v] == nil && len(k.known) >= knocksVisitors {
		v = visitor{all: v.all, guest: v.guest}
	}
	if k.known[v] == nil {
		if k.known == nil {
			k.known = map[visitor]*knocks{}
		}
		k.known[v] = &knocks{}
	}
	return k.known[v]
}

// sweep forgets who has nothing to be remembered for.
func (k *Knocks) sweep(visitors ...visitor) {
	for _, v := range visitors {
		if n := k.known[v]; n != nil && n.idle() {
			delete(k.known, v)
		}
	}
}

// turn begins anew with each minute.
func (k *Knocks) turn() {
	now := time.Now()
	if k.now != nil {
		now = k.now()
	}
	if past := now.Sub(k.since); past >= 0 && past < knockWindow {
		return
	}
	k.since = now
	for v, n := range k.known {
		if n.failed = 0; n.idle() {
			delete(k.known, v)
		}
	}
}
