//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// scheduleOf is a schedule with a job of each kind. soon is a time after the minions are ready.
func scheduleOf(soon time.Time) string {
	return fmt.Sprintf(`schedule:
  interval: {function: test.arg, args: [1, "a=b"], kwargs: {k: v}, seconds: 5, metadata: {who: me}}
  by_cron: {function: test.ping, cron: "* * * * *"}
  by_once: {function: test.true, once: "%s"}
  by_when: {function: test.false, when: "%s"}
  unknown: {function: no.such, hours: 1}
  kept: {function: test.ping, seconds: 5, return_job: False}
  disabled: {function: test.ping, seconds: 5, enabled: False}
  over: {function: test.ping, once: "2001-01-01T00:00:00"}
  outside: {function: test.ping, seconds: 5, run_on_start: False, range: {start: "2001-01-01", end: "2001-01-02"}}
`, soon.Format("2006-01-02T15:04:05"), soon.Format("2006-01-02 15:04:05"))
}

// TestSchedule gives a brine minion and a Salt 3008 minion the same schedule. The master gets the same jobs
// from both, in the same form. A job with a single time does not run twice.
func TestSchedule(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	f := newFleet(t, brine, brine, map[string]string{"m1": brine, "m2": reference}, plain)
	f.startMaster(f.master)
	w := f.watch(brine, func() { f.mustRun(brine, "salt-run", "test.arg", "x") })
	for _, id := range f.ids {
		f.configMinion(id, fleetMinion+scheduleOf(time.Now().Add(time.Minute)))
	}
	f.startMinions()
	f.acceptAll()
	// Salt misses a job with a single time if the machine is too busy at that time
	want := []string{"interval", "by_cron", "unknown"}
	var got map[string]map[string][]map[string]any
	f.eventually(3*time.Minute, "returns of all scheduled jobs", func() error {
		got = w.scheduled()
		for _, id := range f.ids {
			for _, name := range want {
				if n := len(got[id][name]); n == 0 || name == "interval" && n < 3 {
					return fmt.Errorf("%s has returned %s %d times", id, name, n)
				}
			}
		}
		return nil
	})
	for name, theirs := range got["m2"] {
		if ours := got["m1"][name]; len(ours) > 0 {
			if diff := cmp.Diff(theirs[0], ours[0]); diff != "" {
				t.Errorf("%s: Salt - brine +\n%s", name, diff)
			}
		}
	}
	for _, id := range f.ids {
		for name, all := range got[id] {
			if len(all) > 1 && (name == "by_once" || name == "by_when") {
				t.Errorf("%s has run %s %d times", id, name, len(all))
			}
			if name == "kept" || name == "disabled" || name == "over" || name == "outside" {
				t.Errorf("%s has returned %s", id, name)
			}
		}
	}
}

// scheduled returns the returns of scheduled jobs on the bus, by minion and job, without data that differs each
// time.
func (w *watcher) scheduled() map[string]map[string][]map[string]any {
	out := map[string]map[string][]map[string]any{}
	for line := range strings.Lines(w.output()) {
		tag, text, _ := strings.Cut(line, "\t")
		var ret map[string]any
		if !strings.Contains(tag, "/ret/") || json.Unmarshal([]byte(text), &ret) != nil || ret["schedule"] == nil {
			continue
		}
		id, name := fmt.Sprint(ret["id"]), fmt.Sprint(ret["schedule"])
		forget(ret, "id", "jid", "_stamp", "ts", "pid", "tgt", "__pub_id", "__pub_jid", "__pub_pid", "_TS", "_TT",
			"_TOS")
		if out[id] == nil {
			out[id] = map[string][]map[string]any{}
		}
		out[id][name] = append(out[id][name], ret)
	}
	return out
}

// forget removes keys at any depth.
func forget(m map[string]any, keys ...string) {
	for _, k := range keys {
		delete(m, k)
	}
	for _, v := range m {
		if inner, ok := v.(map[string]any); ok {
			forget(inner, keys...)
		}
	}
}
