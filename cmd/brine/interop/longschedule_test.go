//go:build interop

package interop

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// scheduleFor is the time over which the runs of two masters are compared. -schedule 3m compares longer.
var scheduleFor = flag.Duration("schedule", time.Minute, "how long the schedules of a brine master and of a real "+
	"one are compared")

// longSchedule is a schedule of functions that masters and minions have. soon is a time within the comparison.
// The file gets the returns of the runs that the test counts.
func longSchedule(soon time.Time, file string) string {
	return strings.ReplaceAll(fmt.Sprintf(`schedule:
  interval: {function: test.arg, args: [1, "a=b"], kwargs: {k: v}, seconds: 10, metadata: {who: me}, KEPT}
  splayed: {function: test.arg, seconds: 20, splay: {start: 10, end: 10}, KEPT}
  slow: {function: test.sleep, args: [15], seconds: 10, KEPT}
  by_cron: {function: test.arg, cron: "* * * * *", KEPT}
  by_when: {function: test.arg, when: "%s", KEPT}
  by_once: {function: test.arg, once: "%s", KEPT}
  at_start: {function: test.arg, hours: 1, KEPT}
  disabled: {function: test.arg, seconds: 10, enabled: False, KEPT}
  over: {function: test.arg, once: "2001-01-01T00:00:00", KEPT}
  outside: {function: test.arg, seconds: 10, run_on_start: False, range: {start: "2001-01-01", end: "2001-01-02"}, KEPT}
  later: {function: test.arg, seconds: 10, run_on_start: False, after: "2099-01-01", KEPT}
  passed: {function: test.arg, seconds: 10, run_on_start: False, until: "2001-01-01", KEPT}
  told: {function: test.raw_arg, args: [x], kwargs: {k: v}, seconds: 10, metadata: {who: me}}
  nocache: {function: test.arg, seconds: 10, return_job: nocache}
  unknown: {function: no.such, seconds: 10}
  wheel: {function: key.list_all, seconds: 10}
  silent: {function: test.arg, args: [silent], seconds: 10, return_job: False}
`, soon.Format("2006-01-02 15:04:05"), soon.Format("2006-01-02T15:04:05")), "KEPT", "returner: rawfile_json") + "rawfile_json.filename: " + file + "\n"
}

// scheduling is a daemon whose runs the test checks.
type scheduling struct {
	*fleet
	kind, file string
	w          *watcher // of a master
}

// newScheduling starts a master with the schedule.
func newScheduling(t *testing.T, kind string, soon time.Time) *scheduling {
	t.Helper()
	s := &scheduling{fleet: newFleet(t, kind, kind, nil, plain), kind: kind}
	s.file = s.masterPath("runs")
	s.write(filepath.Join(s.masterDir(), "master.d", "schedule.conf"), "loop_interval: 60\n"+longSchedule(soon, s.file))
	s.startMaster(kind)
	s.w = s.watch(brine, func() { s.mustRun(brine, "salt-run", "test.arg", "x") })
	return s
}

// runs returns the times of the counted runs, by job. They come from the job ids.
func (s *scheduling) runs() map[string][]time.Time {
	s.t.Helper()
	b, err := os.ReadFile(s.file)
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	out := map[string][]time.Time{}
	for line := range strings.Lines(string(b)) {
		var ret struct{ Schedule, JID string }
		if !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		if err := json.Unmarshal([]byte(line), &ret); err != nil || len(ret.JID) != 20 {
			s.t.Fatalf("%s: %v", line, err)
		}
		at, err := time.ParseInLocation("20060102150405.000000", ret.JID[:14]+"."+ret.JID[14:], time.UTC)
		if err != nil {
			s.t.Fatal(err)
		}
		out[ret.Schedule] = append(out[ret.Schedule], at)
	}
	return out
}

// within keeps the runs of a job in the compared time.
func within(all []time.Time, from time.Time) (some []time.Time) {
	for _, at := range all {
		if at.Before(from.Add(*scheduleFor)) {
			some = append(some, at)
		}
	}
	return some
}

// TestScheduleOfMasters gives a brine master and a Salt 3008 master the same schedule. They run the same jobs
// at the same times, as exactly as the looks of Salt's master permit, and fire the same events about them.
func TestScheduleOfMasters(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	soon := time.Now().Add(*scheduleFor * 2 / 3)
	theirs, ours := newScheduling(t, reference, soon), newScheduling(t, brine, soon)
	theirs.ended("interval", "by_cron", "by_when", "by_once", "slow")
	ours.ended("interval", "by_cron", "by_when", "by_once", "slow")
	ranAlike(t, theirs.runs(), ours.runs())
	toldAlike(t, theirs, ours)
}

// TestScheduleOfMinions does the same with two minions.
func TestScheduleOfMinions(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	f := newFleet(t, brine, brine, map[string]string{"m1": brine, "m2": reference}, plain)
	f.startMaster(brine)
	soon := time.Now().Add(*scheduleFor)
	var both []*scheduling
	for _, id := range f.ids {
		s := &scheduling{fleet: f, kind: f.kinds[id], file: filepath.Join(f.minionRoot(id), "runs")}
		f.configMinion(id, fleetMinion+longSchedule(soon, s.file))
		both = append(both, s)
	}
	f.startMinions()
	f.acceptAll()
	ours, theirs := both[0], both[1]
	ours.ended("interval", "by_cron", "by_when", "by_once", "slow")
	// Salt misses a job with a single time if the machine is too busy at that time
	theirs.ended("interval", "by_cron", "slow")
	ranAlike(t, theirs.runs(), ours.runs())
}

// ended waits until the time of comparison is over and these jobs have run.
func (s *scheduling) ended(jobs ...string) {
	s.t.Helper()
	s.eventually(*scheduleFor+4*time.Minute, "the runs of "+s.kind, func() error {
		all := s.runs()
		for _, name := range append(jobs, "at_start") {
			if len(all[name]) == 0 {
				return fmt.Errorf("%s has not run", name)
			}
		}
		if first := all["at_start"][0]; time.Since(first) < *scheduleFor+30*time.Second { // the last ones have ended
			return fmt.Errorf("it began at %s", first)
		}
		return nil
	})
}

// ranAlike compares the times of runs. Salt's master looks about every 10 s, and runs a once at each look for a
// minute.
func ranAlike(t *testing.T, theirs, ours map[string][]time.Time) {
	t.Helper()
	a, b := theirs["at_start"][0], ours["at_start"][0]
	for name, all := range ours {
		t.Logf("%-10s brine %d, Salt %d", name, len(within(all, b)), len(within(theirs[name], a)))
	}
	slack := 1 + int(*scheduleFor/time.Minute)
	for _, name := range []string{"interval", "splayed", "slow"} {
		if n, m := len(within(theirs[name], a)), len(within(ours[name], b)); n-m > slack || m-n > slack {
			t.Errorf("%s: brine has run it %d times, Salt %d times", name, m, n)
		}
	}
	if n, want := len(within(ours["interval"], b)), int(*scheduleFor/(10*time.Second)); n < want-1 || n > want+1 {
		t.Errorf("brine has run an interval of 10 s %d times", n)
	}
	for _, once := range []string{"at_start", "by_when", "by_once"} {
		if len(ours[once]) != 1 {
			t.Errorf("%s: brine has run it %d times", once, len(ours[once]))
		}
	}
	for name := range theirs {
		if len(ours[name]) == 0 {
			t.Errorf("%s: brine has not run it, and Salt has", name)
		}
	}
	for _, never := range []string{"disabled", "over", "outside", "later", "passed"} {
		if len(ours[never]) > 0 || len(theirs[never]) > 0 {
			t.Errorf("%s: brine has run it %d times, Salt %d times", never, len(ours[never]), len(theirs[never]))
		}
	}
	from, to := a, b
	if from.Before(b) {
		from, to = b, a
	}
	minutes := func(all []time.Time) (out []string) {
		for _, at := range all {
			if minute := at.Truncate(time.Minute); minute.After(from) && minute.Before(to.Add(*scheduleFor)) {
				out = append(out, minute.Format("15:04"))
			}
		}
		return out
	}
	if diff := cmp.Diff(minutes(theirs["by_cron"]), minutes(ours["by_cron"])); diff != "" {
		t.Errorf("minutes in which cron has run, Salt - brine +\n%s", diff)
	}
}

// toldAlike compares the events about runs on the buses of the masters.
func toldAlike(t *testing.T, theirs, ours *scheduling) {
	t.Helper()
	a, b := theirs.w.toldOfRuns(), ours.w.toldOfRuns()
	for _, name := range []string{"told", "nocache", "unknown", "wheel", "interval"} {
		if a[name] == nil || b[name] == nil {
			t.Errorf("%s was not told: Salt %v, brine %v", name, a[name], b[name])
			continue
		}
		if diff := cmp.Diff(a[name], b[name]); diff != "" {
			t.Errorf("%s: Salt - brine +\n%s", name, diff)
		}
	}
	if a["silent"] != nil || b["silent"] != nil {
		t.Error("a job with return_job: False was told of")
	}
}

// toldOfRuns returns the first return of each job on the bus, without data that differs each time.
func (w *watcher) toldOfRuns() map[string]map[string]any {
	out := map[string]map[string]any{}
	for line := range strings.Lines(w.output()) {
		tag, text, _ := strings.Cut(line, "\t")
		var ret map[string]any
		if tag != "__schedule_return" || json.Unmarshal([]byte(text), &ret) != nil {
			continue
		}
		name := fmt.Sprint(ret["schedule"])
		if out[name] == nil {
			if jid := fmt.Sprint(ret["jid"]); jid != "req" && jid != "nocache" {
				delete(ret, "jid")
			}
			forget(ret, "_stamp", "pid", "__pub_jid", "__pub_pid", "_TS", "_TT", "_TOS")
			out[name] = ret
		}
	}
	return out
}
