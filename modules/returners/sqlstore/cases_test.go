package sqlstore_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/modules/execution/config"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/returners/sqlstore"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// someCase is a return and its name among the recorded rows.
type someCase struct {
	name string
	ret  *payload.Map
}

// cases are returns with all kinds of values.
func cases() []someCase {
	ret := func(jid string, v any, more ...any) *payload.Map {
		m := payload.M("id", "web1", "jid", jid, "fun", "test.echo", "fun_args", []any{}, "return", v, "retcode",
			int64(0), "success", true)
		m.Update(payload.M(more...))
		return m
	}
	plain := ret("20261123000000000001", true)
	without := ret("20261123000000000008", "no success")
	without.Delete("success")
	nest := any("bottom")
	for range 200 {
		nest = []any{payload.M("k", nest)}
	}
	return []someCase{
		{"ping", plain},
		{"nested", ret("20261123000000000002", payload.M("ü", "☃", "list", []any{int64(1), 2.5, 1e16, 1e-7, nil, true,
			""}, "empty", payload.NewMap(0)), "fun_args", []any{"a b", int64(5), payload.M("__kwarg__", true, "name",
			"it's")}, "success", false, "retcode", int64(2))},
		{"bytes", ret("20261123000000000003", []any{[]byte("text ü"), payload.M("in", []byte("deep"))})},
		{"numbers", ret("20261123000000000004", []any{uint64(math.MaxUint64), int64(math.MinInt64), 0.1,
			math.Copysign(0, -1), 1.7976931348623157e308, 5e-324})},
		{"none numbers", ret("20261123000000000005", []any{math.NaN(), math.Inf(1), math.Inf(-1)})},
		{"controls", ret("20261123000000000006", "tab\t quote\" back\\ slash/ del\x7f esc\x1b line\r\n 'single' %s "+
			"? $1 :x")},
		{"NUL", ret("20261123000000000007", payload.M("k", "a\x00b", "z\x00", int64(1)))},
		{"no success", without},
		{"deep", ret("20261123000000000009", nest)},
		{"emoji", ret("20261123000000000010", "😀 is outside of the first plane")},
		{"keys", ret("20261123000000000011", payload.M(int64(7), "int", true, "bool", nil, "none", 2.5, "float"))},
		{"several functions", ret("20261123000000000012", payload.M("test.ping", true), "fun",
			[]any{"test.ping", "test.echo"}, "fun_args", []any{[]any{}, []any{"x"}})},
		{"odd bytes", ret("20261123000000000013", []byte("\xff\xfe"))},
		{"long", ret("20261123000000000014", strings.Repeat("x", 2000))},
		{"text success", ret("20261123000000000015", "x", "success", "maybe")},
	}
}

// host calls returners with some options.
type host struct {
	t   testing.TB
	env *loader.Env
	reg *loader.Registry

	within time.Duration // what a call may take; 0: as long as the test
}

func newHost(t testing.TB, opts ...any) *host {
	t.Helper()
	reg := loader.NewRegistry()
	reg.Offer(loader.Listed{sqlstore.SQLite(), sqlstore.Postgres(), sqlstore.PGJSONB(), sqlstore.MySQL()})
	conf := payload.M("id", "web1")
	conf.Update(payload.M(opts...))
	env := modtest.Env(t, conf)
	env.Registry.Offer(loader.Listed{config.Module()})
	return &host{t: t, env: env, reg: reg}
}

// call calls one function.
func (h *host) call(fun string, args ...any) (any, error) {
	f, ok := h.reg.Lookup(fun)
	if !ok {
		h.t.Fatalf("%s is not there", fun)
	}
	bound, err := loader.Bind(f, args, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	ctx := h.t.Context()
	if h.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.within)
		defer cancel()
	}
	return f.Run(loader.NewCall(ctx, h.env, fun, nil), bound)
}

// must is call without an error.
func (h *host) must(fun string, args ...any) any {
	h.t.Helper()
	v, err := h.call(fun, args...)
	if err != nil {
		h.t.Fatalf("%s: %v", fun, err)
	}
	return v
}

// same compares values of the wire; jsonb keeps no order of keys.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	a, aOK := outputters.DumpJSON(got, outputters.JSONOptions{Indent: -1, Sort: true})
	b, bOK := outputters.DumpJSON(want, outputters.JSONOptions{Indent: -1, Sort: true})
	if a != b || !aOK || !bOK {
		t.Errorf("%s:\ngot  %s\nwant %s", what, a, b)
	}
}

// recorded are rows by the name of a case; a case that Salt does not store has none.
type recorded map[string]map[string]string

func readRecorded(t testing.TB, name string) recorded {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var out recorded
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// compareRows holds the rows that brine wrote to those of Salt, column by column, and gives the names of the cases that
// Salt does not store.
func compareRows(t *testing.T, name string, rows func(jid string) map[string]string) (more []string) {
	t.Helper()
	want := readRecorded(t, name)
	for _, c := range cases() {
		got := rows(c.ret.Str("jid"))
		if want[c.name] == nil {
			more = append(more, c.name)
			continue
		}
		if diff := cmp.Diff(want[c.name], got); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
	return more
}
