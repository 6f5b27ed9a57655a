package ps_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"brine/modules/execution/ps"
	"brine/modules/loader"
	"brine/wire/payload"
)

// call calls a function of the module alone.
func call(t *testing.T, fun string, kw *payload.Map, args ...any) any {
	t.Helper()
	reg := loader.NewRegistry()
	reg.Offer(loader.Table{ps.Module})
	if err := reg.Check(); err != nil {
		t.Fatal(err)
	}
	v, err := loader.NewCall(t.Context(), &loader.Env{Registry: reg}, fun, nil).Call(fun, args, kw)
	if err != nil {
		t.Fatalf("%s: %v", fun, err)
	}
	return v
}

// TestFigures: figures of this machine are of the right size and hang together.
func TestFigures(t *testing.T) {
	mem := call(t, "ps.virtual_memory", nil).(*payload.Map)
	if total := call(t, "ps.total_physical_memory", nil); total != mem.Value("total") || total == int64(0) {
		t.Errorf("memory: %v and %v", total, mem)
	}
	if n := call(t, "ps.num_cpus", nil).(int64); n < 1 || int(n) != len(call(t, "ps.cpu_times",
		payload.M("per_cpu", true)).([]any)) {
		t.Errorf("%d processors", n)
	}
	if p := call(t, "ps.cpu_percent", payload.M("interval", 0.01)).(float64); p < 0 || p > 100 {
		t.Errorf("%v %% busy", p)
	}
	if s := call(t, "ps.boot_time", nil).(int64); s <= 0 || s > time.Now().Unix() {
		t.Errorf("started at %d", s)
	}
	if m := call(t, "ps.disk_usage", nil, "/").(*payload.Map); m.Value("total") == int64(0) {
		t.Errorf("the disk: %v", m)
	}
	if all := call(t, "ps.disk_partitions", payload.M("all", true)).([]any); len(all) == 0 {
		t.Error("nothing is mounted")
	}
	swap := call(t, "ps.swap_memory", nil).(*payload.Map)
	text, err := os.ReadFile("/proc/meminfo")
	if err == nil && strings.Contains(string(text), "SwapTotal:") != (swap.Value("total") != nil) {
		t.Errorf("swap: %v", swap)
	}
}

// TestOwn: this process is found by its name, its state and its owner, and by no other owner.
func TestOwn(t *testing.T) {
	own := int64(os.Getpid())
	has := func(v any) bool {
		list, _ := v.([]any)
		for _, pid := range list {
			if pid == own {
				return true
			}
		}
		return false
	}
	if !has(call(t, "ps.get_pid_list", nil)) || !has(call(t, "ps.pgrep", payload.M("full", true), "ps.test")) {
		t.Error("the process of this test is not found")
	}
	if !has(call(t, "ps.pgrep", payload.M("full", true, "pattern_is_regex", true), "ps[.]test")) {
		t.Error("it is not found by a regular expression")
	}
	if os.Geteuid() == 0 && !has(call(t, "ps.pgrep", payload.M("full", true, "user", "root"), "ps.test")) {
		t.Error("it is not found as one of root")
	}
	if has(call(t, "ps.pgrep", payload.M("full", true, "user", "nosuchuser"), "ps.test")) {
		t.Error("it is found as one of a user who is not there")
	}
	if v := call(t, "ps.pkill", payload.M("full", true, "signal", int64(9)), "ps.test -test.nosuch"); v != nil {
		t.Errorf("ended %v", v)
	}
}
