package salt

import (
	"context"
	"fmt"
	"slices"

	"brine/cmd/display"
	"brine/modules/fleet/batch"
	"brine/wire/event"
	"brine/wire/payload"
)

// sayDown names the minions that did not answer the ping.
func (b *batchRun) sayDown(ids []string) {
	slices.Sort(ids)
	for _, id := range ids {
		if !b.quiet {
			fmt.Fprintf(b.Stdout, "Minion %s did not respond. No job will be sent.\n", id)
		}
	}
}

// showReturns shows returns, or keeps them for --static.
func (b *batchRun) showReturns(ctx context.Context, returns []batch.Return) error {
	for _, r := range returns {
		if !r.Failed {
			r.Data.Set(batch.EntryValue, b.untrimmed(ctx, b.state.JID, r.ID, r.Data.Value(batch.EntryValue)))
		}
		switch {
		case r.Failed && !b.quiet:
			fmt.Fprintf(b.Stdout, "Minion '%s' failed to respond to job sent\n", r.ID)
		case r.Failed:
		case b.quiet:
			b.merged.Set(r.ID, r.Data.Value(batch.EntryValue))
		default:
			shown, out := batch.Shown(r.ID, r.Data)
			if err := display.Show(b.Session, shown, display.How{Out: out, Minions: true}); err != nil {
				return err
			}
		}
		if !r.Failed {
			b.code = max(b.code, r.Retcode)
		}
	}
	if reason, _ := b.state.Halted(); reason == batch.Failhard && len(returns) > 0 {
		b.Log.Error("Batch run stopped due to failhard")
	}
	return nil
}

// addEmpty gives an empty result to minions that never returned.
func (b *batchRun) addEmpty(ids []string) {
	for _, id := range ids {
		if b.state.Silent(id) && !b.merged.Has(id) {
			b.merged.Set(id, payload.NewMap(0))
		}
	}
}

// tell reports the progress of the batch to the master, so that the master's runners can show and stop it. The
// batch goes on even if the bus cannot be reached.
func (b *batchRun) tell(ctx context.Context, step string) {
	if err := b.bus.Fire(context.WithoutCancel(ctx), event.TagBatch(b.state.JID, step),
		b.state.StateEvent()); err != nil {
		b.Log.Debug("batch event not sent", "err", err)
	}
}
