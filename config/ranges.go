package config

import (
	"math"

	"brine/wire/payload"
	"brine/wire/python"
)

// span is what a number may be, both ends included.
type span struct {
	key       string
	low, high float64
}

// spans are those of brine's own options. Salt does not look whether a number makes sense; here it would be a limit
// that is none.
func spans() []span {
	const many = 1 << 30
	return []span{
		{"job_store_compact_percent", 0, 100},
		{"job_store_compact_min_bytes", 0, math.MaxInt64},
		{"job_store_queue_max", 1, many},
		{"event_bus_max", 1, many},
		{"event_bus_max_bytes", 1, math.MaxInt64},
		{"return_spool_max_bytes", 0, math.MaxInt64},
		{"return_spool_max_age", 0, many},
		{"max_connections", 0, many},
		{"pub_max_topics", 1, math.MaxInt32},
		{"target_timeout", 0.1, many},
		{"login_failures_max", 0, many},
		{"max_pending_keys", 0, many},
		{"pending_keys_rate", 0, many},
		{"request_bytes_max", 16 << 20, math.MaxInt64},
		{"minion_quota_events", 0, many},
		{"minion_quota_event_bytes", 0, math.MaxInt64},
		{"minion_quota_jobs", 0, many},
		{"minion_quota_mine", 0, many},
		{"minion_quota_grains", 0, many},
		{"minion_quota_return_bytes", 0, math.MaxInt64},
		{"minion_quota_peer", 0, many},
		{"minion_files_max_bytes", 0, math.MaxInt64},
		{"minion_events_max", 0, many},
		{"minion_data_max_bytes", 0, math.MaxInt64},
	}
}

// checkSpans refuses numbers that an option cannot have, and what is no number. An option that the daemon does not have
// is passed over.
func (ld *loading) checkSpans(opts *payload.Map) error {
	for _, s := range spans() {
		v, has := opts.Get(s.key)
		if !has {
			continue
		}
		if n, err := toNumber(v); err != nil || n < s.low || n > s.high {
			err := ld.fault(ld.bad(s.key, v, "Config option '%s' with value %s must be a number, at least %v and at "+
				"most %v", s.key, python.Str(v), s.low, s.high))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
