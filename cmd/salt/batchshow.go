package salt

import (
	"context"
	"fmt"
	"slices"

	"brine/cmd/display"
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
func (b *batchRun) showReturns(ctx context.Context, returns []batchReturn) error {
	for _, r := range returns {
		if !r.failed {
			r.data.Set("ret", b.untrimmed(ctx, b.state.jid, r.id, r.data.Value("ret")))
		}
		switch {
		case r.failed && !b.quiet:
			fmt.Fprintf(b.Stdout, "Minion '%s' failed to respond to job sent\n", r.id)
		case r.failed:
		case b.quiet:
			b.merged.Set(r.id, r.data.Value("ret"))
		default:
			shown, out := shownEntry(r.id, r.data)
			if err := display.Show(b.Session, shown, display.How{Out: out, Minions: true}); err != nil {
				return err
			}
		}
		if !r.failed {
			b.code = max(b.code, r.retcode)
		}
	}
	if b.state.reason == failhard && len(returns) > 0 {
		b.Log.Error("Batch run stopped due to failhard")
	}
	return nil
}

// addEmpty gives minions that never returned an empty result.
func (b *batchRun) addEmpty(ids []string) {
	for _, id := range ids {
		if how, _ := b.state.failed.Value(id).(string); how == "timeout" && !b.merged.Has(id) {
			b.merged.Set(id, payload.NewMap(0))
		}
	}
}

// tell lets the master know how the batch stands, so that its runners can show and stop it. A bus that cannot be
// reached does not stop a batch.
func (b *batchRun) tell(ctx context.Context, step string) {
	if err := b.bus.Fire(context.WithoutCancel(ctx), event.TagBatch(b.state.jid, step), b.state.stateEvent()); err != nil {
		b.Log.Debug("batch event not sent", "err", err)
	}
}
