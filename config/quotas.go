package config

import "brine/wire/payload"

// atLeastZero are numbers that have no meaning below zero.
var atLeastZero = []string{"minion_quota_events", "minion_quota_event_bytes", "minion_quota_jobs", "minion_quota_mine",
	"minion_quota_grains", "minion_events_max", "minion_data_max_bytes"}

// checkQuotas refuses quotas that are no numbers, or negative.
func (ld *loading) checkQuotas(opts *payload.Map) error {
	for _, key := range atLeastZero {
		v := opts.Value(key)
		if n, ok := number(v); !ok || n < 0 {
			return ld.bad(key, v, "Config option '%s' with value %s: a number of at least 0 is required (0: no limit)", key, pyStr(v))
		}
	}
	return nil
}
