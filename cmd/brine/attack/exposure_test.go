package attack

import (
	"testing"

	"brine/wire/payload"
)

// TestStrangerMethods tries names of methods that Salt's master has, and that nobody may call from outside.
func TestStrangerMethods(t *testing.T) {
	s := newSite(t, "")
	p := s.stranger()
	for _, cmd := range []string{"_prep_auth_info", "_send_pub", "_prep_jid", "_auth_impl", "__init__", "__class__", "destroy", "connect",
		"run_func", "get_method", "_return", "_minion_event", "_pillar", "_serve_file", "mine_get", "publish_batch", ""} {
		v, err := p.ask(payload.M("cmd", cmd, "load", payload.M("fun", "test.ping"), "fun", "test.ping", "tgt", "*", "arg", []any{}, "id", honest))
		if err != nil {
			t.Errorf("%q: %v", cmd, err)
			continue
		}
		if m, ok := v.(*payload.Map); ok && m.Len() > 0 {
			t.Errorf("%q: a stranger gets %v", cmd, m)
		}
	}
	s.good()
}
