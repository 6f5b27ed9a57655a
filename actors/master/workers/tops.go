package workers

import (
	"context"

	"brine/wire/payload"
)

// masterTops tells a minion which states it has by master_tops. What goes wrong is logged and gives none, as in Salt.
//
// Unlike Salt: it is the id that has signed in, and not one that the options of the load name.
func (d *dataHandler) masterTops(r *call) (any, error) {
	opts := r.load.Map("opts")
	if !opts.Has(payload.FieldID) {
		return payload.NewMap(0), nil
	}
	return d.turns.inTurn(r, "master_tops", func(ctx context.Context) (any, error) {
		out, err := d.tops.Of(ctx, r.id)
		if err != nil {
			d.log.Error("master_tops could not be asked", "minion", r.id, "err", err)
			return payload.NewMap(0), nil
		}
		return out, nil
	})
}
