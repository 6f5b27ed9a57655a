package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/schedule"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"

	"github.com/google/go-cmp/cmp"
)

// minion has a schedule and answers to its functions as the Scheduler does.
type minion struct {
	state schedule.State
	path  string
	log   []string
}

var now = time.Date(2026, 11, 23, 10, 20, 30, 0, time.UTC)

func options() schedule.Options {
	return schedule.Options{Loop: time.Second, Random: func(low, _ int64) int64 { return low },
		Known: func(string) bool {
			return true
		}, Running: func(string) int { return 0 }, JID: func() string { return "JID" }}
}

// manage carries out a request; it gives the last answer whose tag begins so.
func (m *minion) manage(data any, answer string) *payload.Map {
	var out schedule.Effects
	m.state, out = m.state.Manage(data.(*payload.Map), now, options())
	for _, msg := range out.Messages {
		m.Log(msg.Level, msg.Text)
	}
	if out.Persist {
		if err := schedule.Save(m.path, m.state.Saveable()); err != nil {
			panic(err)
		}
	}
	for _, r := range out.Replies {
		saved := r.What == schedule.Saved && answer == event.TagScheduleSaved
		if saved || strings.HasPrefix(event.TagMinionComplete("schedule_"+r.What), answer) {
			return r.Data
		}
	}
	return nil
}

func (m *minion) Log(level slog.Level, text string) {
	if level >= slog.LevelWarn {
		m.log = append(m.log, strings.Replace(level.String(), "WARN", "WARNING", 1)+" "+text)
	}
}

func (m *minion) LogAs(_ string, level slog.Level, text string) { m.Log(level, text) }

func (m *minion) FireMaster(context.Context, string, any, *payload.Map) bool { return false }

func (m *minion) FireLocal(_ context.Context, tag string, data any) bool {
	if tag == event.TagManageSchedule {
		m.manage(data, "")
	}
	return true
}

func (m *minion) AwaitLocal(_ context.Context, _ string, data any, answer string) (*payload.Map, bool) {
	reply := m.manage(data, answer)
	return reply, reply != nil
}

// unlike are the calls that we answer otherwise, and why.
var unlike = map[string]string{
	"enable_job [frompillar]":  ofPillar,
	"disable_job [frompillar]": ofPillar,
	"postpone_job [frompillar 2026-11-23T11:00:00 2026-11-23T12:00:00]": ofPillar,
	"skip_job [frompillar 2026-11-23T11:00:00]":                         ofPillar,
}

const ofPillar = "nobody changes a job of the pillar, and the answer says so"

// TestAnswers makes the calls of testdata/answers.json, which Salt 3008.3 has answered.
func TestAnswers(t *testing.T) {
	b, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := yaml.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	rows := v.([]any)
	dir := t.TempDir()
	opts := payload.M("conf_file", filepath.Join(dir, "minion"), "default_include", "minion.d/*.conf")
	pillar := payload.M("schedule", payload.M("frompillar", payload.M("function", "test.ping", "hours", int64(2))))
	configured := payload.M("configured", payload.M("function", "test.ping", "hours", int64(1)))
	m := &minion{path: schedule.Path(opts), state: schedule.New(configured, pillar.Map("schedule"))}
	reg := loader.NewRegistry()
	var response any
	published := []any{}
	reg.Offer(loader.Listed{Module()})
	publish := func(_ *loader.Call, a loader.Args) (any, error) {
		published = append(published, a.Rest)
		return response, nil
	}
	if err := reg.Register(loader.Func{Name: "publish.publish", VarArgs: true, Run: publish}); err != nil {
		t.Fatal(err)
	}
	env := &loader.Env{Registry: reg, Opts: func() *payload.Map { return opts },
		Pillar: func() *payload.Map { return pillar }, Host: loader.Host{Events: m, Log: m}}
	for i, r := range rows {
		row := r.(*payload.Map)
		if row.Str("fun") == "look" {
			m.state, _, _ = m.state.Next(now, options())
			continue
		}
		for k, v := range row.Map("opts").All() {
			opts.Set(k, v)
		}
		m.log, published, response = nil, []any{}, row.Value("publish")
		fun := "schedule." + row.Str("fun")
		got, err := loader.NewCall(t.Context(), env, fun, nil).Call(fun, row.List("args"), row.Map("kw"))
		for k := range row.Map("opts").All() {
			opts.Delete(k)
		}
		is := payload.M("return", got, "log", texts(m.log), "published", published, "file", content(m.path))
		if err != nil {
			is.Delete("return")
			is.Set("raised", loader.ClassOf(err))
		}
		want := payload.NewMap(5)
		for k := range is.All() {
			want.Set(k, row.Value(k))
		}
		if row.Map("kw").Bool("offline") { // Salt keeps the order of some keys in what it writes then
			is.Set("file", parsed(t, is.Value("file")))
			want.Set("file", parsed(t, want.Value("file")))
		}
		call := fmt.Sprint(row.Str("fun"), " ", row.List("args"))
		if diff := cmp.Diff(jsonOf(t, want), jsonOf(t, is)); (diff != "") != (unlike[call] != "") {
			t.Errorf("%d: %s %s: Salt - ours +\n%s", i, call, python.Repr(row.Map("kw")), diff)
		}
	}
}

func texts(list []string) []any {
	out := []any{}
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

// content is what a file holds, nil without one.
func content(path string) any {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return string(b)
}

func parsed(t *testing.T, text any) any {
	t.Helper()
	s, _ := text.(string)
	v, err := yaml.Load([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// jsonOf makes values of any kind comparable, whatever the order of keys.
func jsonOf(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(native(v))
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func native(v any) any {
	switch x := v.(type) {
	case *payload.Map:
		out := map[string]any{}
		for k, v := range x.All() {
			out[loader.Text(k)] = native(v)
		}
		return out
	case []any:
		out := []any{}
		for _, v := range x {
			out = append(out, native(v))
		}
		return out
	}
	if at := schedule.TimeOf(v); !at.IsZero() {
		return at.Format("2006-01-02T15:04:05")
	}
	return v
}
