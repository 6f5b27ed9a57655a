package minion

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/actors/minion/facts"
	"brine/config"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// second lets the schedule be looked at once more, a second later. The request before it waits for the look that comes
// first, the one after it for the one of that second.
func (r *rig) second() {
	r.t.Helper()
	r.manage("list", "func", "list")
	r.clock.Advance(scheduleEvery)
	r.manage("list", "func", "list")
}

// scheduled waits for so many returns of scheduled jobs that have no job id of their own, and gives them.
func (r *rig) scheduled(n int) []*payload.Map {
	r.t.Helper()
	f := r.master()
	f.await(r.t, "return of a scheduled job", func() bool { return len(f.returns["req"]) >= n })
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*payload.Map(nil), f.returns["req"]...)
}

// manage sends a request to the schedule and waits for its reply.
func (r *rig) manage(what string, kv ...any) *payload.Map {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tag := event.TagMinionComplete("schedule_" + what)
	if what == "saved" {
		tag = event.TagScheduleSaved
	}
	reply, ok := host{r.m, r.m.links[0]}.AwaitLocal(ctx, event.TagManageSchedule, payload.M(kv...), tag)
	if !ok {
		r.t.Fatalf("no answer to %v", kv)
	}
	return reply
}

// TestScheduledReturn runs a job of the schedule at the start and after its interval; the master gets what a minion of
// Salt sends.
func TestScheduledReturn(t *testing.T) {
	r := newRig(t, `schedule:
  j: {function: t.keywords, args: ["a=b", 2], kwargs: {k: v}, seconds: 2, maxrunning: 100, metadata: {who: me}}
  __mine_interval: {function: mine.update, minutes: 60}
`).up()
	ret := r.scheduled(1)[0]
	meta := ret.Map("metadata")
	for _, stamp := range []string{"_TOS", "_TS", "_TT"} {
		if meta.Str(stamp) == "" {
			t.Errorf("metadata has no %s", stamp)
		}
	}
	for k, want := range map[string]any{
		"cmd": "_return", "id": "m1", "fun": "t.keywords", "fun_args": []any{"a=b", int64(2), payload.M("k", "v")},
		"schedule": "j", "jid": "req", "pid": int64(os.Getpid()), "retcode": int64(0), "success": true,
		"return": []any{[]any{"a=b", int64(2)}, []any{"k", "__pub_id", "__pub_fun", "__pub_fun_args", "__pub_schedule",
			"__pub_jid", "__pub_metadata"}},
	} {
		if !payload.M("v", ret.Value(k)).Equal(payload.M("v", want)) {
			t.Errorf("%s: got %v, want %v", k, ret.Value(k), want)
		}
	}
	r.second()
	r.second()
	r.scheduled(2)
	if jobs := r.manage("list", "func", "list").Map("schedule"); jobs.Len() != 1 {
		t.Errorf("the schedule has %v", jobs.Keys())
	}
}

// TestScheduledFailures: what is no outcome of a function has code 254 and says what happened; return_job keeps a
// return here.
func TestScheduledFailures(t *testing.T) {
	r := newRig(t, `schedule:
  silent: {function: t.echo, args: [silent], seconds: 1000, return_job: false}
  stored: {function: t.echo, args: [stored], seconds: 1000, return_job: nocache}
  unknown: {function: no.such, seconds: 1000}
  raises: {function: t.panic, seconds: 1000}
  kept: {function: t.echo, args: [kept], seconds: 1000, returner: local}
`).up()
	got := map[string]string{}
	for _, ret := range r.scheduled(2) {
		code, _ := ret.Int("retcode")
		if code != 254 || ret.Value("success") != false {
			t.Errorf("%s: code %d, success %v", ret.Str("schedule"), code, ret.Value("success"))
		}
		text, _ := ret.Value("return").(string)
		got[ret.Str("schedule")] = text
	}
	if got["unknown"] != "'no.such' is not available." || !strings.Contains(got["raises"], "exception") {
		t.Errorf("got %v", got)
	}
	if ret := r.master().awaitReturn(t, "nocache"); ret.Str("schedule") != "stored" {
		t.Errorf("got %v", ret)
	}
	f := r.master()
	f.await(t, "return with a job id of its own", func() bool {
		for jid, all := range f.returns {
			if len(jid) == 20 && all[0].Str("schedule") == "kept" {
				return true
			}
		}
		return false
	})
	r.stop()
	for _, all := range f.returns {
		for _, ret := range all {
			if ret.Str("schedule") == "silent" {
				t.Error("the master has got the return of a job with return_job: False")
			}
		}
	}
}

// TestSchedulerKilled kills the Scheduler each second in both ways: no run is lost, and none is there twice.
func TestSchedulerKilled(t *testing.T) {
	const seconds, every = 30, 3
	r := newRig(t, "schedule:\n  j: {function: t.echo, args: [x], seconds: 3, maxrunning: 100}\n").up()
	for i := range seconds {
		how := supervisor.FaultExit
		if i%2 == 0 {
			how = supervisor.FaultPanic
		}
		if err := r.m.top.Inject("Scheduler", how); err != nil {
			t.Fatal(err)
		}
		if how == supervisor.FaultPanic {
			r.m.scheduler.Send(&BeginSchedule{}) // it dies of this one
		}
		r.second()
	}
	r.scheduled(1 + seconds/every)
	r.stop()
	if got, want := len(r.master().returns["req"]), 1+seconds/every; got != want {
		t.Errorf("%d runs, want %d", got, want)
	}
}

// TestMaxrunning starts no second run of a job while the first one goes on, and one when that has ended.
func TestMaxrunning(t *testing.T) {
	r := newRig(t, "schedule:\n  j: {function: t.block, seconds: 1}\n").up()
	var why any
	for range 3 {
		r.second()
		why = r.manage("job_status", "func", "job_status", "name", "j", "fire_event", true).Map("data").Value(
			"_skip_reason")
	}
	if why != "maxrunning" {
		t.Errorf("skipped for %v", why)
	}
	if got := r.m.plan.Ongoing.Count("j"); got != 1 {
		t.Errorf("%d runs go on", got)
	}
	r.fun.release()
	r.scheduled(1)
	for limit := time.Now().Add(patience); len(r.scheduled(1)) < 2; {
		// the end of the first run comes to be known on its way to the master
		if r.second(); time.Now().After(limit) {
			t.Fatal("it does not run again")
		}
	}
}

// TestManageSchedule changes the schedule by events: what was changed is run, written down, and read by the next
// minion.
func TestManageSchedule(t *testing.T) {
	r := newRig(t, "schedule:\n  old: {function: t.echo, args: [old], hours: 1, run_on_start: false}\n").up()
	reply := r.manage("add", "func", "add", "name", "new", "persist", true, "schedule",
		payload.M("new", payload.M("function", "t.echo", "args", []any{"new"}, "seconds", int64(1000), "maxrunning",
			int64(1))))
	if !reply.Map("schedule").Has("new") {
		t.Errorf("the reply is %v", reply)
	}
	r.second()
	if got := r.scheduled(1)[0].Value("return"); got != "new" {
		t.Errorf("it returned %v", got)
	}
	r.manage("disabled_job", "func", "disable_job", "name", "old", "persist", true)
	r.manage("saved", "func", "save_schedule")
	file := filepath.Join(r.dir, "minion.d", "_schedule.conf")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const want = `schedule:
  new:
    args: [new]
    enabled: true
    function: t.echo
    jid_include: true
    maxrunning: 1
    name: new
    run: true
    seconds: 1000
    splay: null
  old:
    args: [old]
    enabled: false
    function: t.echo
    hours: 1
    name: old
    run_on_start: false
    splay: null
`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("the file, want - got +:\n%s", diff)
	}
	cfg, err := config.LoadMinion(filepath.Join(r.dir, "minion"), nil)
	if err != nil || !cfg.Schedule.Has("new") || !cfg.Schedule.Has("old") {
		t.Errorf("the next minion has %v, %v", cfg.Schedule, err)
	}
	r.manage("delete", "func", "delete", "name", "new", "persist", true)
	if b, _ := os.ReadFile(file); strings.Contains(string(b), "new") {
		t.Errorf("the file is\n%s", b)
	}
}

// TestPillarSchedule takes jobs from the pillar; those of the configuration go before them, and nobody changes them by
// request.
func TestPillarSchedule(t *testing.T) {
	r := newRig(t, "schedule:\n  both: {function: t.echo, args: [configured], hours: 1}\n")
	r.master().pillar = payload.M("schedule", payload.M("both", payload.M("function", "t.echo", "args", []any{"pillar"},
		"hours", int64(1)), "only", payload.M("function", "t.echo", "args", []any{"pillar"}, "hours", int64(1))))
	r.up()
	got := map[string]any{}
	for _, ret := range r.scheduled(2) {
		got[ret.Str("schedule")] = ret.Value("return")
	}
	if diff := cmp.Diff(map[string]any{"both": "configured", "only": "pillar"}, got); diff != "" {
		t.Error(diff)
	}
	if jobs := r.manage("delete", "func", "delete", "name", "only").Map("schedule"); !jobs.Has("only") {
		t.Error("a job of the pillar was deleted")
	}
	r.log.Await(t, "Cannot delete job only, it's in the pillar!")
}

// TestScheduleBeforeConnect runs jobs without any master when scheduler_before_connect says so, and tells the master
// later.
func TestScheduleBeforeConnect(t *testing.T) {
	r := newRig(t, "scheduler_before_connect: True\nschedule:\n  j: {function: t.echo, args: [x], seconds: 1000}\n")
	r.master().down = true
	begun := r.fun.changed
	r.start()
	select {
	case <-begun:
	case <-time.After(patience):
		t.Fatal("the job does not run")
	}
}

// TestScheduleAtOnce: a schedule that has changed, by a request or by the pillar, is looked at at once. The clock
// stands still.
func TestScheduleAtOnce(t *testing.T) {
	r := newRig(t, "").up()
	next := func(name string) any {
		t.Helper()
		return r.manage("next_fire_time", "func", "get_next_fire_time", "name", name).Value("next_fire_time")
	}
	job := func(name string) *payload.Map {
		return payload.M("function", "t.echo", "args", []any{name}, "hours", int64(1))
	}
	r.manage("add", "func", "add", "name", "added", "persist", false, "schedule", payload.M("added", job("added")))
	if next("added") == nil {
		t.Error("of a job that was added it is not known when it is due")
	}
	if got := r.scheduled(1)[0].Value("return"); got != "added" {
		t.Errorf("%v has returned", got)
	}
	r.manage("delete", "func", "modify", "name", "added", "persist", false, "schedule", job("modified"))
	if next("added") == nil {
		t.Error("of a job that was modified it is not known when it is due")
	}
	f := r.master()
	f.mu.Lock()
	f.pillar = payload.M("schedule", payload.M("brought", job("brought")))
	f.mu.Unlock()
	fetched := make(chan error, 1)
	r.m.refresher.Send(&facts.RefreshPillar{Done: func(err error) { fetched <- err }})
	if err := <-fetched; err != nil {
		t.Fatal(err)
	}
	if next("brought") == nil {
		t.Error("of a job that the pillar has brought it is not known when it is due")
	}
	f.await(t, "return of the job that the pillar has brought", func() bool {
		for _, ret := range f.returns["req"] {
			if ret.Value("return") == "brought" {
				return true
			}
		}
		return false
	})
}
