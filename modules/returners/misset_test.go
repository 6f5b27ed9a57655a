package returners_test

import (
	"testing"

	"brine/modules/all"
	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// TestMisset: what an operator can mend in the options keeps what waits for the returner; options that the job itself
// has brought stay wrong.
func TestMisset(t *testing.T) {
	reg := returnertest.Registry(all.Returners(returners.Options{})...)
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
		env := returnertest.Config(t, tt.opts)
		full := returnertest.Ret().Set("fun_args", []any{}).Set("retcode", int64(0)).Set("success", true)
		if err := returners.Return(returnertest.Call(t, env), reg, tt.name, full); err == nil || returners.Hopeless(err) {
			t.Errorf("%s: %v, hopeless %v", tt.name, err, returners.Hopeless(err))
		}
		if err := returners.Return(returnertest.Call(t, env), reg, tt.name, full.Clone().Set("ret_kwargs",
			tt.with)); !returners.Hopeless(err) {
			t.Errorf("%s with options of the job: %v, and not hopeless", tt.name, err)
		}
	}
}
