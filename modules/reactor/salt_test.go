package reactor

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/all"
	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/modules/runners"
	"brine/modules/wheel"
	"brine/wire/payload"
	"brine/wire/python/pyjson"

	"github.com/google/go-cmp/cmp"
)

// otherwise are the rows in which brine logs another text than Salt, and why.
var otherwise = map[string]string{
	"[{k: v, l: w}]": "a map is shown as one, where Salt shows an OrderedDict",
	"kwarg: {y: 2}":  "a map is shown as one, where Salt shows an OrderedDict",
}

// registry are the real functions of a master.
type registry map[string]*loader.Registry

func (r registry) Lookup(kind, fun string) (*loader.Func, bool) { return r[kind].Lookup(fun) }

func functions(t testing.TB) registry {
	t.Helper()
	r := registry{KindRunner: loader.NewRegistry(), KindWheel: loader.NewRegistry()}
	r[KindRunner].Offer(all.Runners(runners.Options{}))
	r[KindWheel].Offer(all.Wheel(wheel.Options{}))
	return r
}

// heard is what was logged, as the recording has it.
type heard struct{ lines []any }

func (h *heard) log(level slog.Level, text string, _ error) {
	h.lines = append(h.lines, []any{strings.Replace(level.String(), "WARN", "WARNING", 1), text})
}

func newReactor(t testing.TB, h *heard) *Reactor {
	t.Helper()
	set := renderers.New(renderers.Options{Jinja: renderers.Jinja{Opts: payload.NewMap(0), Has: func(string) bool {
		return false
	}}})
	return New(Options{Renderers: set, Pipe: "jinja|yaml", Functions: functions(t), Log: h.log})
}

func recorded(t *testing.T) *payload.Map {
	t.Helper()
	packed, err := os.ReadFile("testdata/salt3008.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := pyjson.Load(string(packed))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*payload.Map)
}

// TestAsSalt compares with the calls that the Reactor of Salt 3008.3 makes of the same rules, files and events
// (testdata/generate.py), and with what it logs.
func TestAsSalt(t *testing.T) {
	rows := recorded(t).List("rows")
	if len(rows) < 150 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, v := range rows {
		row := v.(*payload.Map)
		dir := put(t, row.Map("files"))
		h := &heard{}
		sls, calls := react(t, newReactor(t, h), there(t, row, dir))
		got := payload.M("sls", sls, "calls", calls, "log", h.lines)
		want := payload.M("sls", row.List("sls"), "calls", row.List("calls"), "log", row.List("log"))
		if why := excuse(row); why != "" {
			if cmp.Equal(plain(t, want), plain(t, back(t, got, dir))) {
				t.Errorf("row %d is as Salt's, though %s", i, why)
			}
			got.Delete("log")
			want.Delete("log")
		}
		if diff := cmp.Diff(plain(t, want), plain(t, back(t, got, dir))); diff != "" {
			t.Errorf("row %d, %s (-Salt +brine)\n%s", i, row.Map("files").Str("a.sls"), diff)
		}
	}
}

func excuse(row *payload.Map) string {
	for part, why := range otherwise {
		if text := row.Map("files").Str("a.sls"); strings.Contains(text, part) && strings.Contains(text, "args:") {
			return why
		}
	}
	return ""
}

// react is what the Reactor does with an event, its clients replaced by recorders.
func react(t *testing.T, r *Reactor, row *payload.Map) (sls, calls []any) {
	t.Helper()
	rules, _ := ParseRules(row.List("reactor"))
	sls = rules.Match(row.Str("tag"))
	if len(sls) == 0 {
		return nil, nil
	}
	chunks, _ := r.Chunks(context.Background(), row.Str("tag"), row.Map("data"), sls)
	for _, chunk := range chunks {
		c, err := r.Call(chunk)
		if err != nil {
			continue
		}
		kw := c.More.Clone().Set("arg", c.Arg).Set("kwarg", c.KWArg)
		one := payload.M("kind", c.Kind, "fun", c.Fun)
		switch c.Kind {
		case KindCaller:
			one.Set("args", c.Args()).Set("kwargs", c.KW())
		case KindLocal:
			one.Set("tgt", c.Tgt).Set("kw", kw)
		default:
			one.Set("kw", kw)
		}
		calls = append(calls, one)
	}
	return sls, calls
}

func put(t testing.TB, files *payload.Map) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files.All() {
		path := filepath.Join(dir, name.(string))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text.(string)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// there puts the directory in, back takes it out.
func there(t *testing.T, row *payload.Map, dir string) *payload.Map {
	t.Helper()
	return reread(t, row, "DIR/", dir+"/")
}

func back(t *testing.T, row *payload.Map, dir string) *payload.Map {
	t.Helper()
	return reread(t, row, dir, "DIR")
}

func reread(t *testing.T, m *payload.Map, from, to string) *payload.Map {
	t.Helper()
	text, err := json.Marshal(plain(t, m))
	if err != nil {
		t.Fatal(err)
	}
	v, err := pyjson.Load(strings.ReplaceAll(string(text), from, to))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*payload.Map)
}

// plain lets values be compared that have come by different ways: keys are texts, as in JSON.
func plain(t *testing.T, v any) any {
	t.Helper()
	switch v := v.(type) {
	case *payload.Map:
		out := map[string]any{}
		for k, item := range v.All() {
			name, ok := k.(string)
			if !ok {
				text, err := json.Marshal(k)
				if err != nil {
					t.Fatal(err)
				}
				name = string(text)
			}
			out[name] = plain(t, item)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(t, item))
		}
		return out
	case int64:
		return float64(v)
	}
	return v
}

// TestManage compares what reactor.add, delete and list answer.
func TestManage(t *testing.T) {
	all := recorded(t)
	rules, _ := ParseRules(all.List("first"))
	for i, v := range all.List("manage") {
		step := v.([]any)
		var got any
		switch step[0] {
		case "list":
			got = rules.List()
		case "add":
			rules, got = rules.Add(step[1], step[2])
		case "delete":
			rules, got = rules.Delete(step[1])
		}
		if diff := cmp.Diff(plain(t, step[len(step)-1]), plain(t, got)); diff != "" {
			t.Errorf("step %d, %v (-Salt +brine)\n%s", i, step[:2], diff)
		}
	}
}
