package runners_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/modules/all"
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/runners"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// fakeMaster stands for everything runners ask of a master.
type fakeMaster struct {
	asked   []runners.Job
	answers map[string]*runners.Collected // by function
	err     error
	loads   *payload.Map
	returns map[string]*payload.Map
	banks   map[string]*payload.Map
	online  map[string]string
	fired   []string
	events  []string // "tag" of the events a watcher sees
	closed  bool
}

func (m *fakeMaster) Collect(_ context.Context, job runners.Job) (*runners.Collected, error) {
	m.asked = append(m.asked, job)
	if m.err != nil {
		return nil, m.err
	}
	if c := m.answers[fmt.Sprint(job.Fun)]; c != nil {
		return c, nil
	}
	return &runners.Collected{}, nil
}

func (m *fakeMaster) Load(jid string) (*payload.Map, error)    { return m.loads.Map(jid), m.err }
func (m *fakeMaster) Returns(jid string) (*payload.Map, error) { return m.returns[jid], m.err }
func (m *fakeMaster) Loads() (*payload.Map, error)             { return m.loads, m.err }
func (m *fakeMaster) EndTime(string) string                    { return "2026, Nov 21 10:56:28.000000" }

func (m *fakeMaster) List(bank string) ([]string, error) {
	var out []string
	for k := range m.banks[bank].All() {
		out = append(out, k.(string))
	}
	return out, m.err
}

func (m *fakeMaster) Fetch(bank, key string) (any, error) { return m.banks[bank].Value(key), m.err }

func (m *fakeMaster) Store(bank, key string, v any) error {
	if m.banks[bank] == nil {
		m.banks[bank] = payload.NewMap(0)
	}
	m.banks[bank].Set(key, v)
	return m.err
}

func (m *fakeMaster) Flush(bank, key string) (bool, error) {
	had := m.banks[bank].Has(key)
	if had {
		m.banks[bank].Delete(key)
	}
	return had, m.err
}

func (m *fakeMaster) Accepted() ([]string, error)                { return []string{"db1", "web1", "web2"}, m.err }
func (m *fakeMaster) Cached(bank string) ([]string, error)       { return m.List(bank) }
func (m *fakeMaster) Data(bank, id string) (*payload.Map, error) { return m.banks[bank].Map(id), m.err }

func (m *fakeMaster) Forget(id string, banks ...string) error {
	for _, bank := range banks {
		m.banks[bank].Delete(id)
	}
	return m.err
}

func (m *fakeMaster) DropMine(id string, fun any) error {
	m.banks["mine"].Map(id).Delete(fun)
	return m.err
}

func (m *fakeMaster) Fields(bank, id string, _ ...any) (*payload.Map, error) { return m.Data(bank, id) }

func (m *fakeMaster) Connected() (map[string]string, error) { return m.online, m.err }

func (m *fakeMaster) Fire(_ context.Context, tag string, data *payload.Map) error {
	m.fired = append(m.fired, tag+" "+outputters.JSON(data))
	return m.err
}

func (m *fakeMaster) Watch(context.Context, string, string) (runners.Stream, error) { return m, m.err }

func (m *fakeMaster) Next(context.Context) (string, *payload.Map, error) {
	if len(m.events) == 0 {
		return "", nil, errors.New("the bus went away")
	}
	tag := m.events[0]
	m.events = m.events[1:]
	return tag, payload.M("b", 1, "a", tag), nil
}

func (m *fakeMaster) Close() error { m.closed = true; return nil }

func (m *fakeMaster) MineGet(_ context.Context, tgt, fun any, tgtType string) (any, error) {
	return payload.M("web1", []any{tgt, fun, tgtType}), nil
}

const (
	jidA = "20261121105627000651"
	jidB = "20261121105628000001"
	jidC = "20261121105629000002"
)

func returned(v any) *payload.Map { return payload.M("return", v, "retcode", 0, "success", true) }

func newFake() *fakeMaster {
	load := func(fun, tgt string, arg ...any) *payload.Map {
		return payload.M("fun", fun, "arg", arg, "tgt", tgt, "tgt_type", "glob", "user", "root", "Minions",
			[]any{"web1", "web2"})
	}
	return &fakeMaster{
		answers: map[string]*runners.Collected{},
		loads: payload.M(jidA, load("test.echo", "web*", "hello"),
			jidB, load("state.apply", "web1", payload.M("__kwarg__", true, "metadata", payload.M("team", "x"))).Set(
				"metadata",
				payload.M("team", "y")),
			jidC, load("saltutil.find_job", "*", jidA)),
		returns: map[string]*payload.Map{
			jidA: payload.M("web1", returned("hello")),
			jidB: payload.M("web1", returned(payload.NewMap(0)).Set("out", "highstate"))},
		banks: map[string]*payload.Map{
			"grains": payload.M("web1", payload.M("os", "Debian"), "web2", payload.M("os", "RedHat")),
			"pillar": payload.M("web1", payload.M("role", "web")),
			"mine":   payload.M("web1", payload.M("test.ping", true, "x", 1))},
		online: map[string]string{"web2": "10.0.0.2", "web1": "10.0.0.1"},
	}
}

// rig runs runner functions on a fake master.
type rig struct {
	*fakeMaster
	env     *loader.Env
	printed []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{fakeMaster: newFake()}
	dir := t.TempDir()
	for _, id := range []string{"db1", "web1", "web2"} {
		path := filepath.Join(dir, "minions", id)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exec := loader.NewRegistry()
	exec.Offer(modtest.Source(loader.Fn("test.ping", func(*loader.Call, struct{}) (any, error) { return true, nil },
		"")))
	reg := loader.NewRegistry()
	reg.Offer(all.Runners(runners.Options{Publisher: r, Jobs: r, Minions: r, Banks: r, Presence: r, Bus: r, Mine: r,
		Runners: reg, Wheel: exec,
		Keys:      keys.NewManager(keys.NewStore(keys.Options{Dir: dir}), keys.ManagerOptions{}),
		Targets:   &matchers.Expander{Source: r, DataCache: true},
		Running:   func() []*payload.Map { return []*payload.Map{payload.M("fun", "runner.test.sleep")} },
		Execution: &loader.Env{Registry: exec}, Version: "3008.3",
		Print: func(line string) { r.printed = append(r.printed, line) }}))
	opts := payload.M("nodegroups", payload.M("dbs", "E@db.*"), "job_cache_store_endtime", false)
	r.env = &loader.Env{Registry: reg, ID: "m_master", Opts: func() *payload.Map { return opts }}
	return r
}

func (r *rig) run(fun string, args []any, kw *payload.Map) *runners.Result {
	return runners.Run(context.Background(), r.env,
		runners.Request{Kind: runners.KindRunner, Fun: fun, Args: args, KW: kw, JID: jidC, User: "root"}, nil)
}

// kwargs reads "k", v pairs; none is nil.
func kwargs(kv ...any) *payload.Map {
	if len(kv) == 0 {
		return nil
	}
	return payload.M(kv...)
}

const (
	recordA = `"Function": "test.echo", "Arguments": ["hello"], "Target": "web*", "Target-type": "glob", "User": "root"`
	recordB = `"Function": "state.apply", "Arguments": [{"__kwarg__": true, "metadata": {"team": "x"}}], "Target": "web1", ` +
		`"Target-type": "glob", "User": "root", "Metadata": {"team": "y"}`
	minions = `, "Minions": ["web1", "web2"]`
	startA  = `, "StartTime": "2026, Nov 21 10:56:27.000651"`
	startB  = `, "StartTime": "2026, Nov 21 10:56:28.000001"`
	startC  = `, "StartTime": "2026, Nov 21 10:56:29.000002"`
	recordC = `"Function": "saltutil.find_job", "Arguments": ["` + jidA +
		`"], "Target": "*", "Target-type": "glob", "User": "root"`
	resultA = `, "Result": {"web1": {"return": "hello", "retcode": 0, "success": true}}`
)

// prepare gives a rig the answers of a small fleet.
func prepare(r *rig) {
	versions := &runners.Collected{Minions: []string{"a", "b", "c", "d", "e"},
		Returns: payload.M("a", returned("3008.3"), "b", returned("3006.28"), "c", returned("3009.0rc1"), "d",
			payload.M("retcode", 1, "return", "boom"))}
	running := &runners.Collected{Returns: payload.M("web1",
		returned([]any{payload.M("jid", jidA, "fun", "test.sleep", "arg", []any{int64(4)},
			"tgt", "web1", "tgt_type", "glob", "user", "root", "pid", 77)}), "web2", returned("no list"))}
	pings := &runners.Collected{Minions: []string{"web2", "web1", "db1", "db1"},
		Returns: payload.M("web2", returned(true), "web1", returned(true))}
	r.answers["test.version"], r.answers["saltutil.running"], r.answers["test.ping"] = versions, running, pings
	r.answers["sys.doc"] = &runners.Collected{Returns: payload.M("web1", returned(payload.M("test.ping", "doc")))}
}

// answered is a call of a runner function, and what it returns.
type answered struct {
	fun  string
	args []any
	kw   []any
	want string // as JSON on one line
}

func answers() []answered {
	return []answered{
		{"manage.status", nil, nil, `{"up": ["web1", "web2"], "down": ["db1"]}`},
		{"manage.up", []any{"*", "glob"}, nil, `["web1", "web2"]`},
		{"manage.down", nil, nil, `["db1"]`},
		{"manage.alived", nil, nil, `["web1", "web2"]`},
		{"manage.present", nil, []any{"subset", "web2,db1"}, `["web2"]`},
		{"manage.list_state", nil, []any{"show_ip", true}, `{"web1": "10.0.0.1", "web2": "10.0.0.2"}`},
		{"manage.not_alived", nil, nil, `["db1"]`},
		{"manage.list_not_state", nil, []any{"subset", []any{"web1"}}, `[]`},
		{"manage.versions", nil, nil,
			`{"Minion offline": {"d": false, "e": false}, "Minion requires update": {"b": "3006.28"}, ` +
				`"Up to date": {"a": "3008.3"}, "Minion newer than master": {"c": "3009.0rc1"}, "Master": "3008.3"}`},
		{"jobs.active", nil, nil, `{"` + jidA + `": {"Function": "test.sleep", "Arguments": [4], "Target": "web1", ` +
			`"Target-type": "glob", "User": "root"` + startA + `, "Running": [{"web1": 77}], "Returned": ["web1"]}}`},
		{"jobs.list_job", []any{jidA}, nil, `{"jid": "` + jidA + `", ` + recordA + minions + startA + resultA + `}`},
		{"jobs.print_job", []any{jidA}, nil, `{"` + jidA + `": {` + recordA + minions + startA + resultA + `}}`},
		{"jobs.print_job", []any{"20200101000000000000"}, nil,
			`{"20200101000000000000": {"Error": "Cannot contact returner ` +
				`or no job with this jid", "StartTime": "2020, Jan 01 00:00:00.000000", "Result": {}}}`},
		{"jobs.lookup_jid", []any{jidA}, nil, `{"web1": "hello"}`},
		{"jobs.lookup_jid", []any{jidA}, []any{"missing", true}, `{"web1": "hello", "web2": "Minion did not return"}`},
		{"jobs.lookup_jid", []any{jidA}, []any{"returned", false}, `{}`},
		{"jobs.lookup_jid", []any{jidB}, nil, `{"outputter": "highstate", "data": {"web1": {}}}`},
		{"jobs.lookup_jid", []any{"20200101000000000000"}, nil, `{}`},
	}
}

func moreAnswers() []answered {
	return []answered{
		{"jobs.exit_success", []any{jidA}, nil, `{"web1": true, "web2": false}`},
		{"jobs.exit_success", []any{jidB}, nil, `{"web1": false, "web2": false}`},
		{"jobs.list_jobs", nil, []any{"search_function", "test.*,pkg.*"}, `{"` + jidA + `": {` + recordA + startA +
			`}}`},
		{"jobs.list_jobs", nil, []any{"search_target", []any{"web1"}}, `{"` + jidB + `": {` + recordB + startB + `}}`},
		{"jobs.list_jobs", nil, []any{"search_metadata", payload.M("team", "y")},
			`{"` + jidB + `": {` + recordB + startB + `}}`},
		{"jobs.list_jobs", nil, []any{"search_metadata", payload.M("team", "z")}, `{}`},
		{"jobs.list_jobs", nil, []any{"start_time", "2026, Nov 21 10:56:27", "end_time", "2026-11-21 10:56:28"},
			`{"` + jidA + `": {` + recordA + startA + `}}`},
		{"jobs.list_jobs", nil, []any{"outputter", "raw", "search_function", "none"},
			`{"outputter": "raw", "data": {}}`},
		{"jobs.list_jobs_filter", []any{int64(1)}, nil, `[{` + recordB + minions + `, "JID": "` + jidB + `"` + startB +
			`}]`},
		{"jobs.list_jobs_filter", []any{int64(1), false}, nil, `[{` + recordC + minions + `, "JID": "` + jidC + `"` +
			startC + `}]`},
		{"jobs.last_run", nil, []any{"function", "test.*"}, `{"` + jidA + `": {` + recordA + minions + startA +
			resultA + `}}`},
		{"jobs.last_run", nil, []any{"target", "nobody"}, `false`},
		{"jobs.last_run", nil, []any{"metadata", "text"}, `false`},
		{"jobs.master", nil, nil, `[{"fun": "runner.test.sleep"}]`},
		{"cache.grains", []any{"web1"}, nil, `{"web1": {"os": "Debian"}}`},
		{"cache.grains", []any{"*"}, nil, `{"db1": {}, "web1": {"os": "Debian"}, "web2": {"os": "RedHat"}}`},
		{"cache.grains", []any{""}, nil, `{}`},
		{"cache.grains", []any{"os:Red*", "grain"}, nil, `{"web2": {"os": "RedHat"}}`},
		{"cache.pillar", nil, nil, `{"web1": {"role": "web"}, "web2": {}}`},
		{"cache.mine", []any{"web1"}, nil, `{"web1": {"test.ping": true, "x": 1}}`},
		{"cache.clear_mine", []any{"nosuch"}, nil, `true`},
		{"cache.clear_all", nil, nil, `false`},
		{"cache.clear_mine_func", []any{"web1"}, []any{"clear_mine_func_flag", "x"}, `true`},
		{"cache.clear_mine_func", []any{"web1"}, nil, `false`},
		{"cache.list", []any{"grains"}, nil, `["web1", "web2"]`},
		{"cache.fetch", []any{"grains", "web1"}, nil, `{"os": "Debian"}`},
		{"cache.fetch", []any{"grains", "nobody"}, nil, `{}`},
		{"cache.store", []any{"mybank", "k", "v"}, nil, `null`},
		{"cache.flush", []any{"grains", "web1"}, nil, `true`},
		{"cache.flush", []any{"grains", "nobody"}, nil, `false`},
		{"config.get", []any{"nodegroups:dbs"}, nil, `"E@db.*"`},
		{"config.get", []any{"nodegroups|dbs"}, []any{"delimiter", "|"}, `"E@db.*"`},
		{"config.get", []any{"zzz"}, nil, `""`},
		{"config.get", []any{"zzz", "d"}, nil, `"d"`},
		{"mine.get", []any{"web*", "test.ping"}, nil, `{"web1": ["web*", "test.ping", "glob"]}`},
		{"mine.update", []any{"web*"}, nil, `{}`},
		{"match.compound_matches", []any{"G@os:Debian", "web1"}, nil, `{"res": "web1"}`},
		{"match.compound_matches", []any{"G@os:Debian", "web2"}, nil, `{"res": false}`},
		{"match.compound_matches", []any{"and", "web1"}, nil, `{"res": false}`},
		{"match.compound_matches", []any{"*", "../x"}, nil, `{"res": false}`},
		{"doc.wheel", nil, nil, `{"test.ping": ""}`},
		{"doc.execution", nil, nil, `{"test.ping": "doc"}`},
		{"salt.cmd", []any{"test.ping"}, nil, `true`},
		{"salt.execute", []any{"*", "test.ping"}, []any{"timeout", int64(3)},
			`{"web2": true, "web1": true, "db1": false}`},
		{"survey.hash", []any{"web*", "test.ping"}, nil,
			`[{"pool": ["web1", "web2"], "result": "True"}, {"pool": ["db1"], "result": "False"}]`},
		{"survey.hash", []any{"web*", "test.ping"}, []any{"survey_sort", "up"},
			`[{"pool": ["db1"], "result": "False"}, {"pool": ["web1", "web2"], "result": "True"}]`},
		{"error.error", nil, nil, `{}`},
		{"event.send", []any{"my/tag", payload.M("a", 1)}, nil, `true`},
		{"test.arg", []any{"a"}, []any{"k", "v", "__x", 1}, `{"args": ["a"], "kwargs": {"k": "v"}}`},
		{"test.raw_arg", []any{"a"}, []any{"__x", 1}, `{"args": ["a"], "kwargs": {"__x": 1}}`},
		{"test.metasyntactic", []any{"uk"}, nil, `["wibble", "wobble", "wubble", "flob"]`},
		{"test.metasyntactic", []any{"fr"}, nil, `null`},
		{"test.stdout_print", nil, nil, `"bar"`},
		{"test.sleep", []any{int64(0)}, nil, `true`},
	}
}

func TestFunctions(t *testing.T) {
	for _, tt := range append(answers(), moreAnswers()...) {
		t.Run(tt.fun, func(t *testing.T) {
			r := newRig(t)
			prepare(r)
			res := r.run(tt.fun, tt.args, kwargs(tt.kw...))
			if got := outputters.JSON(res.Return); got != tt.want {
				t.Errorf("%v %v:\ngot  %s\nwant %s", tt.args, tt.kw, got, tt.want)
			}
		})
	}
}

// TestSleepOfNoNumber: time.sleep reads no number out of a text and does not wait backwards.
func TestSleepOfNoNumber(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{"3", "TypeError: 'str' object cannot be interpreted as an integer"},
		{nil, "TypeError: 'NoneType' object cannot be interpreted as an integer"},
		{[]any{int64(1)}, "TypeError: 'list' object cannot be interpreted as an integer"},
		{payload.NewMap(0), "TypeError: 'dict' object cannot be interpreted as an integer"},
		{int64(-1), "ValueError: sleep length must be non-negative"},
	} {
		if res := newRig(t).run("test.sleep", []any{tt.v}, nil); res.Success ||
			!strings.Contains(fmt.Sprint(res.Return), tt.want) {
			t.Errorf("%v: got %v, %v, want %s", tt.v, res.Success, res.Return, tt.want)
		}
	}
}

// TestGuardedBanks: no function reaches what the master knows of who may speak as what, however its name is written.
func TestGuardedBanks(t *testing.T) {
	for _, bank := range []string{"speakers", "resources", "./speakers", "grains/../resources", "resources/x",
		"speakers/"} {
		for fun, args := range map[string][]any{"cache.store": {bank, "m1", []any{"r1"}}, "cache.fetch": {bank, "m1"},
			"cache.list": {bank}, "cache.flush": {bank, "m1"}} {
			r := newRig(t)
			if res := r.run(fun, args, nil); res.Success ||
				!strings.Contains(fmt.Sprint(res.Return), "is not open to functions") {
				t.Errorf("%s %q: %v", fun, bank, res.Return)
			}
		}
	}
	r := newRig(t)
	if res := r.run("cache.store", []any{"grains", "../speakers/m1", "x"}, nil); res.Success {
		t.Errorf("by its key: %v", res.Return)
	}
}

func TestWhatFunctionsAsk(t *testing.T) {
	r := newRig(t)
	r.run("manage.up", []any{"os:x", "grain"}, payload.M("timeout", 2, "gather_job_timeout", 1.5))
	want := runners.Job{Tgt: "os:x", TgtType: "grain", Fun: "test.ping", Timeout: 2 * time.Second,
		Gather: 1500 * time.Millisecond}
	if diff := cmp.Diff([]runners.Job{want}, r.asked); diff != "" {
		t.Errorf("manage.up asks (-want +got):\n%s", diff)
	}
	r.run("cache.clear_all", []any{"web1"}, nil)
	for bank := range r.banks {
		if r.banks[bank].Has("web1") {
			t.Errorf("clear_all left %s", bank)
		}
	}
	r.run("event.send", []any{"my/tag", payload.M("a", 1)}, nil)
	if want := []string{`my/tag {"a": 1}`}; !slices.Equal(r.fired, want) {
		t.Errorf("fired %q", r.fired)
	}
	r.fired = nil
	r.run("jobs.lookup_jid", []any{jidA}, payload.M("display_progress", true))
	if want := []string{"salt/run/" + jidC + `/progress {"message": "web1"}`}; !slices.Equal(r.fired, want) {
		t.Errorf("progress %q", r.fired)
	}
}

func TestRemoveKeysOfDownMinions(t *testing.T) {
	r := newRig(t)
	r.answers["test.ping"] = &runners.Collected{Minions: []string{"db1", "web1"},
		Returns: payload.M("web1", returned(true))}
	if res := r.run("manage.down", nil, payload.M("removekeys", true)); outputters.JSON(res.Return) != `["db1"]` {
		t.Errorf("down: %v", res.Return)
	}
	if want := []string{`salt/key {"result": true, "act": "delete", "id": "db1"}`}; !slices.Equal(r.fired, want) {
		t.Errorf("fired %q", r.fired)
	}
	if res := r.run("manage.not_present", nil, nil); outputters.JSON(res.Return) != `[]` {
		t.Errorf("accepted and not connected: %v", res.Return)
	}
}

func TestStateEvent(t *testing.T) {
	r := newRig(t)
	r.events = []string{"salt/auth", "salt/job/1/new", "salt/job/1/ret/web1", "salt/job/2/new", "salt/job/3/new"}
	res := r.run("state.event", []any{"salt/job/*/new"}, payload.M("count", 2))
	want := []string{"salt/job/1/new\t{\"b\": 1, \"a\": \"salt/job/1/new\"}",
		"salt/job/2/new\t{\"b\": 1, \"a\": \"salt/job/2/new\"}"}
	if res.Return != nil || !slices.Equal(r.printed, want) || !r.closed {
		t.Errorf("got %v, printed %q, closed %v", res.Return, r.printed, r.closed)
	}
	r.printed, r.events = nil, []string{"t"}
	r.run("state.event", []any{"t"}, payload.M("count", 1, "pretty", true))
	if want := []string{"t\t{\n    \"a\": \"t\",\n    \"b\": 1\n}"}; !slices.Equal(r.printed, want) {
		t.Errorf("pretty: %q", r.printed)
	}
	r.printed, r.events = nil, []string{"t"}
	if res = r.run("state.event", nil, payload.M("quiet", true)); len(r.printed) > 0 || res.Success {
		t.Errorf("quiet until the bus goes away: %q %v", r.printed, res.Return)
	}
}

func TestRunEvents(t *testing.T) {
	r := newRig(t)
	var seen []string
	fire := func(tag string, data *payload.Map) { seen = append(seen, tag+" "+outputters.JSON(data)) }
	res := runners.Run(context.Background(), r.env,
		runners.Request{Kind: runners.KindRunner, Fun: "test.metasyntactic", Args: []any{"fr"},
			KW: payload.NewMap(0), JID: jidA}, fire)
	base := `{"fun": "runner.test.metasyntactic", "jid": "` + jidA + `", "user": "UNKNOWN", "fun_args": ["fr"]`
	want := []string{"salt/run/" + jidA + "/new " + base + "}",
		"salt/run/" + jidA + "/ret " + base + `, "return": null, "success": true}`}
	if diff := cmp.Diff(want, seen); diff != "" || !res.Success || res.Retcode != 0 {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	seen = nil
	runners.Run(context.Background(), r.env,
		runners.Request{Kind: runners.KindWheel, Fun: "nope.nope", JID: jidA, User: "me"}, fire)
	if len(seen) != 1 || !strings.HasPrefix(seen[0], "salt/wheel/"+jidA+`/ret {"fun": "wheel.nope.nope"`) ||
		!strings.Contains(seen[0], "'nope.nope' is not available.") || !strings.HasSuffix(seen[0],
		`"success": false, "retcode": 1}`) {
		t.Errorf("an unknown function: %q", seen)
	}
}

func TestRunFailures(t *testing.T) {
	r := newRig(t)
	type given struct {
		Result any `arg:"result"`
	}
	r.env.Registry.Offer(modtest.Source(
		loader.Fn("x.panics", func(*loader.Call, struct{}) (any, error) { panic("boom") }, ""),
		loader.Fn("x.code", func(c *loader.Call, _ struct{}) (any, error) {
			c.SetRetcode(3)
			return "v", nil
		}, ""),
		loader.Fn("x.orch", func(_ *loader.Call, a given) (any, error) {
			states := payload.M("m_master", payload.M("test_|-a_|-a_|-nop", payload.M("result", a.Result)))
			return payload.M("data", states, "outputter", "highstate", "retcode", 1), nil
		}, "")))
	r.err = &loader.ClientError{Message: "The salt master could not be contacted. Is master running?"}
	for _, tt := range []struct {
		fun      string
		args     []any
		contains string
		success  bool
		retcode  int
	}{
		{"manage.up", []any{"a", "b", "c", "d", "e", "f"},
			"\nPassed invalid arguments: up() takes from 0 to 4 positional arguments but 6 were given\n\nUsage:\n" +
				"List the minions", true, 0},
		{"manage.up", nil, "Exception occurred in runner manage.up: Traceback (most recent call last):\n", false, 1},
		{"manage.up", nil, "\nsalt.exceptions.SaltClientError: The salt master could not be contacted. Is master " +
			"running?\n", false, 1},
		{"x.panics", nil, "RuntimeError: boom", false, 1},
		{"x.code", nil, "v", false, 3},
		{"jobs.list_jobs", nil, "SaltClientError", false, 1},
		{"jobs.list_jobs_filter", []any{"many"}, "invalid literal for int()", false, 1},
		{"cache.list", []any{"grains", "/elsewhere"}, "is not the cachedir of this master", false, 1},
		{"event.send", []any{"t", "text"}, "Dictionary object expected", false, 1},
		{"salt.cmd", []any{"nope.nope"}, "'nope.nope' is not available.", true, 0},
	} {
		res := r.run(tt.fun, tt.args, nil)
		text, _ := res.Return.(string)
		if !strings.Contains(text, tt.contains) || res.Success != tt.success || res.Retcode != tt.retcode {
			t.Errorf("%s: %q, success %v, retcode %d", tt.fun, text, res.Success, res.Retcode)
		}
	}
	if res := r.run("jobs.list_jobs", nil, payload.M("start_time", "soon")); !strings.Contains(res.Return.(string),
		"Unknown string format: soon") {
		t.Errorf("a time that is none: %v", res.Return)
	}
	for result, want := range map[bool]bool{true: true, false: false} {
		res := r.run("x.orch", []any{result}, nil)
		data, outputter, code := res.Outputter()
		if res.Success != want || outputter != "highstate" || code != 1 || data.(*payload.Map).Len() != 1 {
			t.Errorf("orchestration %v: success %v, %s, %d, %v", result, res.Success, outputter, code, data)
		}
	}
	res := r.run("test.stdout_print", nil, nil)
	if data, outputter, code := res.Outputter(); data != "bar" || outputter != "" || code != 0 {
		t.Errorf("a plain return: %v %q %d", data, outputter, code)
	}
}

// A process that lacks parts of a master says so instead of crashing, whatever is called.
func TestNothingBehind(t *testing.T) {
	reg := loader.NewRegistry()
	reg.Offer(all.Runners(runners.Options{}))
	env := &loader.Env{Registry: reg}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("stopped"))
	for _, name := range reg.Names() {
		f, _ := reg.Lookup(name)
		var args []any
		for _, p := range f.Params {
			if p.Required {
				args = append(args, "x")
			}
		}
		res := runners.Run(ctx, env, runners.Request{Kind: runners.KindRunner, Fun: name, Args: args, JID: jidA}, nil)
		if text, ok := res.Return.(string); ok && strings.Contains(text, "RuntimeError") {
			t.Errorf("%s: %s", name, text)
		}
		if f.Doc == "" || f.Source == "" {
			t.Errorf("%s has no help or no source", name)
		}
	}
}

// TestExecuteArguments: one argument needs no list around it.
func TestExecuteArguments(t *testing.T) {
	for _, tt := range []struct{ given, want any }{
		{"two words", []any{"two words"}},
		{int64(3), []any{int64(3)}},
		{[]any{"a", "b"}, []any{"a", "b"}},
	} {
		r := newRig(t)
		r.run("salt.execute", []any{"*", "test.echo", tt.given}, nil)
		if len(r.asked) != 1 || !cmp.Equal(any(r.asked[0].Args), tt.want) {
			t.Errorf("%v: asked %+v", tt.given, r.asked)
		}
	}
}
