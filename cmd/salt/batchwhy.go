package salt

import "context"

// askDown begins to ask why minions did not answer the ping, where that is wanted. The batch goes on meanwhile.
func (b *batchRun) askDown(ctx context.Context, ping *hops) {
	if len(ping.mute) == 0 || !b.explains() {
		return
	}
	b.down = make(chan []string, 1)
	go func() { b.down <- b.reasons(ctx, ping.jid, ping.mute) }()
}

// explain says at the end of a batch on stderr why minions are silent, where that is wanted: those that did not answer
// the ping, unless that is said already, and those that have not returned.
func (b *batchRun) explain(ctx context.Context) {
	if b.down != nil {
		b.sayReasons(<-b.down)
		b.down = nil
	}
	if b.way != nil {
		b.way.explain(ctx)
	}
}
