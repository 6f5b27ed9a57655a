package run_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"brine/modules/states/run"
	"brine/modules/states/run/top"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// trees is a Source with SLS in memory, ENV:SLS → what it renders to.
type trees struct {
	sls map[string]any
	top any
	err error
}

func (s trees) Envs(context.Context) ([]string, error) { return []string{"base", "dev"}, s.err }

func (s trees) States(_ context.Context, env string) (out []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.sls)) {
		if sls, ok := strings.CutPrefix(name, env+":"); ok {
			out = append(out, sls)
		}
	}
	return out, s.err
}

func (s trees) Find(_ context.Context, sls, env string) (string, bool, error) {
	if _, ok := s.sls[env+":"+sls]; ok {
		return env + ":" + sls, false, s.err
	}
	return "", false, s.err
}

func (s trees) Render(_ context.Context, file, _, _ string) (any, error) {
	return dicts.Clone(s.sls[file]), nil
}

func (s trees) Top(context.Context, string) (any, bool, error) {
	return dicts.Clone(s.top), s.top != nil, s.err
}

func compiler(s trees) *run.Compiler {
	everybody := func(any, []any) (bool, error) { return true, nil }
	return run.New(run.Options{Source: s, Opts: payload.NewMap(0), Match: top.Matcher{Means: everybody}})
}

// TestDeepIncludes: SLS that include each other without an end are an error.
func TestDeepIncludes(t *testing.T) {
	s := trees{sls: map[string]any{}}
	for i := range 300 {
		s.sls[fmt.Sprintf("base:s%d", i)] = payload.M("include", []any{fmt.Sprintf("s%d", i+1)})
	}
	_, errs, err := compiler(s).High(t.Context(), payload.M("base", []any{"s0"}))
	if err != nil || len(errs) != 1 || errs[0] != "SLS s200 in saltenv base is included 200 levels deep" {
		t.Errorf("got %q, %v", errs, err)
	}
}

// TestFaults: a file server that does not answer ends the compilation, and so does the end of the job.
func TestFaults(t *testing.T) {
	broken := errors.New("no answer")
	s := trees{sls: map[string]any{"base:t": payload.M("a", "test.nop")}, err: broken}
	if _, _, err := compiler(s).High(t.Context(), payload.M("base", []any{"t"})); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, _, err := compiler(s).Matches(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	s.err = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := compiler(s).High(ctx, payload.M("base", []any{"t"})); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestSharedList: a list of requisites that an anchor puts into two states is extended in the one that is meant.
func TestSharedList(t *testing.T) {
	shared := payload.M("require", []any{payload.M("test", "c")})
	state := func() *payload.Map { return payload.M("test.nop", []any{shared}) }
	s := trees{sls: map[string]any{"base:t": payload.M("a", state(), "b", state(), "c", "test.nop",
		"extend", payload.M("a", payload.M("test", []any{payload.M("require", []any{payload.M("test", "d")})})),
		"d", "test.nop")}}
	c := compiler(s)
	data, errs, err := c.High(t.Context(), payload.M("base", []any{"t"}))
	chunks, errs := c.Low(data, errs)
	if err != nil || errs != nil || len(chunks) != 4 {
		t.Fatalf("got %v, %q, %v", chunks, errs, err)
	}
	for _, chunk := range chunks {
		want := map[any]int{"a": 2, "b": 1}[chunk.Value("__id__")]
		if n := len(chunk.List("require")); n != want {
			t.Errorf("%v has %d requisites, want %d", chunk.Value("__id__"), n, want)
		}
	}
}

// FuzzCompile: whatever SLS and top files render to, the compiler ends without a crash, and a list of chunks holds
// chunks only.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`{"a":"test.nop"}`,
		`{"include":["u",".u",{"dev":"u"}],"extend":{"b":{"test":[{"x":1}]}}}`,
		`{"a":{"test":["nop",{"require_in":["b",{"test":"b"},{"sls":"u"}]},{"use":[{"test":"b"}]}]}}`,
		`{"exclude":["u",{"id":"b"}],"a":{"test.nop":[{"names":["x",{"y":[{"k":1}]}]}]}}`,
		`{"base":{"*":["t",{"dev":"u"}]},"include":["u"]}`, `{"a":{"test.nop":[{"watch_in":{"test":"b"}}]},"1":5}`} {
		f.Add(seed, `{"b":{"test.nop":[{"require":[{"test":"a"}]}]}}`)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		a, err := pyjson.Load(one)
		b, errTwo := pyjson.Load(two)
		if err != nil || errTwo != nil || len(one)+len(two) > 4000 {
			return
		}
		s := trees{sls: map[string]any{"base:t": a, "base:u": b, "dev:u": a}, top: a}
		c := compiler(s)
		_, _, _ = c.Matches(t.Context())
		data, errs, err := c.High(t.Context(), payload.M("base", []any{"t", "u"}))
		if err != nil {
			t.Fatal(err)
		}
		chunks, errs := c.Low(data, errs)
		for _, chunk := range chunks {
			if len(errs) > 0 || chunk.Str("fun") == "" || !chunk.Has("__id__") {
				t.Fatalf("%v, %q", chunk, errs)
			}
		}
	})
}

// TestExtensionShape: an extension that is no list is an error.
func TestExtensionShape(t *testing.T) {
	s := trees{sls: map[string]any{"base:t": payload.M("a", "test.nop", "extend",
		payload.M("a", payload.M("test", payload.M("x", 1))))}}
	c := compiler(s)
	data, errs, err := c.High(t.Context(), payload.M("base", []any{"t"}))
	_, errs = c.Low(data, errs)
	if err != nil || len(errs) != 1 || errs[0] != "State 'a' in SLS 't' is not formed as a list" {
		t.Errorf("got %q, %v", errs, err)
	}
}

// TestMoreTops: what others give comes behind the top files, or before them, each SLS once.
func TestMoreTops(t *testing.T) {
	for first, want := range map[bool][]any{false: {"t", "u", "v"}, true: {"v", "u", "t"}} {
		by := top.Matcher{Means: func(any, []any) (bool, error) { return true, nil }, MoreFirst: first,
			More: payload.M("base", []any{"v", "u"}, "dev", []any{"w"})}
		c := run.New(run.Options{Source: trees{top: payload.M("base", payload.M("*", []any{"t", "u"}))},
			Opts: payload.M("env_order", []any{"base"}), Match: by})
		matches, errs, err := c.Matches(t.Context())
		if err != nil || errs != nil || !payload.Equal(matches, payload.M("base", want, "dev", []any{"w"})) {
			t.Errorf("first %v: got %v, %q, %v, want %v", first, matches, errs, err, want)
		}
	}
}
