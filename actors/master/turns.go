package master

import (
	"context"

	"brine/modules/fleet/door"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// turns make what takes long a matter of one request of a minion at a time.
type turns struct {
	*door.Turns
	complaints *complaints
}

// inTurn answers a minion's request with what f returns, beside its worker and when it is the minion's turn.
func (t *turns) inTurn(r *call, name string, f func(ctx context.Context) (any, error)) (any, error) {
	return t.inTurnThen(r, func() {}, name, f)
}

// inTurnThen is inTurn, and calls end when it is over, whatever came of it.
func (t *turns) inTurnThen(r *call, end func(), name string, f func(ctx context.Context) (any, error)) (any, error) {
	r.beside(name, func(ctx context.Context) {
		defer end()
		done, err := t.Take(ctx, r.id)
		var v any
		if err == nil {
			defer done()
			if r.req.answered.Load() { // by its deadline, while it waited
				return
			}
			v, err = f(ctx)
		}
		if err != nil {
			t.complaints.warn("request failed", r.id, "cmd", payload.Command(r.load), "minion", r.id, "err", err)
			r.req.fail()
			return
		}
		r.finish(v)
	})
	return nil, errLater
}

// oneID tells whether a target is a single id, which needs no turn.
func oneID(tgt any, tgtType string) bool {
	id, ok := tgt.(string)
	return ok && (tgtType == "" || tgtType == "glob") && payload.ValidID(id) && !fnmatch.HasMagic(id)
}
