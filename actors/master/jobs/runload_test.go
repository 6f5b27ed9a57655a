package jobs

import (
	"testing"

	"brine/wire/payload"
)

// TestRunnerLoad: the load that stands for a run names its arguments, or none; Salt's runners read it from local_cache.
func TestRunnerLoad(t *testing.T) {
	for _, tt := range []struct {
		name string
		kv   []any
		want []any
	}{
		{"no arguments", nil, []any{}},
		{"arguments", []any{"fun_args", []any{"a"}}, []any{"a"}},
	} {
		load := payload.M("jid", "20261121000000000001", "fun", "runner.jobs.active", "return",
			payload.M("return", true))
		load.Update(payload.M(tt.kv...))
		want := payload.M("fun", "runner.jobs.active", "arg", tt.want, "tgt", "m_master", "tgt_type", "glob", "ret", "",
			"jid", "20261121000000000001")
		if got := runnerLoad(load, "m_master"); !payload.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, want)
		}
	}
}
