package reacting

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/reactor/backlog"
	"brine/supervisor"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// TestKilled kills the actors of the Reactor twenty times while two thousand events arrive. Each event gets
// exactly one reaction. Jobs are in the order of their events, except those in progress at a death.
func TestKilled(t *testing.T) {
	r := newRig(t)
	r.start(r.options(oneRule(r.dir), map[string]string{"a.sls": both}))
	const events, kills = 2000, 20
	for i := range events {
		if n := i / (events / kills); i%(events/kills) == 0 {
			r.eventually("the harm before is done", r.struck)
			r.kill(n)
		}
		r.event("ev/x", "n", int64(i))
	}
	r.eventually("the last harm is done", r.struck)
	r.settled()
	r.stop()
	last, late, order := -1, 0, r.do.all()
	for i := range events {
		for _, kind := range []string{"local", "runner"} {
			if n := r.do.count(fmt.Sprintf("%s test.arg [%d] []", kind, i)); n != 1 {
				t.Errorf("event %d: %s was called %d times", i, kind, n)
			}
		}
		at := slices.Index(order, fmt.Sprintf("local test.arg [%d] []", i))
		if at < last {
			late++
		}
		last = at
	}
	if late > kills { // an event that was lost with a ReactorKeeper comes after those that waited then
		t.Errorf("%d events were reacted to before the one before them", late)
	}
	if len(order) != 2*events {
		t.Errorf("%d calls", len(order))
	}
	if s := r.Show(); s.Dropped != 0 || s.Failures != 0 || s.Events != events {
		t.Errorf("got %+v", s)
	}
}

// kill harms one of the actors: at its next message, after it, or independently of messages.
func (r *rig) kill(i int) {
	switch i % 7 {
	case 0:
		r.crash[NameKeeper].Panic(&KeepEvent{})
	case 1:
		r.crash[NameReactor].Panic(&EventCompiled{})
	case 2:
		r.inject(NameReactor)
	case 3:
		r.crash[NameKeeper].PanicAfter(&KeepEvent{})
	case 4:
		r.crash[NameReactor].PanicAfter(&CallEnded{})
	case 5:
		r.inject(fmt.Sprintf("Reactor/Compiler-%d", i%compilers+1))
	case 6:
		r.inject(fmt.Sprintf("Reactor/Reaction-%d", i%3+1))
	}
}

// struck tells whether the last faults that wait for a message have happened.
func (r *rig) struck() bool { return r.crash[NameKeeper].Struck() && r.crash[NameReactor].Struck() }

// inject harms an actor independently of messages, as soon as the actor lives.
func (r *rig) inject(path string) {
	r.Helper()
	r.eventually(path+" can be harmed", func() bool {
		err := r.sup.Inject(path, supervisor.FaultPanic)
		if err != nil && !errors.Is(err, supervisor.ErrGone) && !errors.Is(err, supervisor.ErrUnknown) {
			r.Fatal(err)
		}
		return err == nil
	})
}

// TestStopped: the next start handles the events that waited at a stop, each once.
func TestStopped(t *testing.T) {
	r := newRig(t)
	opt := r.options(oneRule(r.dir), map[string]string{"a.sls": both})
	r.do.hold = make(chan struct{})
	opt.Queue = 1
	r.start(opt)
	const events = 50
	for i := range events {
		r.event("ev/x", "n", int64(i))
	}
	r.eventually("all are kept", func() bool { return r.mailed.Load() == 0 })
	r.eventually("the pool is full", func() bool { return r.do.total() >= 4 })
	if n, _ := r.back.Waiting(); n < events/2 {
		t.Errorf("only %d wait: a full pool holds nothing back", n)
	}
	close(r.do.hold)
	r.stop()
	left := r.do.total()
	r.start(opt)
	r.settled()
	r.stop()
	for i := range events {
		for _, kind := range []string{"local", "runner"} {
			if n := r.do.count(fmt.Sprintf("%s test.arg [%d] []", kind, i)); n != 1 {
				t.Errorf("event %d: %s was called %d times, %d calls before the stop", i, kind, n, left)
			}
		}
	}
}

// TestCutOff: an event is not lost if the master stops, or the Reactor is killed, while its files are rendered.
func TestCutOff(t *testing.T) {
	r := newRig(t)
	opt := r.options(oneRule(r.dir), map[string]string{"a.sls": "{{ salt['wait.ever']() }}"})
	r.start(opt)
	r.event("ev/x")
	r.eventually("the template", func() bool { return r.do.total() == 1 })
	r.inject(NameReactor)
	r.eventually("the template again", func() bool { return r.do.total() == 2 })
	r.Halt()
	r.sup.Stop(time.Second) // it first lets actors finish their work
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	opt = r.options(oneRule(r.dir), map[string]string{"a.sls": "a: {local.test.arg: [tgt: t, arg: [1]]}\n"})
	r.start(opt)
	r.settled()
	s := r.Show()
	r.stop()
	if n := r.do.count("local test.arg [1] []"); n != 1 || s.Failures != 0 {
		t.Errorf("%d calls, %+v", n, s)
	}
}

// TestRefused: if a stopping master refuses jobs, the next process publishes them.
func TestRefused(t *testing.T) {
	r := newRig(t)
	opt := r.options(oneRule(r.dir), map[string]string{"a.sls": "{{ salt['wait.halt']() }}\na: {local.test.arg: " +
		"[tgt: t, arg: [1]]}\n"})
	r.start(opt)
	r.event("ev/x")
	r.eventually("the template", func() bool { return r.do.total() == 1 })
	r.do.refuse.Store(true)
	r.stop()
	r.do.refuse.Store(false)
	r.start(r.options(oneRule(r.dir), map[string]string{"a.sls": "a: {local.test.arg: [tgt: t, arg: [1]]}\n"}))
	r.settled()
	s := r.Show()
	r.stop()
	if n := r.do.count("local test.arg [1] []"); n != 1 || s.Failures != 0 || s.Doubtful != 0 {
		t.Errorf("%d calls, %+v", n, s)
	}
}

// TestProcessKilled: a process was killed after it had begun a call. A job is published if it was not yet. A
// function is not run again.
func TestProcessKilled(t *testing.T) {
	for _, published := range []bool{false, true} {
		r := newRig(t)
		opt := r.options(oneRule(r.dir), map[string]string{"a.sls": both})
		part, err := New(opt) // its actors never start, and nothing is closed
		if err != nil {
			t.Fatal(err)
		}
		r.Part = part
		body := pack(t, "ev/x", "n", int64(1))
		if _, err := part.back.Keep(part.lane("ev/x"), body); err != nil {
			t.Fatal(err)
		}
		ev, _ := part.back.Take()
		part.back.Begin(ev.Seq, "local\x00j1\x00test.arg\x00j1", "old")
		part.back.Begin(ev.Seq, "runner\x00r1\x00test.arg\x00r1", "older")
		if published {
			r.do.published.Store("old", true)
		}
		r.start(opt)
		r.settled()
		s := r.Show()
		r.stop()
		want := 1
		if published {
			want = 0
		}
		if n := r.do.count("local test.arg [1] []"); n != want || !r.do.Published("old") {
			t.Errorf("published %v: the job was published %d times", published, n)
		}
		if n := r.do.count("runner test.arg [1] []"); n != 0 || s.Doubtful != 1 {
			t.Errorf("the function was run %d times, %d doubtful", n, s.Doubtful)
		}
	}
}

// TestDropped: an event beyond the limits is counted and named. Later events find free space again.
func TestDropped(t *testing.T) {
	r := newRig(t)
	opt := r.options(oneRule(r.dir), map[string]string{"a.sls": both})
	opt.Limits = backlog.Limits{Events: 10}
	opt.Queue = 1
	r.do.hold = make(chan struct{})
	r.start(opt)
	for i := range 40 {
		r.event("ev/x", "n", int64(i))
	}
	r.eventually("all are kept or dropped", func() bool { return r.mailed.Load() == 0 && r.Show().Events == 40 })
	s := r.Show()
	if s.Dropped == 0 || s.Waiting != 10 || !strings.Contains(s.LastError, "dropped ev/x") {
		t.Errorf("got %+v", s)
	}
	r.log.Await(t, "the Reactor drops an event")
	close(r.do.hold)
	r.settled()
	r.event("ev/x", "n", int64(99))
	r.settled()
	r.stop()
	if n := r.do.count("runner test.arg [99] []"); n != 1 {
		t.Errorf("an event after the drops was reacted to %d times", n)
	}
	if n := r.do.total(); n != 2*(40-int(s.Dropped)+1) {
		t.Errorf("%d calls, %d dropped", n, s.Dropped)
	}
}

// TestKeeperStands: while the ReactorKeeper hangs, as on a hanging disk, at most 8 MiB wait, and the bus is not
// delayed. The waiting events are handled afterwards.
func TestKeeperStands(t *testing.T) {
	r := newRig(t)
	r.start(r.options(oneRule(r.dir), map[string]string{"a.sls": "j{{ data.n }}: {local.test.arg: [tgt: t, arg: [{{ " +
		"data.n }}]]}\n"}))
	reached, release := r.crash[NameKeeper].Hang(&KeepEvent{})
	r.event("ev/x", "n", int64(-1))
	actortest.Wait(t, "the ReactorKeeper", reached)
	const events = 200
	big := strings.Repeat("x", 100<<10)
	for n := range events {
		r.event("ev/x", "n", int64(n), "big", big)
		if now := r.mailed.Load(); now > maxMailed {
			t.Fatalf("%d bytes wait", now)
		}
	}
	dropped := int(r.Show().Dropped)
	release() // the event on which the ReactorKeeper hung is lost with it
	r.eventually("reactions", func() bool { return r.do.total() >= events-dropped })
	r.stop()
	if dropped < events/2 || dropped > events-70 {
		t.Errorf("%d dropped", dropped)
	}
	for n := range events - dropped { // the first ones were within the limit
		if got := r.do.count(fmt.Sprintf("local test.arg [%d] []", n)); got != 1 {
			t.Errorf("event %d was reacted to %d times", n, got)
		}
	}
}

// TestLoopGuard: events that a reaction's own functions fire cause no reaction.
func TestLoopGuard(t *testing.T) {
	r := newRig(t)
	r.start(r.options([]any{payload.M("*", r.dir+"/a.sls")}, map[string]string{"a.sls": "a: {runner.test.arg: [arg: " +
		"[], kwarg: {}]}\n"}))
	r.event("salt/run/1/new", "user", "Reactor")
	r.event("salt/run/1/ret", "user", "root")
	r.settled()
	r.stop()
	if n := r.do.total(); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}

// TestSlow: an event with slow functions or templates delays only events with the same SLS files.
func TestSlow(t *testing.T) {
	r := newRig(t)
	opt := r.options([]any{payload.M("slow", r.dir+"/slow.sls"), payload.M("ev/*", r.dir+"/a.sls")},
		map[string]string{"slow.sls": "{% for i in range(1000000000) %}{% endfor %}",
			"a.sls": "a: {local.test.arg: [tgt: t, arg: [1]]}\n"})
	r.start(opt)
	for range 3 {
		r.event("slow")
	}
	r.event("ev/x")
	r.eventually("the other one", func() bool { return r.do.total() == 1 })
	r.settled()
	s := r.Show()
	r.stop()
	if s.Failures != 3 || s.Rules[0].Failures != 3 || s.Rules[0].Hits != 3 || s.Rules[1].Hits != 1 ||
		s.Rules[1].Calls != 1 || s.Rules[1].Failures != 0 || s.LastError == "" {
		t.Errorf("got %+v", s)
	}
}

// TestFailures: a failed call is logged in Salt's words, and counted.
func TestFailures(t *testing.T) {
	r := newRig(t)
	r.do.fail = errors.New("no luck")
	r.start(r.options(oneRule(r.dir), map[string]string{"a.sls": both + "c: {caller.test.x: [args: [1]]}\nx: " +
		"{local.test.ping: []}\ny: {runner.no.such: []}\nz: {thorium.x.y: []}\n"}))
	r.event("ev/x", "n", int64(1))
	r.settled()
	s := r.Show()
	r.stop()
	if s.Failures != 6 || s.Calls != 3 || s.Rules[0].Failures != 6 {
		t.Errorf("got %+v", s)
	}
	lines := strings.Join(r.log.Lines(), "\n")
	for _, want := range []string{"Reactor 'j1' failed to execute local 'test.arg'",
		"Reactor 'r1' failed to execute runner 'test.arg'", "Reactor 'c' failed to execute caller 'test.x'",
		"Reactor 'x' failed to execute local 'test.ping'", "Reactor 'y' failed to execute runner 'no.such': " +
			"function not available", "ReactWrap is missing a wrapper function for 'thorium'"} {
		if !strings.Contains(lines, want) {
			t.Errorf("the log lacks %q:\n%s", want, lines)
		}
	}
}

// TestManage: only events with the key of the master change rules.
func TestManage(t *testing.T) {
	r := newRig(t)
	r.start(r.options(oneRule(r.dir), map[string]string{"a.sls": "a: {local.test.arg: [tgt: t, arg: [1]]}\n"}))
	r.event("salt/reactors/manage/add", "event", "new", "reactors", []any{r.dir + "/a.sls"}, "key", "wrong")
	r.event("salt/reactors/manage/add", "event", "new", "reactors", []any{r.dir + "/a.sls"}, "key", "secret")
	var got []string
	expect := func(want string) {
		t.Helper()
		select {
		case have := <-r.fired:
			got = append(got, have)
			if have != want {
				t.Errorf("got %q, want %q", have, want)
			}
		case <-time.After(patience):
			t.Fatalf("no answer, want %q", want)
		}
	}
	expect("salt/reactors/manage/add-complete {'status': True, 'comment': 'Reactor added.'}")
	r.event("new")
	r.settled()
	if r.do.total() != 1 {
		t.Error("what was added does not react")
	}
	r.event("salt/reactors/manage/set_leader", "id", "m", "value", false, "key", "secret")
	expect("salt/reactors/manage/leader/value False")
	r.event("new")
	r.event("salt/reactors/manage/set_leader", "id", "other", "value", true, "key", "secret")
	expect("salt/reactors/manage/leader/value False")
	r.event("salt/reactors/manage/is_leader", "key", "secret")
	expect("salt/reactors/manage/leader/value False")
	r.event("salt/reactors/manage/delete", "event", "new", "key", "secret")
	expect("salt/reactors/manage/delete-complete {'status': True, 'comment': 'Reactor deleted.'}")
	r.event("salt/reactors/manage/list", "key", "secret")
	expect("salt/reactors/manage/list-results None")
	r.Lead(true)
	r.event("new")
	r.settled()
	r.stop()
	if r.do.total() != 1 {
		t.Error("a follower reacts, or what was deleted does")
	}
	if n := strings.Count(strings.Join(r.log.Lines(), "\n"), "without matching master_key. discarding"); n != 1 {
		t.Errorf("%d events were discarded, want 1", n)
	}
}

// TestFile: rules come from a file, also after it changes. An unreadable file changes nothing.
func TestFile(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(r.dir, "map")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write("- one: " + r.dir + "/a.sls\n")
	r.start(r.options(path, map[string]string{"a.sls": "a: {local.test.arg: [tgt: t, arg: [1]]}\n"}))
	r.event("one")
	r.settled()
	write("- another: " + r.dir + "/a.sls\n")
	r.event("one")
	r.event("another")
	r.settled()
	write("- {")
	r.event("another")
	r.log.Await(t, "Failed to parse YAML in reactor map")
	r.settled()
	r.stop()
	if n := r.do.total(); n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

// TestRulesAtOnce: each event uses the current content of the file of rules, even after two changes in the same
// moment, of the same length and in place. So do answers about the rules.
func TestRulesAtOnce(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(r.dir, "map")
	rule := func(n int) string { return fmt.Sprintf("- ev/%03d: %s/a.sls\n", n, r.dir) }
	if err := os.WriteFile(path, []byte(rule(0)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.start(r.options(path, map[string]string{"a.sls": "a: {local.test.arg: [tgt: t, arg: [1]]}\n"}))
	defer r.stop()
	for n := range 200 {
		if err := os.WriteFile(path, []byte(rule(n)), 0o600); err != nil {
			t.Fatal(err)
		}
		r.event(fmt.Sprintf("ev/%03d", n))
		list := r.List()
		if len(list) != 1 || !list[0].(*payload.Map).Has(fmt.Sprintf("ev/%03d", n)) {
			t.Fatalf("rules after change %d: %v", n, payload.Show(fmt.Sprint(list...)))
		}
		if got := r.Try(t.Context(), fmt.Sprintf("ev/%03d", n), payload.NewMap(0)); len(got.Rules) != 1 {
			t.Fatalf("an event after change %d would meet %v", n, got.Rules)
		}
	}
	r.settled()
	if got, want := r.Show().Events, int64(200); got != want {
		t.Errorf("%d events were wanted, want %d", got, want)
	}
}

// TestSetRules: a changed option replaces the rules. An unchanged option keeps rules that were added.
func TestSetRules(t *testing.T) {
	r := newRig(t)
	r.start(r.options(oneRule(r.dir), nil))
	defer r.stop()
	r.Add("new", "x")
	r.SetRules(oneRule(r.dir))
	if !r.rules.Load().Wants("new") {
		t.Error("a reload without a change has dropped what was added")
	}
	r.SetRules([]any{payload.M("other", "x"), "wrong"})
	if now := r.rules.Load(); now.Wants("new") || !now.Wants("other") {
		t.Error("a reload has changed nothing")
	}
	r.log.Await(t, "entry 2, wrong, is not a map")
	r.SetRules(nil)
	if r.rules.Load().Wants("other") {
		t.Error("rules that are gone match")
	}
}

// TestTry: the answer contains the calls for an event, and nothing is run.
func TestTry(t *testing.T) {
	r := newRig(t)
	r.start(r.options(append(oneRule(r.dir), payload.M("ev/x", r.dir+"/b.sls"), payload.M("no", "x")),
		map[string]string{"a.sls": both, "b.sls": "b: {{ salt['cmd.run']('id') }}\n"}))
	got := r.Try(t.Context(), "ev/x", payload.M("n", int64(7)))
	r.stop()
	if r.do.total() != 0 {
		t.Error("something was run")
	}
	if len(got.Rules) != 2 || len(got.Calls) != 2 || len(got.Log) != 1 || !strings.Contains(got.Log[0],
		"Failed to render") {
		t.Fatalf("got %+v", got)
	}
	if c := got.Calls[0]; c.Kind != "local" || c.ID != "j7" || c.Tgt != "t" || !cmp.Equal(c.Args, []any{int64(7)}) {
		t.Errorf("got %+v", c)
	}
}

// TestPoison: an event that kills every worker is given up, and named.
func TestPoison(t *testing.T) {
	r := newRig(t)
	r.start(r.options(oneRule(r.dir), map[string]string{"a.sls": both}))
	body := pack(t, "ev/x", "n", int64(1))
	if _, err := r.back.Keep("lane", body); err != nil {
		t.Fatal(err)
	}
	for range tries {
		ev, ok := r.back.Take()
		if !ok {
			t.Skip("the Reactor was faster") // it checks once a second
		}
		r.back.Return(ev.Seq)
	}
	r.event("ev/x", "n", int64(2))
	r.settled()
	r.stop()
	r.log.Await(t, "the Reactor gives an event up")
	if r.do.count("local test.arg [1] []") != 0 || r.do.count("local test.arg [2] []") != 1 {
		t.Errorf("got %v", r.do.all())
	}
}
