package chaos

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"brine/wire/client"
	"brine/wire/event"
	"brine/wire/payload"
)

// told is a return as it appeared on the bus.
type told struct {
	outcome string
	at      time.Time // of its first appearance
}

// bus listens to the events of the master, reconnects whenever it loses the connection, and stores every
// return. Returns that it misses meanwhile do no harm, because the job store counts.
type bus struct {
	client *client.Client
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	told    map[string]map[string]told // returns by jid and minion
	changed chan struct{}              // closed at the next return
	twice   []string                   // returns that appeared with two outcomes
	repeats int                        // repeated returns
	joins   int
}

func newBus(c *client.Client) *bus {
	ctx, cancel := context.WithCancel(context.Background())
	b := &bus{client: c, cancel: cancel, done: make(chan struct{}), told: map[string]map[string]told{},
		changed: make(chan struct{})}
	go func() {
		defer close(b.done)
		for ctx.Err() == nil {
			b.listen(ctx)
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}()
	return b
}

func (b *bus) close() {
	b.cancel()
	<-b.done
	_ = b.client.Close() // no request is in progress
}

// listen reads events until the connection ends.
func (b *bus) listen(ctx context.Context) {
	events, err := b.client.Events(ctx)
	if err != nil {
		return
	}
	defer events.Close()
	b.mu.Lock()
	b.joins++
	b.mu.Unlock()
	for {
		body, err := events.Next(ctx)
		if err != nil {
			return
		}
		parts := strings.Split(event.Tag(body), "/")
		if len(parts) == 5 && parts[0] == "salt" && parts[1] == "job" && parts[3] == "ret" {
			if _, data, err := event.Unpack(body); err == nil {
				b.take(parts[2], parts[4], outcomeOf(data))
			}
		}
	}
}

// outcomeOf writes the outcome in a return as one text.
func outcomeOf(data *payload.Map) string {
	return fmt.Sprint(data.Value("return"), " ", data.Value("retcode"), " ", data.Value("success"))
}

func (b *bus) take(jid, id, outcome string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told[jid] == nil {
		b.told[jid] = map[string]told{}
	}
	now := told{outcome, time.Now()}
	if before, again := b.told[jid][id]; again {
		b.repeats++
		if before.outcome != outcome {
			b.twice = append(b.twice, fmt.Sprintf("job %s of %s was told as %.300q and as %.300q", jid, id,
				before.outcome, outcome))
		}
		now.at = before.at
	}
	b.told[jid][id] = now
	close(b.changed)
	b.changed = make(chan struct{})
}

// of returns the minions that have returned.
func (b *bus) of(jid string) map[string]told {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.told[jid])
}

// first is the time of a minion's first return to any of some jobs.
func (b *bus) first(jids []string, id string) (at time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, jid := range jids {
		if one, has := b.told[jid][id]; has && (!ok || one.at.Before(at)) {
			at, ok = one.at, true
		}
	}
	return at, ok
}

// await waits until n minions have returned a job, or the context has ended.
func (b *bus) await(ctx context.Context, jid string, n int) {
	for {
		b.mu.Lock()
		have, changed := len(b.told[jid]), b.changed
		b.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// forget drops the returns of jobs that are checked.
func (b *bus) forget(jids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, jid := range jids {
		delete(b.told, jid)
	}
}

// settle returns the results of a round: contradictions, repeated returns, and the number of connections to the
// bus.
func (b *bus) settle() (twice []string, repeats, joins int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	twice, repeats, joins = b.twice, b.repeats, b.joins
	b.twice, b.repeats, b.joins = nil, 0, 0
	return twice, repeats, joins
}
