package environ_test

import (
	"slices"
	"testing"

	"brine/modules/host/environ"
)

// TestJobs: what a job changes is in its own context, over the variables of the process, and in no other one.
func TestJobs(t *testing.T) {
	t.Setenv("T_PROCESS", "p")
	t.Setenv("T_GONE", "g")
	t.Setenv("BRINE_MINION__PROXY_PASSWORD", "secret")
	one, two := environ.With(t.Context()), environ.With(t.Context())
	mine := environ.Of(environ.With(one)) // a job within the job
	mine.Set("T_OWN", "o")
	mine.Set("T_PROCESS", "changed")
	mine.Unset("T_GONE")
	for _, tt := range []struct {
		vars *environ.Vars
		want map[string]string // "": not there
	}{
		{environ.Of(one), map[string]string{"T_OWN": "o", "T_PROCESS": "changed", "T_GONE": "",
			"BRINE_MINION__PROXY_PASSWORD": ""}},
		{environ.Of(two), map[string]string{"T_OWN": "", "T_PROCESS": "p", "T_GONE": "g",
			"BRINE_MINION__PROXY_PASSWORD": ""}},
		{environ.Of(t.Context()), map[string]string{"T_OWN": "", "T_PROCESS": "p", "T_GONE": "g"}},
	} {
		list := tt.vars.List()
		for name, want := range tt.want {
			got, there := tt.vars.Get(name)
			if got != want || there != (want != "") || slices.Contains(list, name+"="+want) != there {
				t.Errorf("%s: %q, %v, in %v; want %q", name, got, there, list, want)
			}
		}
	}
	if all := environ.Of(one).ForPrograms(); !slices.Contains(all, "BRINE_MINION__PROXY_PASSWORD=secret") ||
		!slices.Contains(all, "T_OWN=o") {
		t.Errorf("for programs: %v", all)
	}
}
