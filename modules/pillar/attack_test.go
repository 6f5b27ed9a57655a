package pillar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/modules/renderers/jinja"
	"brine/wire/payload"
)

// compiler is one over a tree below a directory of its own.
func compiler(t testing.TB, files, more *payload.Map) *Compiler {
	t.Helper()
	root := t.TempDir()
	build(t, root, files)
	opts := defaults(root)
	opts.Update(replaced(more, root).(*payload.Map))
	return New(Options{Opts: opts, Functions: functions(registry(t)), Limits: jinja.Limits{Steps: 2_000_000}})
}

const topOfAll = "base:\n  '*':\n    - a\n"

// TestEnvironmentsStayInside: the name of an environment becomes a part of a path, so it may not be one.
func TestEnvironmentsStayInside(t *testing.T) {
	c := compiler(t, payload.M("secret/top.sls", "'*':\n  '*': [a]\n", "secret/a.sls", "x: secret\n", "envs/qa/top.sls",
		"qa:\n  '*': [a]\n", "envs/qa/a.sls", "x: qa\n"), payload.M("pillar_roots",
		payload.M("__env__", []any{"$R/envs/__env__"})))
	for env, want := range map[string]string{"qa": "{str x=>str qa}", "../secret": "{}", "../../secret": "{}",
		"qa/../../secret": "{}", "/": "{}", ".": "{}", "..": "{}", "__env__": "{}", "q\x00a": "{}"} {
		if got := answer(c.Compile(t.Context(), Question{ID: "m", Pillarenv: env})); got != want {
			t.Errorf("pillarenv %q: got %s, want %s", env, got, want)
		}
	}
}

// TestTreesStayInside: neither an SLS file nor a template reaches what lies beside the roots.
func TestTreesStayInside(t *testing.T) {
	c := compiler(t, payload.M("base/top.sls", "base:\n  '*': [../x, /../x, a, 'b/../../x', '..x', '....x']\n", "x.sls",
		"x: out\n", "x/init.sls", "x: out\n", "base/a.sls", "a: {% include '../x.sls' ignore missing %} {% include "+
			"'b/../../x.sls' ignore missing %} {% include '/../x.sls' ignore missing %}in\n", "base/b/c.sls", ""),
		payload.NewMap(0))
	out, err := c.Compile(t.Context(), Question{ID: "m"})
	if err != nil || out.Has("x") || out.Str("a") != "in" {
		t.Errorf("got %s", answer(out, err))
	}
}

// TestShellSigns: an id that means something to a shell goes into no command.
func TestShellSigns(t *testing.T) {
	c := compiler(t, payload.M("base/top.sls", topOfAll, "base/a.sls", "x: 1\n"),
		payload.M("ext_pillar", []any{payload.M("cmd_yaml", "echo 'id: %s'"),
			payload.M("cmd_json", `echo {\"j\":\"%s\"}`)}))
	for id, want := range map[string]string{
		"web1.example_2-x": "{str x=>int 1|str id=>str web1.example_2-x|str j=>str web1.example_2-x}",
		"a'; echo 'b: 2":   "{str x=>int 1}", "$(id)": "{str x=>int 1}", "a\nb: 1": "{str x=>int 1}",
		"a b": "{str x=>int 1}", "`id`": "{str x=>int 1}",
	} {
		if got := answer(c.Compile(t.Context(), Question{ID: id})); got != want {
			t.Errorf("id %q: got %s, want %s", id, got, want)
		}
	}
}

// TestEndless: a template that never ends is ended by its limits and is told as an error of its file; the others count.
func TestEndless(t *testing.T) {
	c := compiler(t, payload.M("base/top.sls", "base:\n  '*': [a, b]\n", "base/b.sls", "y: 1\n",
		"base/a.sls", "{% for i in range(100000) %}{% for j in range(100000) %}{% set x = i %}{% endfor %}{% endfor "+
			"%}x: 1\n"),
		payload.M("pillar_safe_render_error", false))
	out, err := c.Compile(t.Context(), Question{ID: "m"})
	if err != nil || out.Value("y") != int64(1) || len(out.List("_errors")) != 1 ||
		!strings.Contains(out.List("_errors")[0].(string), "Rendering SLS 'a' failed") {
		t.Errorf("got %s", answer(out, err))
	}
}

// TestHanging: who waits no longer gets an error, and the command of the external pillar is ended.
func TestHanging(t *testing.T) {
	c := compiler(t, payload.M("base/top.sls", topOfAll, "base/a.sls", "x: 1\n"),
		payload.M("ext_pillar", []any{payload.M("cmd_yaml", "sleep 300")}))
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, late)
	defer cancel()
	begin := time.Now()
	if out, err := c.Compile(ctx, Question{ID: "m"}); !errors.Is(err, late) {
		t.Errorf("got %s", answer(out, err))
	}
	if spent := time.Since(begin); spent > 30*time.Second {
		t.Errorf("it took %s", spent)
	}
}

// TestDeepIncludes: a long chain of includes ends, and a circle does too.
func TestDeepIncludes(t *testing.T) {
	c := compiler(t, payload.M("base/top.sls", topOfAll, "base/a.sls", "include:\n  - {{ 'x' ~ 0 }}\n",
		"base/x0.sls", "include: [x1]\n", "base/x1.sls", "include: [x0]\nk: 1\n"), payload.NewMap(0))
	if got := answer(c.Compile(t.Context(), Question{ID: "m"})); got != "{str k=>int 1}" {
		t.Errorf("circle: got %s", got)
	}
	files := payload.M("base/top.sls", topOfAll, "base/a.sls", "include: [c0]\n")
	for i := range maxIncludes + 5 {
		files.Set("base/c"+itoa(i)+".sls", "include: [c"+itoa(i+1)+"]\n")
	}
	if got := answer(compiler(t, files, payload.NewMap(0)).Compile(t.Context(), Question{ID: "m"})); !strings.HasPrefix(
		got, "error RecursionError") {
		t.Errorf("chain: got %.200s", got)
	}
}

func itoa(i int) string { return strings.TrimPrefix(show(i), "int ") }

// TestNobodyGetsAnothers: compilations at the same time share nothing, and change nothing of what is asked.
func TestNobodyGetsAnothers(t *testing.T) {
	c := compiler(t, payload.M("base/top.sls", "base:\n  '*': [a]\n  'm1*': [b]\n", "base/a.sls",
		"id: {{ opts.id }}\nos: {{ grains.os }}\nl: [{{ opts.id }}]\n", "base/b.sls", "secret: {{ opts.id }}\n"),
		payload.M("pillar_merge_lists", true, "pillar_source_merging_strategy", "overwrite"))
	shared := payload.M("l", []any{"mine"}, "m", payload.M("k", 1))
	before := show(shared)
	var done sync.WaitGroup
	for i := range 32 {
		id := "m" + itoa(i)
		done.Go(func() {
			out, err := c.Compile(t.Context(), Question{ID: id, Grains: payload.M("os", id), Override: shared})
			if err != nil || out.Str("id") != id || out.Str("os") != id ||
				(out.Str("secret") == id) != strings.HasPrefix(id, "m1") {
				t.Errorf("%s got %s", id, answer(out, err))
			}
			out.Map("m").Set("k", id) // what it got is its own
		})
	}
	done.Wait()
	if got := show(shared); got != before {
		t.Errorf("the override became %s", got)
	}
}

// TestRefusedByName: an external pillar that Salt has and brine does not is no silent gap.
func TestRefusedByName(t *testing.T) {
	option := []any{payload.M("mongo", []any{"x"}), payload.M("cmd_yaml", "true"), payload.M("nosuch", nil)}
	c := compiler(t, payload.M("base/top.sls", topOfAll, "base/a.sls", "x: 1\n"), payload.M("ext_pillar", option))
	want := "{str x=>int 1|str _errors=>[str Failed to load ext_pillar mongo: brine does not have this external " +
		"pillar yet]}"
	if got := answer(c.Compile(t.Context(), Question{ID: "m"})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	later, unknown := Missing(append(option, payload.M("git", []any{}), payload.M("etcd", "x"),
		payload.M("mongo", "twice")))
	if want := "[mongo etcd] [nosuch]"; fmt.Sprint(later, unknown) != want {
		t.Errorf("got %v %v, want %s", later, unknown, want)
	}
}
