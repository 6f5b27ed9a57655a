package minion

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/actors/daemon"
	"brine/config"
	"brine/supervisor/stats"
	"brine/wire/control"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// heard are events of a minion's own bus below my/.
type heard chan *payload.Map

// reacts starts a minion whose Reactor has files; DIR in them and in the rules is their directory.
func reacts(t *testing.T, rules string, files map[string]string) (*rig, heard) {
	t.Helper()
	r := newRig(t, "")
	dir := filepath.Join(r.dir, "srv")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "DIR", dir)),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.configured(strings.ReplaceAll("engines: [{reactor: {worker_threads: 2, worker_hwm: 10}}]\nfile_roots: {base: "+
		"[DIR]}\nreactor: "+rules+"\n", "DIR", dir))
	r.up()
	ears, stands := make(heard, 1000), make(chan struct{})
	r.m.bus.Ref().Send(&daemon.Subscribe{Name: "ears", Done: stands, Sink: func(tag string, body []byte) {
		if _, data, err := event.Unpack(body); err == nil && strings.HasPrefix(tag, "my/") {
			ears <- data.Clone().Set("tag", tag)
		}
	}})
	<-stands
	return r, ears
}

// configured adds to the configuration of a minion that has not started.
func (r *rig) configured(text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, "minion")
	have, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(have, text...), 0o600)
	}
	if err == nil {
		r.cfg, err = config.LoadMinion(path, nil)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.opt = r.options()
}

// next is the next event with a tag.
func (h heard) next(t *testing.T, r *rig, tag string) *payload.Map {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case data := <-h:
			if data.Str("tag") == tag {
				return data
			}
		case <-limit:
			t.Fatalf("no event %s; %+v\n%s", tag, r.m.Reactor(), strings.Join(r.log.Lines(), "\n"))
		}
	}
}

// both are the next events with two tags, in any order.
func (h heard) both(t *testing.T, tags ...string) map[string]*payload.Map {
	t.Helper()
	got := map[string]*payload.Map{}
	for limit := time.After(patience); got[tags[0]] == nil || got[tags[1]] == nil; {
		select {
		case data := <-h:
			got[data.Str("tag")] = data
		case <-limit:
			t.Fatalf("no events %v, only %v", tags, got)
		}
	}
	return got
}

// reacted waits until the Reactor has made so many calls and has no more in hand.
func (r *rig) reacted(t *testing.T, calls int64) (s control.Reactor) {
	t.Helper()
	limit := time.After(patience)
	for s = r.m.Reactor(); s.Calls < calls || s.Waiting > 0; s = r.m.Reactor() {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-limit:
			t.Fatalf("got %+v\n%s", s, strings.Join(r.log.Lines(), "\n"))
		}
	}
	return s
}

// TestReactor: events of the minion's bus set off functions of the minion as jobs, of which the master hears nothing.
// Files come from this machine and from its file_roots. What came with the event is a value: never a template, a name
// or a number.
func TestReactor(t *testing.T) {
	t.Parallel()
	r, ears := reacts(t, "[{my/event: [DIR/a.sls, 'salt://b.sls']}]", map[string]string{
		"a.sls": "fire:\n  caller.event.fire:\n    - args:\n      - data: {x: {{ data.x | json }}, id: {{ " +
			"grains.id }}, where: {{ pillar.where }}}\n      - tag: my/answer\n",
		"b.sls": "{% from 'c.jinja' import tag %}\nfire2:\n  caller.event.fire:\n    - args: [{{ data | json }}, " +
			"{{ tag }}]\necho:\n  caller.t.echo:\n    - args: [{{ data.text | json }}]\n",
		"c.jinja": "{% set tag = 'my/second' %}"})
	r.m.fire("my/event", payload.M("x", "{{ 7 * 7 }}{% for %}", "text", "text=[1, 2]"))
	r.reacted(t, 3) // the two fire in any order
	got := ears.both(t, "my/answer", "my/second")
	if got := got["my/answer"]; got.Str("x") != "{{ 7 * 7 }}{% for %}" || got.Str("id") != "m1" ||
		got.Str("where") != "master" {
		t.Errorf("got %v", got)
	}
	if got := got["my/second"]; got.Str("text") != "text=[1, 2]" {
		t.Errorf("got %v", got)
	}
	s := r.reacted(t, 3)
	if !s.Running || s.Calls != 3 || s.Failures != 0 || s.Reacted != 1 || s.Rules[0].Hits != 1 {
		t.Errorf("got %+v\n%s", s, strings.Join(r.log.Lines(), "\n"))
	}
	r.master().await(t, "nothing", func() bool { return len(r.master().returns) == 0 })
	if got := r.run("20261123000000000001", "t.echo", "x"); got.Str("return") != "x" {
		t.Errorf("a job of the master: got %v", got)
	}
	var names []string
	for _, c := range r.m.top.Snapshot() {
		if c.State == stats.StateRunning && strings.HasPrefix(c.Name, "Reactor") {
			names = append(names, c.Name)
			for _, w := range c.Children {
				names = append(names, w.Name)
			}
		}
	}
	if got := strings.Join(names, " "); !strings.Contains(got, "ReactorKeeper") ||
		!strings.Contains(got, "Reaction-2") || strings.Contains(got, "Reaction-3") {
		t.Errorf("got %s", got)
	}
}

// TestReactorArguments: what an event brings as an argument is one, whatever its form. A map that would pass for
// arguments by name is refused.
func TestReactorArguments(t *testing.T) {
	t.Parallel()
	r, ears := reacts(t, "[{my/event: DIR/a.sls}]", map[string]string{
		"a.sls": "echo:\n  caller.t.echo:\n    - args: [{{ data.x | json }}]\nnext:\n  caller.event.fire:\n    - " +
			"args: [{}, my/over]\n"})
	for _, x := range []any{"text=1", "no_such=1", "__kwarg__=True", "[1, 2]", payload.M("text", "y")} {
		r.m.fire("my/event", payload.M("x", x))
		ears.next(t, r, "my/over")
	}
	if s := r.reacted(t, 10); s.Failures != 0 {
		t.Errorf("got %+v", s)
	}
	r.m.fire("my/event", payload.M("x", payload.M("__kwarg__", true, "text", "y")))
	ears.next(t, r, "my/over")
	if s := r.reacted(t, 12); s.Failures != 1 || !strings.Contains(s.LastError, "an argument has the key __kwarg__") {
		t.Errorf("got %+v", s)
	}
}

// TestReactorShell: a command has no shell unless the reaction asks for one, as with Salt: what an event brings into a
// command line is a word of it.
func TestReactorShell(t *testing.T) {
	t.Parallel()
	r, _ := reacts(t, "[{my/event: DIR/a.sls}]", map[string]string{
		"a.sls": "run:\n  caller.cmd.run:\n    - args: [{{ ('touch DIR/' ~ data.x) | json }}]\n"})
	const word = "$(echo${IFS}shell)"
	r.m.fire("my/event", payload.M("x", word))
	if s := r.reacted(t, 1); s.Failures != 0 {
		t.Errorf("got %+v", s)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "srv", word)); err != nil {
		t.Error(err)
	}
}

// TestReactorRefuses: reactions of other kinds, functions that are not there and those that fail are told by name; the
// rest goes on.
func TestReactorRefuses(t *testing.T) {
	t.Parallel()
	files, wants := map[string]string{}, []struct{ reaction, logs, why string }{
		{"local.test.ping: [tgt: '*']", "local 'test.ping'", "the Reactor of a minion has no local reactions"},
		{"runner.test.arg: [args: {a: 1}]", "runner 'test.arg'", "the Reactor of a minion has no runner reactions"},
		{"runner.test.arg: [a: 1]", "runner 'test.arg'", "the Reactor of a minion has no runner reactions"},
		{"wheel.key.list_all: []", "wheel 'key.list_all'", "the Reactor of a minion has no wheel reactions"},
		{"caller.no.such: []", "caller 'no.such'", "'no.such' is not available."},
		{"caller.t.panic: []", "caller 't.panic'", "nil pointer"},
	}
	for i, tt := range wants {
		files[fmt.Sprintf("%d.sls", i)] = fmt.Sprintf("r%d: {%s}\nfire: {caller.event.fire: [args: [{}, my/over]]}\n",
			i, tt.reaction)
	}
	r, ears := reacts(t, "[{my/0: DIR/0.sls}, {my/1: DIR/1.sls}, {my/2: DIR/2.sls}, {my/3: DIR/3.sls}, {my/4: "+
		"DIR/4.sls}, {my/5: DIR/5.sls}]", files)
	for i, tt := range wants {
		r.m.fire(fmt.Sprintf("my/%d", i), payload.M("x", 1))
		ears.next(t, r, "my/over")
		s := r.reacted(t, int64(2*(i+1)))
		if s.Failures != int64(i+1) || !strings.Contains(s.LastError, tt.why) || s.Rules[i].Failures != 1 {
			t.Errorf("%s: got %+v", tt.reaction, s)
		}
		if want, log := fmt.Sprintf("Reactor 'r%d' failed to execute %s", i, tt.logs), strings.Join(r.log.Lines(),
			"\n"); !strings.Contains(log, want) {
			t.Errorf("no %s in\n%s", want, log)
		}
	}
}

// TestReactorKilled: whichever of its actors dies, each event is reacted to once.
func TestReactorKilled(t *testing.T) {
	t.Parallel()
	r, ears := reacts(t, "[{my/event: DIR/a.sls}]", map[string]string{
		"a.sls": "fire:\n  caller.event.fire:\n    - args: [{n: {{ data.n }}}, my/answer]\n"})
	const events = 60
	harmed := 0
	harm := func(path string) {
		if r.m.top.Inject(path, "panic") == nil { // else it is just dead
			harmed++
		}
	}
	for n := range events {
		r.m.fire("my/event", payload.M("n", n))
		switch n {
		case 10, 30:
			harm("Reactor")
		case 20, 40:
			harm("ReactorKeeper")
		case 25, 50:
			harm("Reactor/Reaction-1")
		}
	}
	if harmed == 0 {
		t.Error("nobody was harmed")
	}
	seen := map[string]int{}
	for len(seen) < events {
		seen[python.Str(ears.next(t, r, "my/answer").Value("n"))]++
	}
	r.reacted(t, events)
	for len(ears) > 0 {
		if data := <-ears; data.Str("tag") == "my/answer" {
			seen[python.Str(data.Value("n"))]++
		}
	}
	for n, times := range seen {
		if times != 1 {
			t.Errorf("%s: reacted to %d times", n, times)
		}
	}
}

// TestReactorUnasked: rules without the engine react to nothing, as with Salt, and nobody manages the rules of a minion
// by an event.
func TestReactorUnasked(t *testing.T) {
	t.Parallel()
	r := newRig(t, "reactor: [{'*': /no/such.sls}]\n").up()
	if got := r.m.Reactor(); got.Running {
		t.Errorf("got %+v", got)
	}
	if _, err := r.m.TryReactor(t.Context(), "x", payload.NewMap(0)); err == nil || !strings.Contains(err.Error(),
		"engines does not name it") {
		t.Errorf("got %v", err)
	}
	with, ears := reacts(t, "[{my/event: DIR/a.sls}]", map[string]string{"a.sls": "fire: {caller.event.fire: [args: " +
		"[{}, my/over]]}\n"})
	for _, key := range []any{"", nil, "x"} {
		with.m.fire("salt/reactors/manage/add", payload.M("key", key, "event", "*", "reactors", "/tmp/x.sls"))
	}
	with.m.fire("my/event", payload.M("a", 1))
	ears.next(t, with, "my/over")
	if got := with.m.Reactor(); len(got.Rules) != 1 {
		t.Errorf("got %s", fmt.Sprint(got.Rules))
	}
}
