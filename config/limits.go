package config

import "brine/wire/payload"

// floors are the least values of the limits of a master that are brine's own.
var floors = map[string]float64{
	"target_timeout":     0.1,
	"login_failures_max": 0,
	"max_pending_keys":   0,
	"pending_keys_rate":  0,
	"request_bytes_max":  16 << 20,
}

// applyLimits refuses limits that are none.
func (ld *loading) applyLimits(opts *payload.Map) error {
	for key, least := range floors {
		v := opts.Value(key)
		n, err := toNumber(v)
		if err != nil || n < least {
			return ld.bad(key, v, "option '%s' is %s: it must be a number, at least %v", key, pyStr(v), least)
		}
	}
	return nil
}
