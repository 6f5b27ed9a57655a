package returners

import (
	"testing"

	"brine/wire/payload"
)

// TestMisset: what an operator can mend in the options keeps what waits for the returner; options that the job itself
// has brought stay wrong.
func TestMisset(t *testing.T) {
	reg := registry(t, Options{})
	for _, tt := range []struct {
		name string
		opts *payload.Map
		with *payload.Map // what the job brings
	}{
		{"sqlite3", payload.M("sqlite3.database", "jobs.db"), payload.M("timeout", "long")},
		{"postgres", payload.M("returner.postgres.port", "none"), payload.M("port", "none")},
		{"mysql", payload.M("mysql.port", "none"), payload.M("port", "none")},
		{"redis", payload.M("redis.port", "none"), payload.M("port", "none")},
		{"slack_webhook", payload.NewMap(0), payload.M("username", "x")},
		{"smtp", payload.M("smtp.host", "h"), payload.M("subject", "x")},
	} {
		env := withConfig(t, tt.opts)
		full := ret().Set("fun_args", []any{}).Set("retcode", int64(0)).Set("success", true)
		if err := Return(call(t, env), reg, tt.name, full); err == nil || Hopeless(err) {
			t.Errorf("%s: %v, hopeless %v", tt.name, err, Hopeless(err))
		}
		if err := Return(call(t, env), reg, tt.name, full.Clone().Set("ret_kwargs", tt.with)); !Hopeless(err) {
			t.Errorf("%s with options of the job: %v, and not hopeless", tt.name, err)
		}
	}
}
