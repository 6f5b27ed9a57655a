package master

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/actors/master/scheduler"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
)

// scheduled is a master with some jobs in its schedule; DIR in them is its directory.
func scheduled(t *testing.T, jobs string, conf ...string) *rig {
	t.Helper()
	r := newSite(t, conf...)
	r.write("etc/master.d/schedule.conf", strings.ReplaceAll("schedule:\n"+jobs, "DIR", r.dir), 0o644)
	r.reread()
	r.start()
	return r
}

// returned waits until each of the names has come, and gives the first return of each job.
func (e *busEar) returned(names ...string) map[string]*payload.Map {
	e.t.Helper()
	got := map[string]*payload.Map{}
	for {
		missing := 0
		for _, name := range names {
			if got[name] == nil {
				missing++
			}
		}
		if missing == 0 {
			return got
		}
		ret := e.await(event.TagScheduleReturn)
		if name := ret.Str("schedule"); got[name] == nil {
			got[name] = ret
		}
	}
}

// TestScheduleOfMaster runs runner functions at their times; the bus has the returns that a master of Salt puts there.
func TestScheduleOfMaster(t *testing.T) {
	r := scheduled(t, `  j: {function: test.arg, args: [1, "a=b"], kwargs: {k: v}, seconds: 1, metadata: {who: me}}
  raw: {function: test.raw_arg, args: [x], seconds: 1}
  unknown: {function: no.such, seconds: 1}
  wheel: {function: key.list_all, seconds: 1}
  fails: {function: error.error, args: [ValueError, boom], seconds: 1}
  wrong: {function: test.metasyntactic, args: [1, 2, 3], seconds: 1}
  nocache: {function: test.arg, seconds: 1, return_job: nocache}
  kept: {function: test.arg, seconds: 1, returner: [rawfile_json, none], return_config: alternative}
  silent: {function: test.arg, seconds: 1, return_job: false}
  off: {function: test.arg, seconds: 1, enabled: false}
  dry: {function: test.arg, seconds: 1, dry_run: true}
`, "alternative.rawfile_json.filename: "+filepath.Join(os.TempDir(), "unused"), "schedule_returner: []")
	ear := r.hear()
	got := ear.returned("j", "raw", "unknown", "wheel", "fails", "wrong", "nocache", "kept")
	j := got["j"]
	for _, stamp := range []string{"_TOS", "_TS", "_TT"} {
		if j.Map("metadata").Str(stamp) == "" {
			t.Errorf("metadata has no %s", stamp)
		}
		j.Map("metadata").Delete(stamp)
	}
	j.Delete("_stamp")
	want := payload.M("cmd", "_return", "id", r.cfg.ID, "fun", "test.arg", "fun_args",
		[]any{int64(1), "a=b", payload.M("k", "v")}, "schedule", "j", "jid", "req", "metadata", payload.M("who", "me"),
		"pid", int64(os.Getpid()), "return", payload.M("args", []any{int64(1), "a=b"}, "kwargs", payload.M("k", "v")),
		"retcode", int64(0), "success", true)
	if !j.Equal(want) {
		t.Errorf("got %v\nwant %v", j, want)
	}
	if kw := got["raw"].Map("return").Map("kwargs"); kw.Str("__pub_schedule") != "raw" ||
		kw.Str("__pub_fun") != "test.raw_arg" || !payload.IsJID(kw.Str("__pub_jid")) {
		t.Errorf("keywords of the run: %v", kw)
	}
	for name, says := range map[string]string{"unknown": "'no.such' is not available.",
		"wheel": "'key.list_all' is not available.", "fails": "Unhandled exception running error.error: Traceback",
		"wrong": "Unhandled exception running test.metasyntactic: "} {
		ret := got[name]
		if code, _ := ret.Int("retcode"); code != 254 || ret.Value("success") != false ||
			!strings.HasPrefix(ret.Str("return"), says) || ret.Str("jid") != "req" {
			t.Errorf("%s: got %v", name, ret)
		}
	}
	if jid := got["nocache"].Str("jid"); jid != "nocache" {
		t.Errorf("nocache has the job id %s", jid)
	}
	if jid := got["kept"].Str("jid"); !payload.IsJID(jid) {
		t.Errorf("what went to a returner has the job id %s", jid)
	}
	for _, name := range []string{"silent", "off", "dry"} {
		if got[name] != nil {
			t.Errorf("%s has returned", name)
		}
	}
	r.log.Await(t, "Returner none has not taken the return of a scheduled job")
	if _, ok := r.m.Supervisor().Lookup("Scheduler"); !ok {
		t.Error("there is no Scheduler in the tree")
	}
}

// TestScheduleReturner: returners get what was successful, once for each run, with the options of the job.
func TestScheduleReturner(t *testing.T) {
	r := scheduled(t, `  kept: {function: test.arg, args: [one], hours: 1, return_job: false, return_kwargs: {filename: DIR/kept}}
  other: {function: test.arg, args: [two], hours: 1, return_job: false, return_config: alternative}
  mark: {function: test.arg, seconds: 1, return_job: false, return_kwargs: {filename: DIR/mark}}
  fails: {function: error.error, args: [ValueError, boom], hours: 1, return_job: false, return_kwargs: {filename: DIR/kept}}
  asks: {function: jobs.active, hours: 1, return_job: false, return_kwargs: {filename: DIR/asks}}
alternative.rawfile_json.filename: DIR/other
`, "schedule_returner: rawfile_json")
	r.lines("mark", 2)
	r.lines("asks", 1) // at its start, and the master can be asked already
	if kept := r.lines("kept", 1); len(kept) != 1 || !strings.Contains(kept[0], `"schedule": "kept"`) ||
		!strings.Contains(kept[0], `"ret_kwargs"`) {
		t.Errorf("got %v", kept)
	}
	if other := r.lines("other", 1); len(other) != 1 || !strings.Contains(other[0], `"schedule": "other"`) {
		t.Errorf("with options of its own: got %v", other)
	}
}

// TestScheduleReturnerAway: what a returner could not take is taken when it can, by the next master of this machine.
func TestScheduleReturnerAway(t *testing.T) {
	r := scheduled(t, "  kept: {function: test.arg, args: [one], hours: 1, return_job: false, return_kwargs: "+
		"{filename: DIR/later/kept}}\n", "schedule_returner: rawfile_json")
	r.log.Await(t, "a returner could not take returns of the schedule; it is tried again")
	r.stop()
	r.write("etc/master.d/schedule.conf", "schedule_returner: rawfile_json\nschedule: {other: {function: test.arg, "+
		"hours: 1, run_on_start: False}}\n", 0o644)
	if err := os.Mkdir(filepath.Join(r.dir, "later"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.reread()
	r.start()
	if kept := r.lines("later/kept", 1); len(kept) != 1 || !strings.Contains(kept[0], `"schedule": "kept"`) {
		t.Errorf("got %v", kept)
	}
}

// lines waits until a file has so many lines.
func (r *rig) lines(name string, n int) (lines []string) {
	r.t.Helper()
	r.eventually("lines of "+name, func() error {
		b, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			return err
		}
		if lines = strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"); len(lines) < n || lines[0] == "" {
			return fmt.Errorf("%d lines", len(lines))
		}
		return nil
	})
	return lines
}

// TestSchedulerOfMasterKilled kills the Scheduler in both ways again and again: what has its time once is run once, and
// the rest goes on.
func TestSchedulerOfMasterKilled(t *testing.T) {
	r := scheduled(t, `  first: {function: test.arg, hours: 1, return_job: false, return_kwargs: {filename: DIR/first}}
  once: {function: test.arg, once: "`+time.Now().Add(7*time.Second).Format("2006-01-02T15:04:05")+`", return_job: false, return_kwargs: {filename: DIR/once}}
  mark: {function: test.arg, seconds: 1, return_job: false, return_kwargs: {filename: DIR/mark}}
`, "schedule_returner: rawfile_json", "chaos: true")
	r.faulty = true
	for i := range 8 {
		how := supervisor.FaultExit
		if i%2 == 0 {
			how = supervisor.FaultPanic
		}
		r.harm("Scheduler", how)
		if ref, ok := r.m.Supervisor().Lookup("Scheduler"); ok {
			ref.Send(&scheduler.LookAtSchedule{Now: time.Now()}) // it dies of this one
		}
		r.lines("mark", i+1)
	}
	r.lines("once", 1)
	n := len(r.lines("mark", 1))
	r.lines("mark", n+2)
	for _, name := range []string{"first", "once"} {
		if got := r.lines(name, 1); len(got) != 1 {
			t.Errorf("%s was run %d times", name, len(got))
		}
	}
}

// TestScheduledRunKilled: a run whose actor dies is not run again, its return says so, and the next run may begin.
func TestScheduledRunKilled(t *testing.T) {
	r := scheduled(t, "  j: {function: test.sleep, args: [120], seconds: 1}\n", "chaos: true")
	r.faulty = true
	ear := r.hear()
	var name string
	r.eventually("the run", func() error {
		runs := r.m.core.functions.Running()
		if len(runs) != 1 {
			return fmt.Errorf("%d runs go on", len(runs)) // maxrunning
		}
		name = "Scheduled-" + runs[0].Str("jid")
		return nil
	})
	r.harm(name, supervisor.FaultPanic)
	if ref, ok := r.m.Supervisor().Lookup(name); ok {
		ref.Send(&struct{}{}) // it dies of this one
	}
	ret := ear.await(event.TagScheduleReturn)
	if code, _ := ret.Int("retcode"); code != 254 || ret.Str("return") != "Unhandled exception running test.sleep: "+
		"the run died" {
		t.Errorf("got %v", ret)
	}
	r.eventually("the next run", func() error {
		if runs := r.m.core.functions.Running(); len(runs) != 1 || "Scheduled-"+runs[0].Str("jid") == name {
			return fmt.Errorf("%d runs go on", len(runs))
		}
		return nil
	})
}

// TestNoSchedule: without jobs there is no Scheduler.
func TestNoSchedule(t *testing.T) {
	r := newRig(t, "schedule: {}")
	if _, ok := r.m.Supervisor().Lookup("Scheduler"); ok {
		t.Error("there is a Scheduler, and nothing for it to do")
	}
}
