package salt

import "context"

// askDown starts to ask the master why minions did not answer the ping, if the user wants reasons. The batch
// goes on meanwhile.
func (b *batchRun) askDown(ctx context.Context, ping *hops) {
	if len(ping.mute) == 0 || !b.explains() {
		return
	}
	b.down = make(chan []string, 1)
	go func() { b.down <- b.reasons(ctx, ping.jid, ping.mute) }()
}

// explain prints to stderr, at the end of a batch, why minions are silent, if the user wants reasons. It covers
// minions that did not answer the ping, unless they are explained already, and minions that have not returned.
func (b *batchRun) explain(ctx context.Context) {
	if b.down != nil {
		b.sayReasons(<-b.down)
		b.down = nil
	}
	if b.way != nil {
		b.way.explain(ctx)
	}
}
