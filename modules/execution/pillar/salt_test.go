package pillar_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/execution/pillar"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// call calls a function of the module with a pillar in memory.
func call(
	t *testing.T, ctx context.Context, opts, data *payload.Map, source loader.PillarSource,
	fun string, args []any, kw *payload.Map,
) (any, error) {
	t.Helper()
	env := modtest.Env(t, opts)
	env.Registry.Offer(loader.Listed{pillar.Module()})
	env.Pillar = func() *payload.Map { return data }
	(&modtest.Host{}).Attach(env)
	env.Host.Secrets = source
	v, _, err := modtest.CallContext(ctx, t, env, fun, args, kw)
	return v, err
}

// TestAsSalt compares with what 3008.3 has answered (testdata/generate.py).
func TestAsSalt(t *testing.T) {
	raw, err := os.ReadFile("testdata/salt3008.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := pyjson.Load(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	file := v.(*payload.Map)
	rows := file.List("rows")
	if len(rows) < 300 {
		t.Fatalf("%d rows are too few", len(rows))
	}
	before := python.Repr(file.Map("pillar"))
	for _, r := range rows {
		row := r.([]any)
		ctx := t.Context()
		if row[4] == true {
			ctx = loader.Unmasked(ctx)
		}
		args, kw, opts := row[1].([]any), row[2].(*payload.Map), row[3].(*payload.Map)
		got, err := call(t, ctx, opts, file.Map("pillar"), nil, row[0].(string), args, kw)
		want := row[5].(string)
		if wanted, bad := strings.CutPrefix(want, "error "); bad {
			class := loader.ClassOf(err)
			if err == nil || class[strings.LastIndexByte(class, '.')+1:]+": "+loader.Message(err) != wanted {
				t.Errorf("%s: got %v, %v", python.Repr(row), got, err)
			}
			continue
		}
		value, bad := pyjson.Load(want)
		if bad != nil {
			t.Fatal(bad)
		}
		if err != nil || python.Repr(got) != python.Repr(value) {
			t.Errorf("%s: got %s, %v", python.Repr(row), python.Repr(got), err)
		}
	}
	if after := python.Repr(file.Map("pillar")); after != before {
		t.Errorf("the pillar became %s", after)
	}
}

// master gives pillars and remembers what it was asked.
type master struct{ asked loader.PillarQuery }

func (m *master) Compile(_ context.Context, q loader.PillarQuery) (*payload.Map, error) {
	m.asked = q
	return payload.M("k", "secret", "l", []any{int64(1), ""}, "none", nil), nil
}

func TestFresh(t *testing.T) {
	const mask, plain = "**********", "{'k': 'secret', 'l': [1, ''], 'none': None}"
	const masked = "{'k': '" + mask + "', 'l': ['" + mask + "', ''], 'none': None}"
	for _, tt := range []struct {
		fun        string
		args       []any
		kw, opts   *payload.Map
		want, asks string
	}{
		{"pillar.items", nil, nil, nil, masked, "|"},
		{"pillar.items", nil, payload.M("unmask", true, "pillarenv", "dev", "pillar", payload.M("o", 1)), nil, plain,
			"dev|{'o': 1}"},
		{"pillar.data", nil, nil, payload.M("pillar_mask_output", false, "pillarenv", "qa"), plain, "qa|"},
		{"pillar.items", []any{"own"}, nil, nil, "{'own': '" + mask + "'}", "|"},
		{"pillar.obfuscate", nil, nil, nil, "{'k': '<str>', 'l': ['<str>', '<str>'], 'none': '<NoneType>'}", "|"},
		{"pillar.ls", nil, nil, nil, "['k', 'l', 'none']", "|"},
		{"pillar.ext", []any{"{nodegroups: {}}"}, nil, nil, masked, "|{'nodegroups': {}}"},
		{"pillar.get", []any{"k"}, payload.M("pillarenv", "dev", "unmask", true), nil, mask, "dev|"},
		{"pillar.get", []any{"k"}, payload.M("saltenv", "dev"), payload.M("pillarenv_from_saltenv", true), mask,
			"dev|"},
	} {
		m := &master{}
		opts := payload.NewMap(0)
		opts.Update(tt.opts)
		v, err := call(t, t.Context(), opts, payload.M("own", "mine"), m, tt.fun, tt.args, tt.kw)
		if got := python.Str(v); err != nil || got != tt.want {
			t.Errorf("%s %v: got %s, %v, want %s", tt.fun, tt.args, got, err, tt.want)
		}
		asked := m.asked.Pillarenv + "|"
		if m.asked.Override != nil {
			asked += python.Repr(m.asked.Override)
		}
		if m.asked.Ext != nil {
			asked += python.Repr(m.asked.Ext)
		}
		if asked != tt.asks {
			t.Errorf("%s %v: asked %s, want %s", tt.fun, tt.args, asked, tt.asks)
		}
	}
	if _, err := call(t, t.Context(), payload.NewMap(0), nil, nil, "pillar.items", nil, nil); err == nil {
		t.Error("without a master there is a pillar")
	}
}

func TestFileExists(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/a.sls", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	opts := payload.M("pillar_roots", payload.M("base", []any{dir}))
	around := "../" + filepath.Base(dir) + "/a.sls"
	for path, want := range map[string]bool{"a.sls": true, "b.sls": false, around: false} {
		got, err := call(t, t.Context(), opts, nil, nil, "pillar.file_exists", []any{path}, nil)
		if got != any(want) || err != nil {
			t.Errorf("%s: got %v, %v", path, got, err)
		}
	}
	if _, err := call(t, t.Context(), payload.NewMap(0), nil, nil, "pillar.file_exists", []any{"a"}, nil); err == nil {
		t.Error("without pillar_roots there are files")
	}
}
