package pillar

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// recorded are the rows of testdata/salt3008.json (testdata/generate.py).
func recorded(t testing.TB) []*payload.Map {
	t.Helper()
	raw, err := os.ReadFile("testdata/salt3008.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := pyjson.Load(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	var rows []*payload.Map
	for _, row := range v.([]any) {
		rows = append(rows, row.(*payload.Map))
	}
	return rows
}

// show writes a value as testdata/generate.py does.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case int, int64, uint64:
		return fmt.Sprintf("int %d", v)
	case *big.Int:
		return "int " + v.String()
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "float " + strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
		}
		return fmt.Sprintf("float %.17g", v)
	case string:
		return "str " + v
	case []byte:
		return fmt.Sprintf("bytes %x", v)
	case payload.Bytes:
		return fmt.Sprintf("bytes %x", string(v))
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = show(v[i])
		}
		return "[" + strings.Join(parts, "|") + "]"
	case *payload.Map:
		var parts []string
		for k, e := range v.All() {
			parts = append(parts, show(k)+"=>"+show(e))
		}
		return "{" + strings.Join(parts, "|") + "}"
	}
	return fmt.Sprint(v)
}

func answer(v *payload.Map, err error) string {
	if err == nil {
		return show(v)
	}
	class := loader.ClassOf(err)
	return "error " + class[strings.LastIndexByte(class, '.')+1:] + ": " + loader.Message(err)
}

// replaced puts the directory of the tree into a value.
func replaced(v any, root string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "$R", root)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = replaced(v[i], root)
		}
		return out
	case *payload.Map:
		out := payload.NewMap(v.Len())
		for k, e := range v.All() {
			out.Set(k, replaced(e, root))
		}
		return out
	}
	return v
}

// build makes the files of a tree: null is a directory, "-> x" a link.
func build(t testing.TB, root string, files *payload.Map) {
	t.Helper()
	for name, content := range files.All() {
		path := filepath.Join(root, name.(string))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text, ok := content.(string)
		var err error
		switch link, isLink := strings.CutPrefix(text, "-> "); {
		case !ok:
			err = os.MkdirAll(path, 0o755)
		case isLink:
			err = os.Symlink(strings.ReplaceAll(link, "$R", root), path)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// registry has the functions that templates call.
func registry(t testing.TB) *loader.Registry {
	t.Helper()
	return NewRegistry()
}

// functions gives templates the functions of a registry.
func functions(reg *loader.Registry) func(Surroundings) Functions {
	return func(s Surroundings) Functions {
		env := &loader.Env{Registry: reg, ID: s.ID, Opts: func() *payload.Map {
			return s.Opts
		}, Grains: func() *payload.Map { return s.Grains },
			Pillar: s.Pillar}
		return Functions{
			Has: func(name string) bool {
				if !strings.Contains(name, ".") {
					return slices.Contains(reg.Modules(), name)
				}
				_, ok := reg.Lookup(name)
				return ok
			},
			Call: func(ctx context.Context, fun string, args []any, kw *payload.Map) (any, error) {
				return loader.NewCall(ctx, env, "", nil).Call(fun, args, kw)
			},
		}
	}
}

// keys is what a master knows of its minions: two accepted keys, no cached data.
type keys []string

func (k keys) Accepted() ([]string, error)                        { return k, nil }
func (k keys) Cached(string) ([]string, error)                    { return nil, nil }
func (k keys) Data(_, _ string) (*payload.Map, error)             { return nil, nil }
func (k keys) Fields(_, _ string, _ ...any) (*payload.Map, error) { return nil, nil }

// defaults are options of a master that has none of its own.
func defaults(root string) *payload.Map {
	return payload.M("renderer", "jinja|yaml", "state_top", "top.sls", "pillar_roots",
		payload.M("base", []any{root + "/base"}), "pillar_safe_render_error", true, "ext_pillar", []any{},
		"decrypt_pillar", []any{}, "decrypt_pillar_delimiter", ":", "decrypt_pillar_default", "gpg",
		"decrypt_pillar_renderers", []any{"gpg"}, "pillarenv", nil, "saltenv", nil, "gpg_keydir", root+"/gpg",
		"pillar_source_merging_strategy", "smart")
}

// compiled is what brine makes of a row.
func compiled(t testing.TB, row *payload.Map, reg *loader.Registry) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	build(t, root, row.Map("files"))
	opts := defaults(root)
	opts.Update(replaced(row.Map("opts"), root).(*payload.Map))
	id := row.Str("id")
	expander := &matchers.Expander{Source: keys{id, "other"}, Nodegroups: opts.Map("nodegroups"), DataCache: true}
	c := New(Options{Opts: opts, Functions: functions(reg), Means: func(ctx context.Context, target any,
		id string) bool {
		x, err := expander.Expand(ctx, target, "compound", "", true)
		return err == nil && slices.Contains(x.Minions, id)
	}})
	override, _ := row.Value("override").(*payload.Map)
	out, err := c.Compile(t.Context(), Question{ID: id, Grains: row.Map("grains"), Saltenv: row.Value("saltenv"),
		Pillarenv: row.Value("pillarenv"), Override: override, Ext: row.Value("ext"), Extra: row.Map("extra")})
	if python.Truth(row.Map("opts").Value("pillar_opts")) && err == nil {
		some := payload.NewMap(0)
		for _, name := range []string{"id", "pillar_opts", "pillar_roots", "pillarenv", "state_top"} {
			some.Set(name, out.Map("master").Value(name))
		}
		out.Set("master", some)
	}
	return strings.ReplaceAll(answer(out, err), root, "$R")
}

// differ are the trees that brine compiles otherwise, and why.
var differ = map[string]string{
	"import from above by name":    "a template finds no file outside of pillar_roots, whatever its name",
	"pillar changed in a template": "what a template changes in its variables stays in it (decision 0050)",
}

func TestAsSalt(t *testing.T) {
	rows := recorded(t)
	if len(rows) < 250 {
		t.Fatalf("%d trees are too few", len(rows))
	}
	reg := registry(t)
	noGPG := program.Which("gpg") == ""
	for _, row := range rows {
		name := row.Str("name")
		t.Run(name, func(t *testing.T) {
			if noGPG && name == "decrypt plain text" {
				t.Skip("gpg is not installed")
			}
			got, want := compiled(t, row, reg), row.Str("result")
			if differ[name] != "" {
				if got == want {
					t.Errorf("it does not differ any more")
				}
				return
			}
			if got != want {
				t.Errorf("files %s\nopts %s\n got %s\nSalt %s", python.Repr(row.Map("files")),
					python.Repr(row.Map("opts")), got, want)
			}
		})
	}
}
