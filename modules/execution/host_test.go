package execution_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/modules/all"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// remote is a minion with a master whose answers are given.
func remote(t *testing.T, opts *payload.Map, answers ...any) (*loader.Env, *modtest.Host) {
	t.Helper()
	if opts == nil {
		opts = payload.M("file_client", "remote", "saltenv", "dev")
	}
	env := modtest.Env(t, opts)
	env.Registry = registry(t)
	host := &modtest.Host{Answers: answers}
	host.Attach(env)
	return env, host
}

func TestEvents(t *testing.T) {
	local := payload.M("file_client", "local")
	for _, tt := range []struct {
		name string
		opts *payload.Map
		fun  string
		args []any
		kw   *payload.Map
		want any
		ev   *payload.Map // nil: none
	}{
		{"fire", nil, "event.fire", []any{payload.M("a", 1), "tag"}, nil, true, payload.M("bus", "local", "tag", "tag",
			"data", payload.M("a", 1))},
		{"fire text", nil, "event.fire", []any{"x", "tag"}, nil, false, nil},
		{"fire_master", nil, "event.fire_master", []any{payload.M("a", 1), "tag"}, nil, true, payload.M("bus", "master",
			"tag", "tag", "data", payload.M("a", 1))},
		{"preload", nil, "event.fire_master", []any{"x", "tag", payload.M("tok", "y")}, nil, true,
			payload.M("bus", "master", "tag", "tag", "data", "x", "preload", payload.M("tok", "y"))},
		{"masterless", local, "event.fire_master", []any{"x", "tag"}, nil, false, nil},
		{"masterless with master", payload.M("file_client", "local", "use_master_when_local", true),
			"event.fire_master", []any{"x", "tag"}, nil, true,
			payload.M("bus", "master", "tag", "tag", "data", "x")},
		{"send masterless", local, "event.send", []any{"tag", payload.M("a", 1)}, nil, true, payload.M("bus", "local",
			"tag", "tag", "data", nil)},
		{"send disabled master", payload.M("master_type", "disable"), "event.send", []any{"tag"}, nil, true,
			payload.M("bus", "local", "tag", "tag", "data", nil)},
		{"send", nil, "event.send", []any{"tag", payload.M("a", 1)}, payload.M("b", 2, "a", 3), true,
			payload.M("bus", "master", "tag", "tag", "data", nil)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, host := remote(t, tt.opts)
			got, _, err := modtest.Call(t, env, tt.fun, tt.args, tt.kw)
			if err != nil || got != tt.want {
				t.Errorf("got %v %v", got, err)
			}
			events := host.Events()
			if tt.ev == nil {
				if len(events) > 0 {
					t.Errorf("fired %v", events)
				}
				return
			}
			for k, v := range tt.ev.All() {
				if len(events) != 1 || v != nil && !payload.Equal(events[0].Value(k), v) {
					t.Fatalf("fired %v, want %v", events, tt.ev)
				}
			}
		})
	}
}

func TestEventSendData(t *testing.T) {
	t.Setenv("BRINE_TEST", "yes")
	t.Setenv("BRINE_MINION__PROXY_PASSWORD", "topsecret")
	env, host := remote(t, nil)
	env.Pillar = func() *payload.Map { return payload.M("p", 1, "q", 2) }
	_, _, err := modtest.Call(t, env, "event.send", []any{"tag", payload.M("b", "data wins")},
		payload.M("b", 2, "c", 3, "with_env", []any{"BRINE_TEST", "BRINE_MINION__PROXY_PASSWORD"}, "with_grains", true,
			"with_pillar", []any{"q"}, "with_env_opts", true))
	if err != nil {
		t.Fatal(err)
	}
	data := host.Events()[0].Map("data")
	want := payload.M("environ", payload.M("BRINE_TEST", "yes"), "grains", payload.M("id", "web1"), "pillar",
		payload.M("q", 2), "saltenv", "dev", "pillarenv", nil, "b", "data wins", "c", 3)
	for k, v := range want.All() {
		if !payload.Equal(data.Value(k), v) {
			t.Errorf("%v: got %v, want %v", k, data.Value(k), v)
		}
	}
	if !data.Has("__pub_fun") {
		t.Error("the publication's fields are part of the keywords")
	}
}

func TestEventsWithoutBus(t *testing.T) {
	env, _ := remote(t, nil)
	env.Host = loader.Host{}
	for _, fun := range []string{"event.fire", "event.fire_master"} {
		if got, _, err := modtest.Call(t, env, fun, []any{"x", "tag"}, nil); err != nil || got != false {
			t.Errorf("%s: %v %v", fun, got, err)
		}
	}
}

func TestMineWithMaster(t *testing.T) {
	defs := payload.M("test.echo", []any{"hi"}, "alias", payload.M("mine_function", "test.arg", "k", "v", "allow_tgt",
		"web*", "allow_tgt_type", "glob"), "no.such", []any{})
	for _, tt := range []struct {
		name, fun string
		args      []any
		kw        *payload.Map
		answer    any
		want      any
		asked     *payload.Map
	}{
		{"update", "mine.update", nil, nil, true, true, payload.M("cmd", "_mine", "data", payload.M("test.echo", "hi",
			"alias", payload.M("__data__", payload.M("args", []any{}, "kwargs", payload.M("k", "v")),
				"__saltmine_acl__", int64(1), "allow_tgt", "web*", "allow_tgt_type", "glob")),
			"id", "web1", "clear", false)},
		{"update clear", "mine.update", []any{true, []any{"test.ping"}}, nil, true, true,
			payload.M("cmd", "_mine", "data", payload.M("test.ping", true), "id", "web1", "clear", true)},
		{"send", "mine.send", []any{"test.echo", "x"}, nil, true, true, payload.M("cmd", "_mine", "data",
			payload.M("test.echo", "x"), "id", "web1", "clear", false)},
		{"send alias", "mine.send", []any{"a"}, payload.M("mine_function", "test.echo", "text", "y"), true, true,
			payload.M("cmd", "_mine", "data", payload.M("a", "y"), "id", "web1", "clear", false)},
		{"get", "mine.get", []any{"*", "test.ping"}, nil, payload.M("web1", true, "db1", true),
			payload.M("web1", true, "db1", true),
			payload.M("cmd", "_mine_get", "id", "web1", "tgt", "*", "fun", "test.ping", "tgt_type", "glob")},
		{"get without own", "mine.get", []any{"*", "test.ping"}, payload.M("exclude_minion", true),
			payload.M("web1", true, "db1", true), payload.M("db1", true),
			payload.M("cmd", "_mine_get", "id", "web1", "tgt", "*", "fun", "test.ping", "tgt_type", "glob")},
		{"delete", "mine.delete", []any{"test.ping"}, nil, true, true, payload.M("cmd", "_mine_delete", "id", "web1",
			"fun", "test.ping")},
		{"flush", "mine.flush", nil, nil, true, true, payload.M("cmd", "_mine_flush", "id", "web1")},
		{"valid", "mine.valid", nil, nil, nil, payload.M("test.echo", []any{"hi"}, "alias",
			payload.M("test.arg", []any{payload.M("k", "v")})), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, host := remote(t, payload.M("file_client", "remote", "mine_functions", defs), tt.answer)
			got, _, err := modtest.Call(t, env, tt.fun, tt.args, tt.kw)
			if err != nil || !payload.Equal(got, tt.want) {
				t.Errorf("got %v %v, want %v", got, err, tt.want)
			}
			if a := host.Asked(); tt.asked != nil && (len(a) != 1 || !payload.Equal(a[0], tt.asked)) {
				t.Errorf("asked %v, want %v", a, tt.asked)
			}
		})
	}
}

func TestMineDocker(t *testing.T) {
	port := payload.M("IP", "0.0.0.0", "PrivatePort", int64(80), "PublicPort", int64(8080))
	host1 := payload.M("host",
		payload.M("interfaces", payload.M("eth0", payload.M("inet", []any{payload.M("address", "10.0.0.1")}), "eth1",
			payload.M("inet", []any{payload.M("address", "192.168.0.1")}))),
		"c1", payload.M("Image", "nginx", "Info", payload.M("Id", "abc"), "Ports",
			[]any{port, payload.M("PrivatePort", int64(90))}))
	for _, tt := range []struct {
		kw   *payload.Map
		want any
	}{
		{nil, []any{"10.0.0.1:8080", "192.168.0.1:8080"}},
		{payload.M("interfaces", "eth1"), []any{"192.168.0.1:8080"}},
		{payload.M("cidrs", []any{"10.0.0.0/8"}), []any{"10.0.0.1:8080"}},
		{payload.M("interfaces", []any{"eth0"}, "with_container_id", true), []any{[]any{"10.0.0.1:8080", "abc"}}},
	} {
		env, _ := remote(t, nil, payload.M("h1", host1))
		got, _, err := modtest.Call(t, env, "mine.get_docker", nil, tt.kw)
		if want := payload.M("nginx", payload.M("ipv4", payload.M(int64(80), tt.want))); err != nil ||
			!payload.Equal(got, want) {
			t.Errorf("%v: got %v %v", tt.kw, got, err)
		}
	}
}

func TestPublish(t *testing.T) {
	published := payload.M("jid", "77", "minions", []any{"web1", "db1"})
	half := payload.M("web1", payload.M("ret", true))
	full := payload.M("web1", payload.M("ret", true), "db1", payload.M("ret", "x", "retcode", int64(1)))
	pub := payload.M("cmd", "minion_pub", "fun", "test.arg", "arg", []any{"a=b", int64(1)}, "tgt", "*", "tgt_type",
		"glob", "ret", "", "tmo", int64(5), "form", "clean", "id", "web1", "no_parse", []any{})
	args := []any{"*", "test.arg", "[a=b, 1]"}
	env, host := remote(t, nil, published, half, full)
	got, _, err := modtest.Call(t, env, "publish.publish", args, nil)
	if err != nil || !payload.Equal(got, payload.M("web1", true, "db1", "x")) {
		t.Errorf("publish: %v %v", got, err)
	}
	asked := host.Asked()
	if len(asked) != 3 || !payload.Equal(asked[0], pub) || !payload.Equal(asked[1], payload.M("cmd", "pub_ret", "id",
		"web1", "jid", "77")) {
		t.Errorf("asked %v", asked)
	}
	env, _ = remote(t, nil, published, full)
	if got, _, err := modtest.Call(t, env, "publish.full_data", args, nil); err != nil || !payload.Equal(got, full) {
		t.Errorf("full_data: %v %v", got, err)
	}
	env, _ = remote(t, nil, payload.M("jid", "77", "minions", []any{}))
	if got, _, err := modtest.Call(t, env, "publish.publish", args, nil); err != nil || got != nil {
		t.Errorf("nobody: %v %v", got, err)
	}
	env, _ = remote(t, nil, published, half, half)
	if got, _, err := modtest.Call(t, env, "publish.publish", args, payload.M("timeout", int64(0))); err != nil ||
		!payload.Equal(got, payload.M("web1", true)) {
		t.Errorf("out of time: %v %v", got, err)
	}
	env, _ = remote(t, nil, payload.NewMap(0))
	if got, _, err := modtest.Call(t, env, "publish.publish", args, nil); err != nil || got.(*payload.Map).Len() != 0 {
		t.Errorf("refused: %v %v", got, err)
	}
}

func TestPublishFailures(t *testing.T) {
	late := fmt.Errorf("ask: %w", loader.ErrRequestTimeout)
	env, host := remote(t, nil, late, late)
	if got, _, err := modtest.Call(t, env, "publish.publish", []any{"*", "test.ping"}, nil); err != nil ||
		got != "'test.ping' publish timed out" {
		t.Errorf("got %v %v", got, err)
	}
	if got, _, err := modtest.Call(t, env, "publish.runner", []any{"manage.up"}, nil); err != nil ||
		got != "'manage.up' runner publish timed out" {
		t.Errorf("got %v %v", got, err)
	}
	if got, _, err := modtest.Call(t, env, "publish.publish", []any{"*", "publish.publish"}, nil); err != nil ||
		got.(*payload.Map).Len() != 0 || len(host.Asked()) != 2 {
		t.Errorf("publish of publish: %v %v", got, err)
	}
	_, _, err := modtest.Call(t, env, "publish.publish", []any{"*", "test.ping"}, payload.M("via_master", "m2"))
	var invoc *loader.InvocationError
	if !errors.As(err, &invoc) {
		t.Errorf("via_master: %v", err)
	}
}

func TestPublishRunner(t *testing.T) {
	env, host := remote(t, nil, []any{"web1"})
	got, _, err := modtest.Call(t, env, "publish.runner", []any{"manage.up", "x"}, nil)
	if err != nil || !payload.Equal(got, []any{"web1"}) {
		t.Errorf("got %v %v", got, err)
	}
	want := payload.M("cmd", "minion_runner", "fun", "manage.up", "arg", []any{"x"}, "tmo", int64(5), "id", "web1",
		"no_parse", []any{})
	if a := host.Asked(); len(a) != 1 || !payload.Equal(a[0], want) {
		t.Errorf("asked %v", a)
	}
}

func TestSysOfOthers(t *testing.T) {
	nothing := func(*loader.Call, loader.Args) (any, error) { return nil, nil }
	runners, states := loader.NewRegistry(), loader.NewRegistry()
	if err := errors.Join(runners.Register(loader.Func{Name: "jobs.active", Doc: "RUN",
		Params: []loader.Param{loader.Opt("display_progress", false)}, Run: nothing}),
		states.Register(loader.Func{Name: "test.nop", Doc: "NOP", Params: []loader.Param{loader.Req("name")},
			KWArgs: true, Run: nothing})); err != nil {
		t.Fatal(err)
	}
	reg := loader.NewRegistry()
	reg.Offer(all.Execution())
	reg.Of(loader.Program{Version: "3008.3", Runners: runners, States: states})
	env := modtest.Env(t, nil)
	env.Registry = reg
	kinds := []any{}
	for _, k := range []string{"boolean", "integer", "number", "string"} {
		kinds = append(kinds, payload.M("type", k, "title", "name", "description", "name"))
	}
	for _, tt := range []struct {
		fun  string
		args []any
		want any
	}{
		{"sys.runner_doc", nil, payload.M("jobs.active", "RUN")},
		{"sys.runner_argspec", []any{"jobs"}, payload.M("jobs.active", payload.M("args", []any{"display_progress"},
			"defaults", []any{false}, "varargs", nil, "kwargs", nil))},
		{"sys.list_runners", nil, []any{"jobs"}},
		{"sys.list_runner_functions", []any{"jobs.*"}, []any{"jobs.active"}},
		{"sys.state_doc", []any{"test"}, payload.M("test.nop", "NOP")},
		{"sys.list_state_modules", []any{"t*"}, []any{"test"}},
		{"sys.list_state_functions", []any{"nope"}, []any{}},
		{"sys.state_schema", []any{"test.nop"}, []any{payload.M("$schema", "http://json-schema.org/draft-04/schema#",
			"title", "test.nop", "description", "test.nop", "type", "object", "properties",
			payload.M("name", payload.M("oneOf", kinds)), "x-ordering", []any{"name"}, "additionalProperties", false)}},
		{"sys.list_returners", nil, []any{}},
		{"sys.renderer_doc", nil, payload.NewMap(0)},
		{"sys.list_modules", []any{"sys", "ev*"}, []any{"event", "sys"}},
		{"sys.reload_modules", nil, true},
	} {
		got, _, err := modtest.Call(t, env, tt.fun, tt.args, nil)
		if err != nil || !payload.Equal(got, tt.want) {
			t.Errorf("%s %v: got %v %v, want %v", tt.fun, tt.args, got, err, tt.want)
		}
	}
	got, _, err := modtest.Call(t, env, "sys.argspec", []any{"sys"}, nil)
	if m, ok := got.(*payload.Map); err != nil || !ok || m.Keys()[0] != "sys.reload_modules" ||
		m.Keys()[1] != "sys.argspec" {
		t.Errorf("sys.argspec sys begins with %v, %v", got, err)
	}
}

func TestReports(t *testing.T) {
	reg := loader.NewRegistry()
	versions := func() *payload.Map { return payload.M("Dependency Versions", payload.M("Go", "1.26", "libgit2", nil)) }
	reg.Offer(all.Execution())
	reg.Of(loader.Program{Version: "3008.3", Versions: versions})
	env := modtest.Env(t, payload.M("hash_type", "md5", "id", "web1"))
	env.Registry = reg
	text := "Salt Version:\n     Salt: 3008.3\n \nDependency Versions:\n       Go: 1.26\n  libgit2: Not Installed\n "
	for _, tt := range []struct {
		fun  string
		want any
	}{
		{"test.version", "3008.3"},
		{"test.versions_report", text},
		{"test.versions", text},
		{"test.versions_information", payload.M("Salt Version", payload.M("Salt", "3008.3"), "Dependency Versions",
			payload.M("Go", "1.26", "libgit2", nil))},
		{"test.get_opts", payload.M("hash_type", "md5", "id", "web1")},
		{"test.opts_pkg", payload.M("hash_type", "md5", "id", "web1", "grains", payload.M("id", "web1"))},
		{"test.attr_call", payload.M("id", "web1")},
		{"test.not_loaded", []any{}},
	} {
		got, _, err := modtest.Call(t, env, tt.fun, nil, nil)
		if err != nil || !payload.Equal(got, tt.want) {
			t.Errorf("%s: got %q %v, want %q", tt.fun, got, err, tt.want)
		}
	}
	if got, _, _ := modtest.Call(t, env, "test.random_hash", nil, nil); len(got.(string)) != 32 {
		t.Errorf("the hash is not that of hash_type: %v", got)
	}
	if got, _, _ := modtest.Call(t, env, "test.providers", nil, nil); got.(*payload.Map).Str("cmdmod") != "cmd" {
		t.Errorf("providers %v", got)
	}
	report, _, _ := modtest.Call(t, env, "test.module_report", nil, nil)
	if m := report.(*payload.Map); len(m.List("functions")) != len(reg.Names()) || len(m.List("missing_attrs")) != 0 {
		t.Errorf("module_report %v", m)
	}
	if got, _, _ := modtest.Call(t, env, "test.stack", nil, nil); !strings.Contains(got.(string),
		"execution/test.stack") {
		t.Errorf("stack %v", got)
	}
}
