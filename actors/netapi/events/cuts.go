package events

import (
	"log/slog"
	"sync/atomic"
	"time"

	"brine/modules/netapi/feed"
)

// cutsMost is the number of slow readers that the log names per minute. A flood of them must not fill the log.
const cutsMost = 20

// cuts logs readers that were too slow.
type cuts struct {
	minute atomic.Int64
	n      atomic.Int64 // in this minute
}

func (c *cuts) tell(log *slog.Logger, s *feed.Stream, why error) {
	if now := time.Now().Unix() / 60; c.minute.Swap(now) != now {
		if n := c.n.Swap(0); n > cutsMost {
			log.Warn("event streams cut that were too slow, beside those that were named", "streams", n-cutsMost)
		}
	}
	if c.n.Add(1) > cutsMost {
		return
	}
	log.Warn("event stream cut: its reader is too slow", "reader", s.Name(), "since",
		s.Since().UTC().Format(time.RFC3339), "err", why)
}
