package reactor

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/renderers"
	"brine/modules/renderers/jinja"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// rendered is the chunks of one SLS for an event.
func rendered(t testing.TB, text, tag string, data *payload.Map) ([]*payload.Map, *heard, error) {
	t.Helper()
	dir := put(t, payload.M("a.sls", text))
	h := &heard{}
	chunks, err := newReactor(t, h).Chunks(context.Background(), tag, data, []any{filepath.Join(dir, "a.sls")})
	return chunks, h, err
}

// TestEndlessTemplate: a template that would never end is ended, by its limits or by the time it has, and says so.
func TestEndlessTemplate(t *testing.T) {
	for _, text := range []string{
		"{% for i in range(1000000000) %}{% for j in range(1000000000) %}{% endfor %}{% endfor %}\na: {}\n",
		"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
		"{% set ns = namespace(x='a') %}{% for i in range(1000) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}",
	} {
		path := filepath.Join(put(t, payload.M("a.sls", text)), "a.sls")
		h := &heard{}
		set := renderers.New(renderers.Options{Jinja: renderers.Jinja{Opts: payload.NewMap(0), Has: func(string) bool {
			return false
		}, Limits: jinja.Limits{Steps: 100000, Memory: 1 << 20, Output: 1 << 20}}})
		r := New(Options{Renderers: set, Pipe: "jinja|yaml", Functions: functions(t), Log: h.log})
		chunks, err := r.Chunks(context.Background(), "t", payload.NewMap(0), []any{path})
		if err == nil || chunks != nil || len(h.lines) != 1 {
			t.Errorf("%q: got %d chunks, %v, %v", text, len(chunks), err, h.lines)
		}
	}
	path := filepath.Join(put(t, payload.M("a.sls", "{% for i in range(1000000000) %}{% endfor %}")), "a.sls")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := newReactor(t, &heard{}).Chunks(ctx, "t", payload.NewMap(0), []any{path}); err == nil {
		t.Error("no error after the time was over")
	}
}

// TestData: data of an event is a value, however large and whatever it looks like.
func TestData(t *testing.T) {
	nasty := "{{ salt['cmd.run']('id') }}{% include '/etc/passwd' %}\n- x: [}"
	big := strings.Repeat("{{ 7*7 }}", 1<<20/9)
	data := payload.M("n", nasty, "big", big, nasty, "as a key")
	chunks, h, err := rendered(t, "a:\n  local.test.arg:\n    - tgt: t\n    - arg: [{{ data.n | json }}, {{ "+
		"data.big | json }}, {{ data | json }}, {{ tag | json }}]\n", nasty, data)
	if err != nil || len(chunks) != 1 {
		t.Fatalf("got %d chunks, %v, %v", len(chunks), err, h.lines)
	}
	arg := chunks[0].List("arg")
	if arg[0] != nasty || arg[1] != big || arg[3] != nasty || arg[2].(*payload.Map).Str(nasty) != "as a key" {
		t.Error("a value has changed on its way through a template")
	}
}

// TestTooMany: an event cannot set off any number of calls.
func TestTooMany(t *testing.T) {
	text := "{% for i in range(data.n) %}a{{ i }}: {local.test.ping: [tgt: t]}\n{% endfor %}"
	if chunks, _, err := rendered(t, text, "t", payload.M("n", int64(100))); err != nil || len(chunks) != 100 {
		t.Errorf("100: got %d, %v", len(chunks), err)
	}
	if chunks, _, err := rendered(t, text, "t", payload.M("n", int64(maxChunks+1))); err == nil || chunks != nil {
		t.Errorf("too many: got %d, %v", len(chunks), err)
	}
}

// TestUnknownKind: Salt's Reactor dies of it.
func TestUnknownKind(t *testing.T) {
	chunks, h, err := rendered(t, "a: {thorium.x.y: []}\nb: {local.test.ping: [tgt: t]}\n", "t", payload.NewMap(0))
	if err != nil || len(chunks) != 2 {
		t.Fatalf("got %d, %v", len(chunks), err)
	}
	r := newReactor(t, h)
	if _, err := r.Call(chunks[1]); err == nil || !strings.Contains(err.Error(), "there is no reaction 'thorium'") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]any{[]any{"ERROR", "ReactWrap is missing a wrapper function for 'thorium'"}},
		h.lines); diff != "" {
		t.Error(diff)
	}
}

// TestUnread: what stands beside args and changes nothing is named, also where Salt says nothing.
func TestUnread(t *testing.T) {
	const text = "a: {caller.test.arg: [args: [1], kwargs: {x: 2}, order: 1, name: n]}\nb: {runner.test.arg: [args: " +
		"{x: 1}, tgt: t]}\n" +
		"c: {local.test.arg: [tgt: t, args: {x: 1}, ret: r]}\nd: {caller.test.arg: [arg: [1], kwarg: {x: 2}]}\n"
	chunks, h, err := rendered(t, text, "t", payload.NewMap(0))
	if err != nil || len(chunks) != 4 {
		t.Fatalf("got %d, %v", len(chunks), err)
	}
	r := newReactor(t, h)
	for _, c := range chunks {
		if _, err := r.Call(c); err != nil {
			t.Error(err)
		}
	}
	const because = ": nothing reads it beside 'args'. Arguments by position and by name together are 'arg' and " +
		"'kwarg'."
	want := []any{[]any{"WARNING", "Reactor 'a' is ignoring 'kwargs'" + because},
		[]any{"WARNING", "Reactor 'b' is ignoring 'tgt'" + because}}
	if diff := cmp.Diff(want, h.lines); diff != "" {
		t.Error(diff)
	}
}

// found is a file server with one file.
type found struct{ url, path string }

func (f found) Path(_ context.Context, url string) (string, bool) { return f.path, url == f.url }

func TestSaltURL(t *testing.T) {
	dir := put(t, payload.M("a.sls", "a: {local.test.ping: [tgt: t]}\n"))
	h := &heard{}
	r := New(Options{Renderers: newReactor(t, h).opt.Renderers, Pipe: "jinja|yaml", Functions: functions(t), Log: h.log,
		Files: found{"salt://r/a.sls", dir + "/a.sls"}})
	if chunks, err := r.Chunks(context.Background(), "t", payload.NewMap(0), []any{"salt://r/a.sls"}); err != nil ||
		len(chunks) != 1 {
		t.Errorf("got %d, %v, %v", len(chunks), err, h.lines)
	}
}

// TestTagIsText: the tag of an event is no pattern, whatever it holds.
func TestTagIsText(t *testing.T) {
	r, _ := ParseRules([]any{payload.M("salt/key", "x"), payload.M("my/[a]", "y")})
	for _, tag := range []string{"*", "salt/*", "salt/ke?", "[s]alt/key", "my/[a]", "salt/key\n", "\x00"} {
		if got := r.Match(tag); got != nil || r.Wants(tag) {
			t.Errorf("%q: got %v", tag, got)
		}
	}
	if !r.Wants("my/a") {
		t.Error("a glob matches nothing")
	}
}

// TestProblems: entries that are passed over are named.
func TestProblems(t *testing.T) {
	r, problems := ParseRules([]any{"text", payload.M("a", "x", "b", "y"), payload.M(int64(5), "x"),
		payload.M("t", int64(5)), payload.M("ok", "x")})
	if got := r.Match("ok"); len(got) != 1 || len(problems) != 4 {
		t.Errorf("got %v, %q", got, problems)
	}
	for i, want := range []string{"entry 1, text, is not a map", "entry 2, {'a': 'x', 'b': 'y'}, is not a map",
		"entry 3, {5: 'x'}, has a tag that is no text", "entry 4, {'t': 5}, has neither"} {
		if i < len(problems) && !strings.Contains(problems[i], want) {
			t.Errorf("got %q, want %q", problems[i], want)
		}
	}
	if _, answer := r.Add("new", int64(5)); answer.Bool("status") {
		t.Error("an entry was added that cannot be used")
	}
}

func TestReadRules(t *testing.T) {
	dir := put(t, payload.M("good", "- 'a/*': /x.sls\n- b: [/y.sls]\n", "map", "a: x\n", "bad", "- {\n", "empty", ""))
	r, problems, err := ReadRules(filepath.Join(dir, "good"))
	if err != nil || problems != nil {
		t.Fatal(problems, err)
	}
	if diff := cmp.Diff([]Rule{{"a/*", []string{"/x.sls"}}, {"b", []string{"/y.sls"}}}, r.Tags()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"map": "Failed to parse YAML in reactor map",
		"bad": "Failed to parse YAML in reactor map", "empty": "Failed to parse", "none": "Failed to read reactor map",
		".": "Failed to read"} {
		if _, _, err := ReadRules(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestArgs(t *testing.T) {
	for _, tt := range []struct{ arg, want any }{
		{[]any{"x", int64(1)}, []any{"x", int64(1)}}, {"text", []any{"text"}}, {int64(5), []any{int64(5)}},
		{payload.M("k", 1), []any{"k"}}, {nil, []any(nil)},
	} {
		c := Call{Arg: tt.arg}
		if diff := cmp.Diff(tt.want, any(c.Args())); diff != "" {
			t.Errorf("%v: %s", tt.arg, diff)
		}
	}
}

// fifty are fifty rules of which three match an event.
func fifty(b *testing.B) (*Rules, string) {
	b.Helper()
	dir := put(b, payload.M("a.sls", "{% if data.get('ok') %}\nr_{{ data['id'] }}:\n  local.test.ping:\n    - tgt: "+
		"{{ data['id'] }}\n    - arg: [{{ tag }}]\n{% endif %}\n", "b.sls", "b: {runner.test.arg: [args: {x: 1}]}\n"))
	entries := []any{payload.M("my/*/event", dir+"/a.sls"), payload.M("my/app/*", []any{dir + "/b.sls"}),
		payload.M("*", dir+"/b.sls")}
	for i := len(entries); i < 50; i++ {
		entries = append(entries, payload.M(fmt.Sprintf([]string{"salt/job/*/ret/%d", "my/%d/*", "*/%d/end",
			"salt/minion/*/start%d"}[i%4], i), dir+"/b.sls"))
	}
	r, problems := ParseRules(entries)
	if problems != nil {
		b.Fatal(problems)
	}
	return r, "my/app/event"
}

func BenchmarkMatch(b *testing.B) {
	rules, tag := fifty(b)
	b.ReportAllocs()
	for b.Loop() {
		if len(rules.Match(tag)) != 3 {
			b.Fatal("not three")
		}
	}
}

// BenchmarkEvent is the whole way of one event, but for the calls themselves.
func BenchmarkEvent(b *testing.B) {
	rules, tag := fifty(b)
	r := newReactor(b, &heard{})
	r.opt.Log = func(slog.Level, string, error) {}
	data := payload.M("id", "web1", "ok", true, "data", payload.M("a", int64(1), "b", []any{"x", "y"}))
	b.ReportAllocs()
	began := used(b)
	for b.Loop() {
		chunks, err := r.Chunks(context.Background(), tag, data, rules.Match(tag))
		if err != nil || len(chunks) != 2 {
			b.Fatal(len(chunks), err)
		}
		for _, chunk := range chunks {
			if _, err := r.Call(chunk); err != nil {
				b.Fatal(err)
			}
		}
	}
	// of a machine that does other things, too
	b.ReportMetric(float64((used(b)-began).Microseconds())/float64(b.N), "cpu-µs/op")
}

// used is the time that this process has had of the processors.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// FuzzSLS: whatever a file holds and an event brings, nothing fails.
func FuzzSLS(f *testing.F) {
	f.Add("a:\n  runner.event.send:\n    - args: {{ data.x }}\n", "x")
	f.Add("a: {caller.test.arg: [args: [1, {x: 2}], order: last]}\n", "[1, {2: 3}]")
	dir := f.TempDir()
	r := newReactor(f, &heard{})
	r.opt.Log = func(slog.Level, string, error) {}
	f.Fuzz(func(t *testing.T, text, x string) {
		path := filepath.Join(dir, "a.sls")
		if len(text) > 1000 || os.WriteFile(path, []byte(text), 0o600) != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		chunks, _ := r.Chunks(ctx, x, payload.M("x", x), []any{path})
		for _, chunk := range chunks {
			if c, err := r.Call(chunk); err == nil {
				c.Args()
				c.KW()
			}
		}
	})
}
