package workers

import (
	"time"

	"brine/actors/master/access"
	"brine/modules/fleet/ledger"
	"brine/wire/event"
	"brine/wire/payload"
)

// registerResources notes the resources that a minion manages.
func (d *dataHandler) registerResources(r *call) (any, error) {
	ids, has := payload.Resources(r.load)
	if !has {
		return payload.NewMap(0), nil
	}
	if d.admission.Quotas.Take(r.id, access.QuotaGrains, 1, 1, time.Now()) == 0 {
		d.admission.Deny(r.id, ledger.DeniedGrains, 1, d.admission.GrainsQuota())
		return false, nil
	}
	refused, err := d.admission.Managed.Register(r.id, ids)
	if err != nil {
		return nil, err
	}
	if len(refused) > 0 {
		d.admission.Deny(r.id, ledger.DeniedReturn, len(refused), "it registers resources that are not its own, "+
			payload.Show(refused[0])+" for one")
	}
	if d.opt.Cached && d.opt.Told {
		d.events.Fire(event.TagResourceRefresh(r.id), event.ResourceRefresh(r.id))
	}
	return true, nil
}
