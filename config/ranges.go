package config

import (
	"math"

	"brine/wire/payload"
)

// span is what a number may be, both ends included.
type span struct {
	key       string
	low, high int64
}

// spans are those of brine's own options. Salt does not look whether a number makes sense; here it would be a limit that
// is none.
func spans() []span {
	return []span{
		{"job_store_compact_percent", 0, 100},
		{"max_connections", 0, 1 << 30},
		{"job_store_queue_max", 1, 1 << 30},
		{"event_bus_max", 1, 1 << 30},
		{"event_bus_max_bytes", 1, math.MaxInt64},
		{"job_store_compact_min_bytes", 0, math.MaxInt64},
		{"pub_max_topics", 1, math.MaxInt32},
	}
}

// checkSpans refuses numbers that an option cannot have. What is no number is told of elsewhere.
func (ld *loading) checkSpans(opts *payload.Map) error {
	for _, s := range spans() {
		n, ok := opts.Value(s.key).(int64)
		if ok && (n < s.low || n > s.high) {
			return ld.bad(s.key, n, "Config option '%s' with value %d must be at least %d and at most %d", s.key, n, s.low, s.high)
		}
	}
	return nil
}
