package saltrun

import (
	"os"
	"path/filepath"
	"testing"

	"brine/modules/runners"
	"brine/wire/payload"
)

// TestPillar runs pillar.* without a master. The files come from its configuration, the grains from its cache.
func TestPillar(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"top.sls": "base:\n  '*': [a]\n  'G@role:web': [b]\n", "a.sls": "id: '{{ opts.id }}'\nrole: {{ " +
			"grains.get('role', 'none') }}\nrun: {{ salt['test.echo']('x') }}\n",
		"b.sls": "web: {{ salt['grains.get']('role') }}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, _ := openRun(t, "pillar_roots: {base: ["+dir+"]}\n", "test.arg")
	top := payload.M("base", payload.M("*", []any{"a"}, "G@role:web", []any{"b"}))
	for _, tt := range []struct {
		fun  string
		args []any
		kw   *payload.Map
		want any
	}{
		{"show_pillar", []any{"m1"}, nil, payload.M("id", "m1", "role", "none", "run", "x")},
		{"show_pillar", nil, payload.M("role", "web"), payload.M("id", "*", "role", "web", "run", "x", "web", "web")},
		{"show_pillar", nil, payload.M("pillarenv", "nosuch"), payload.NewMap(0)},
		{"show_top", nil, nil, top},
		{"show_top", []any{"m1"}, payload.M("saltenv", "dev"), top},
		{"show_pillar_cache", nil, nil, payload.NewMap(0)},
		{"clear_pillar_cache", nil, nil, true},
	} {
		kw := payload.NewMap(0)
		kw.Update(tt.kw)
		got := runners.Run(t.Context(), r.env, runners.Request{Kind: runners.KindRunner, Fun: "pillar." + tt.fun,
			Args: tt.args, KW: kw}, nil)
		if !payload.Equal(got.Return, tt.want) {
			t.Errorf("%s %v %v: got %v, want %v", tt.fun, tt.args, tt.kw, got.Return, tt.want)
		}
	}
}
