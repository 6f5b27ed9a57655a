package salt

import (
	"context"
	"time"

	"brine/cmd/masterlink"
	"brine/modules/fleet/batch"
	"brine/wire/client"
)

// batchTogether is the most returns that take handles at a time.
const batchTogether = 1000

// await waits for the next returns, for a free place, or until a progress event of the batch is due.
func (b *batchRun) await(ctx context.Context) (returns []batch.Return, silent []string, err error) {
	if n := b.next; n != nil {
		b.next = nil
		return b.take(*n)
	}
	var alarm <-chan time.Time
	if at := batch.Sooner(b.state.Wake(), b.pace.Wake()); !at.IsZero() {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		alarm = timer.C
	}
	select {
	case n := <-b.news:
		return b.take(n)
	case lines := <-b.down:
		b.sayReasons(lines)
		b.down = nil
	case <-alarm:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	return nil, nil, nil
}

// take handles news. If the news is a return, take also collects the returns that are already there, up to one
// that ends the batch.
func (b *batchRun) take(n batchNews) (returns []batch.Return, silent []string, err error) {
	for began := time.Now(); ; {
		switch {
		case b.isReturn(n):
			b.way.see(*n.ret)
			b.taken[n.ret.ID] = true
			failed, _ := n.ret.Data.Field("failed").(bool)
			one := batch.Return{ID: n.ret.ID, Data: batch.Entry(n.ret.Data), Retcode: retcodeOf(n.ret.Data),
				Failed: failed}
			if returns = append(returns, one); one.Bad() && b.state.Failhard || len(returns) == batchTogether {
				return returns, nil, nil
			}
			more, ok := b.more(began, len(returns))
			if !ok {
				return returns, nil, nil
			}
			n = more
			continue
		case len(returns) > 0:
			b.next = &n
			return returns, nil, nil
		case n.err != nil:
			return nil, nil, masterlink.ClientError(b.Session, n.err)
		case n.halt != "":
			b.state.Halt(n.halt)
		case n.ret != nil && n.ret.Silence != client.Answered:
			b.way.see(*n.ret)
		default:
			silent = n.silent
		}
		return nil, silent, nil
	}
}

// These constants bound how long the free places of a big batch wait for further ones. One publication then
// fills them all, and each publication goes to every minion of the master.
const (
	turnWithin = 20 * time.Millisecond
	turnShare  = 10 // of the places
)

// more gives the next news if some is there, or if some arrives while returns are still being gathered.
func (b *batchRun) more(began time.Time, have int) (batchNews, bool) {
	select {
	case n := <-b.news:
		return n, true
	default:
	}
	if b.state.Waiting() == 0 || have >= b.state.Places()/turnShare {
		return batchNews{}, false
	}
	select {
	case n := <-b.news:
		return n, true
	case <-time.After(time.Until(began.Add(turnWithin))):
		return batchNews{}, false
	}
}

// isReturn tells whether the news is the first return of a minion that is at work.
func (b *batchRun) isReturn(n batchNews) bool {
	return n.err == nil && n.halt == "" && n.ret != nil && n.ret.Silence == client.Answered &&
		b.state.AtWork(n.ret.ID) && !b.taken[n.ret.ID]
}
