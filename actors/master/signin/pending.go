package signin

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"brine/actors/master/complaints"
	"brine/modules/fleet/door"
	"brine/modules/fleet/keys"
)

// countAgain is how long a count of the pending keys stands; those that are stored meanwhile are added to it.
const countAgain = 5 * time.Second

// pending bounds the keys that wait for an operator: in number, and in rate by address. Many honest minions may share
// one.
type pending struct {
	complaints *complaints.Log
	log        *slog.Logger
	keys       *keys.Store
	max        int // max_pending_keys; 0: no limit
	rates      door.Rates

	count   atomic.Int64
	counted atomic.Int64 // when, in nanoseconds
}

// newPending lets in max pending keys and so many new ones of an address in a minute; 0: any number.
func newPending(max, perMinute int, store *keys.Store, complaints *complaints.Log, log *slog.Logger) *pending {
	return &pending{complaints: complaints, log: log, keys: store, max: max, rates: door.Rates{PerMinute: perMinute}}
}

// admit tells why a new key may not be stored, "" when it may. A denied key takes no place among the pending ones.
func (p *pending) admit(from string, waits bool) (why string) {
	if waits && p.max > 0 && p.total() >= int64(p.max) {
		p.complaints.Warn("too many keys wait for an operator, new ones are not stored (max_pending_keys)", "",
			"max_pending_keys", p.max, "last_from", from)
		return "max_pending_keys is reached"
	}
	if !p.rates.Take(from) {
		p.complaints.Warn("too many new keys from one address, the next are not stored yet (pending_keys_rate)", from,
			"pending_keys_rate", p.rates.PerMinute)
		return fmt.Sprintf("more new keys than pending_keys_rate from %s", from)
	}
	if waits {
		p.count.Add(1)
	}
	return ""
}

// total is how many keys are pending, or were a moment ago.
func (p *pending) total() int64 {
	now := time.Now().UnixNano()
	last := p.counted.Load()
	if now-last < int64(countAgain) && now >= last || !p.counted.CompareAndSwap(last, now) {
		return p.count.Load()
	}
	ids, err := p.keys.IDs(keys.Pending)
	if err != nil {
		p.log.Error("pending keys cannot be counted", "err", err)
		return p.count.Load()
	}
	p.count.Store(int64(len(ids)))
	return p.count.Load()
}
