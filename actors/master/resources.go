package master

import (
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/event"
	"brine/wire/payload"
)

// registerResources notes the resources that a minion manages.
func (d *dataDesk) registerResources(r *call) (any, error) {
	ids, has := payload.Resources(r.load)
	if !has {
		return payload.NewMap(0), nil
	}
	if d.gate.quotas.Take(r.id, quotaGrains, 1, 1, time.Now()) == 0 {
		d.gate.deny(r.id, ledger.DeniedGrains, 1, d.gate.grainsQuota())
		return false, nil
	}
	refused, err := d.gate.managed.Register(r.id, ids)
	if err != nil {
		return nil, err
	}
	if len(refused) > 0 {
		d.gate.deny(r.id, ledger.DeniedReturn, len(refused), "it registers resources that are not its own, "+
			payload.Show(refused[0])+" for one")
	}
	if d.opt.cached && d.opt.told {
		d.events.fire(event.TagResourceRefresh(r.id), event.ResourceRefresh(r.id))
	}
	return true, nil
}
