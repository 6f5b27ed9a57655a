package loader_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

func sample() []loader.Func {
	ret := func(name string, v any, err error) loader.Func {
		return loader.Fn("test."+name, func(*loader.Call, struct{}) (any, error) { return v, err }, "")
	}
	type text struct {
		Text any `arg:"text"`
	}
	type keywords struct {
		KW *payload.Map `arg:"**kwargs"`
	}
	type code struct {
		Code int64 `arg:"code=42"`
	}
	return []loader.Func{
		loader.Fn("test.ping", func(*loader.Call, struct{}) (any, error) { return true, nil }, "DOC"),
		loader.Fn("test.echo", func(_ *loader.Call, a text) (any, error) { return a.Text, nil }, "DOC"),
		loader.Fn("test.kwarg", func(_ *loader.Call, a keywords) (any, error) { return a.KW, nil }, ""),
		loader.Fn("test.retcode", func(c *loader.Call, a code) (any, error) {
			c.SetRetcode(int(a.Code))
			return true, nil
		}, ""),
		ret("result", payload.M("result", false), nil),
		ret("success", payload.M("success", int64(0), "result", true), nil),
		ret("false", false, nil),
		ret("exec", nil, loader.ExecErr("abc")),
		ret("notfound", nil, &loader.CommandNotFoundError{Message: "no git"}),
		ret("invoc", nil, loader.InvocErr("wrong")),
		ret("client", nil, &loader.ClientError{Message: "no master"}),
		ret("value", nil, loader.Raise("ValueError", "bad")),
		ret("plain", nil, errors.New("plain")),
		ret("late", nil, fmt.Errorf("ask: %w", loader.ErrRequestTimeout)),
		loader.Fn("test.panic", func(*loader.Call, struct{}) (any, error) { panic("boom") }, ""),
		ret("high", payload.M("a", 1), nil).Shows("highstate"),
		ret("queued", payload.M("__no_return__", true), nil),
		loader.Fn("test.nested", func(c *loader.Call, _ struct{}) (any, error) {
			return c.Call("no.such", nil, nil)
		}, ""),
	}
}

func job(fun any, arg ...any) loader.Job {
	return loader.Job{Load: payload.M("fun", fun, "arg", arg, "tgt", "*", "jid", "1", "ret", "", "user", "root"),
		Connected: true}
}

func TestExecuteOne(t *testing.T) {
	env := modtest.Env(t, nil, sample())
	no := func(why string) func(loader.Place) (bool, string) {
		return func(loader.Place) (bool, string) { return false, why }
	}
	env.Registry.Offer(loader.Listed{{File: "xyz", Virtual: no("xyz is not installed")},
		{File: "abc", Virtual: no("")}})
	env.Registry.On(env)
	for _, tt := range []struct {
		name    string
		job     loader.Job
		want    any
		retcode int64
		out     string
	}{
		{"fine", job("test.ping"), true, 0, ""},
		{"false is no failure", job("test.false"), false, 0, ""},
		{"own retcode", job("test.retcode", int64(7)), true, 7, ""},
		{"result false", job("test.result"), payload.M("result", false), 1, ""},
		{"success 0", job("test.success"), payload.M("success", int64(0), "result", true), 1, ""},
		{"outputter", job("test.high"), payload.M("a", 1), 0, "highstate"},
		{"unknown", job("no.such"), "'no.such' is not available.", 1, "nested"},
		{"unknown with docs", job("test.pin"), payload.M("test.ping", "DOC", "test.pin",
			"'test.pin' is not available."), 1, "nested"},
		{"refused module", job("xyz.f"), "'xyz' __virtual__ returned False: xyz is not installed", 1, "nested"},
		{"refused silently", job("abc.f"), "'abc' __virtual__ returned False", 1, "nested"},
		{"too many", job("test.ping", "foo"), "Passed invalid arguments to test.ping: ping() takes 0 positional " +
			"arguments but 1 was given\nDOC", 1, "nested"},
		{"bad keyword", job("test.ping", payload.M("foo", "bar", "__kwarg__", true)),
			"ERROR executing 'test.ping': The following keyword arguments are not valid: foo=bar", 1, "nested"},
		{"execution error", job("test.exec"), "ERROR: abc", 1, "nested"},
		{"command not found", job("test.notfound"), "Command required for 'test.notfound' not found: no git", 1,
			"nested"},
		{"invocation error", job("test.invoc"), "ERROR executing 'test.invoc': wrong", 1, "nested"},
		{"client error", job("test.client"), "ERROR executing 'test.client': no master", 1, "nested"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := loader.Execute(t.Context(), env, tt.job)
			if !payload.Equal(got.Return, tt.want) || got.Retcode != tt.retcode || got.Success != (tt.retcode == 0) ||
				got.Out != tt.out {
				t.Errorf("got %v retcode %v success %v out %q, want %v %d out %q",
					got.Return, got.Retcode, got.Success, got.Out, tt.want, tt.retcode, tt.out)
			}
			if got.Crashed {
				t.Error("counted as a crash")
			}
		})
	}
}

func TestExecuteCrash(t *testing.T) {
	env := modtest.Env(t, nil, sample())
	for fun, last := range map[string]string{
		"test.value": "ValueError: bad", "test.plain": "Exception: plain",
		"test.late": "salt.exceptions.SaltReqTimeoutError: Message timed out", "test.panic": "RuntimeError: boom",
		"test.nested": "KeyError: 'no.such'",
	} {
		got := loader.Execute(t.Context(), env, job(fun))
		text, _ := got.Return.(string)
		if !strings.HasPrefix(text,
			"The minion function caused an exception: Traceback (most recent call last):\n  ") ||
			!strings.HasSuffix(text, "\n"+last+"\n") || got.Retcode != int64(1) || got.Out != "nested" || !got.Crashed {
			t.Errorf("%s: %q %v %q crashed %v", fun, text, got.Retcode, got.Out, got.Crashed)
		}
		if fun == "test.panic" && !strings.Contains(text, "execute_test.go") {
			t.Errorf("the traceback of a panic does not say where: %q", text)
		}
	}
}

func TestExecuteBlackout(t *testing.T) {
	black := payload.M("minion_blackout", true, "minion_blackout_whitelist", []any{"test.echo"})
	const refusal = "ERROR executing 'test.ping': Minion in blackout mode. Set 'minion_blackout' to False in pillar " +
		"or grains " +
		"to resume operations. Only saltutil.refresh_pillar allowed in blackout mode."
	for _, tt := range []struct {
		name           string
		grains, pillar *payload.Map
		connected      bool
		fun            string
		arg            []any
		want           any
	}{
		{"grain", black, nil, false, "test.ping", nil, refusal},
		{"pillar", nil, black, true, "test.ping", nil, refusal},
		{"pillar without master", nil, black, false, "test.ping", nil, true},
		{"whitelist", black, nil, true, "test.echo", []any{"x"}, "x"},
		{"unknown first", black, nil, true, "no.such", nil, "'no.such' is not available."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := modtest.Env(t, nil, sample())
			env.Grains = func() *payload.Map { return tt.grains }
			env.Pillar = func() *payload.Map { return tt.pillar }
			j := job(tt.fun, tt.arg...)
			j.Connected = tt.connected
			if got := loader.Execute(t.Context(), env, j); got.Return != tt.want {
				t.Errorf("got %v, want %v", got.Return, tt.want)
			}
		})
	}
}

func TestExecutors(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec any
		opts *payload.Map
		want any
	}{
		{"default", nil, nil, true},
		{"text", "direct_call", nil, true},
		{"of the minion", nil, payload.M("module_executors", []any{"nosuch"}),
			"ERROR executing 'test.ping': Executor 'nosuch' is not available"},
		{"unknown", []any{"nosuch"}, nil, "ERROR executing 'test.ping': Executor 'nosuch' is not available"},
		{"no list", int64(3), nil, "ERROR executing 'test.ping': Wrong executors specification: 3. String or " +
			"non-empty list expected"},
		{"sudo without user", []any{"sudo"}, nil, "ERROR executing 'test.ping': Executor 'sudo' is not available"},
		{"splay then call", []any{"splay", "direct_call"}, payload.M("splaytime", 0.001), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := job("test.ping")
			if tt.spec != nil {
				j.Load.Set("module_executors", tt.spec)
			}
			if got := loader.Execute(t.Context(), modtest.Env(t, tt.opts, sample()), j); got.Return != tt.want {
				t.Errorf("got %v, want %v", got.Return, tt.want)
			}
		})
	}
}

func TestSudoExecutor(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(bin+"/sudo", []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	var argv []any
	answer := payload.M("retcode", int64(0), "stdout",
		`{"local": {"return": {"b": 1, "a": [true, null]}, "retcode": 3}}`, "stderr", "no")
	type command struct {
		Cmd []any        `arg:"cmd"`
		KW  *payload.Map `arg:"**kwargs"`
	}
	runAll := loader.Fn("cmd.run_all", func(_ *loader.Call, a command) (any, error) {
		argv = a.Cmd
		return answer, nil
	}, "")
	env := modtest.Env(t, payload.M("sudo_user", "deploy", "config_dir", "/etc/salt"), sample(), []loader.Func{runAll})
	got := loader.Execute(t.Context(), env, job("test.echo", "a b", payload.M("__kwarg__", true)))
	want := []any{"sudo", "-u", "deploy", "salt-call", "--priv", "deploy", "--out", "json", "--metadata", "-c",
		"/etc/salt", "--", "test.echo", "'a b'"}
	if !payload.Equal(argv, want) {
		t.Errorf("argv %v", argv)
	}
	if !payload.Equal(got.Return, payload.M("b", int64(1), "a", []any{true, nil})) || got.Retcode != int64(3) {
		t.Errorf("got %v %v", got.Return, got.Retcode)
	}
	answer = payload.M("retcode", int64(9), "stdout", "", "stderr", "sorry")
	if got := loader.Execute(t.Context(), env, job("test.echo", "x")); got.Return != "sorry" ||
		got.Retcode != int64(9) {
		t.Errorf("failed sudo: %v %v", got.Return, got.Retcode)
	}
}

func TestSplayEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j := job("test.ping")
	j.Load.Set("module_executors", []any{"splay", "direct_call"})
	if got := loader.Execute(ctx, modtest.Env(t, nil, sample()), j); got.Success != false {
		t.Errorf("ran after its context ended: %v", got.Return)
	}
}

func TestExecuteSeveral(t *testing.T) {
	load := payload.M("fun", []any{"test.ping", "test.retcode", "no.such", "test.false"},
		"arg", []any{[]any{}, []any{int64(3)}, []any{}}, "jid", "1", "user", "root", "metadata", "text")
	got := loader.Execute(t.Context(), modtest.Env(t, nil, sample()), loader.Job{Load: load})
	ret := got.Return.(*payload.Map)
	trace := ret.Str("no.such")
	if !strings.HasPrefix(trace, "Traceback (most recent call last):\n  ") || !strings.HasSuffix(trace,
		"\nTypeError: 'str' object is not callable\n") {
		t.Errorf("traceback %q", trace)
	}
	if ret.Value("test.ping") != true || ret.Value("test.false") != false ||
		!payload.Equal(got.Retcode, payload.M("test.ping", int64(0), "test.retcode", int64(3), "test.false",
			int64(0))) ||
		!payload.Equal(got.Success, payload.M("test.ping", true, "test.retcode", false, "no.such", false, "test.false",
			true)) || got.Out != "" {
		t.Errorf("got %v", got)
	}
	if m := got.Map(); m.Str("metadata") != "text" || m.Has("out") || m.Str("user") != "root" {
		t.Errorf("map %v", m)
	}
	ordered := loader.Execute(t.Context(), modtest.Env(t, payload.M("multifunc_ordered", true), sample()),
		loader.Job{Load: load})
	list := ordered.Return.([]any)
	if list[0] != true || list[3] != false || !payload.Equal(ordered.Retcode, []any{int64(0), int64(3), nil,
		int64(0)}) ||
		!payload.Equal(ordered.Success, []any{true, false, false, true}) {
		t.Errorf("ordered %v", ordered)
	}
}

func TestResultMap(t *testing.T) {
	env := modtest.Env(t, nil, sample())
	j := job("test.ping")
	j.Load.Set("master_id", "m1").Set("metadata", "not a map")
	r := loader.Execute(t.Context(), env, j)
	if got := r.Map(); !got.Equal(payload.M("success", true, "return", true, "retcode", int64(0), "jid", "1", "fun",
		"test.ping", "fun_args", []any(nil), "user", "root", "master_id", "m1")) {
		t.Errorf("map %v", got.Keys())
	}
	r = loader.Execute(t.Context(), env, job("test.exec"))
	keys := r.Map().Keys()
	if len(keys) < 4 || keys[2] != "out" || keys[3] != "retcode" {
		t.Errorf("order of a failure: %v", keys)
	}
	if r := loader.Execute(t.Context(), env, job("test.queued")); !r.NoReturn {
		t.Error("a queued job would be answered")
	}
}

func TestPublicationFields(t *testing.T) {
	j := job("test.kwarg", payload.M("a", int64(1), "__kwarg__", true))
	j.Load = loader.WithResourceFields(j.Load)
	got := loader.Execute(t.Context(), modtest.Env(t, nil, sample()), j).Return.(*payload.Map)
	want := []any{"a", "__pub_fun", "__pub_arg", "__pub_tgt", "__pub_jid", "__pub_ret", "__pub_user",
		"__pub_resource_targets", "__pub_pure_resource_target", "__pub_minion_is_target"}
	if !payload.Equal(got.Keys(), want) {
		t.Errorf("keys %v", got.Keys())
	}
}

func BenchmarkExecutePing(b *testing.B) {
	env := modtest.Env(b, nil, sample())
	j := job("test.ping")
	b.ReportAllocs()
	for b.Loop() {
		loader.Execute(b.Context(), env, j)
	}
}
