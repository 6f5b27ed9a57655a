package slsutil_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/execution/slsutil"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

func render(t *testing.T, opts *payload.Map, kw ...any) (any, error) {
	t.Helper()
	reg := loader.NewRegistry()
	reg.Offer(loader.Listed{slsutil.Module()})
	env := &loader.Env{Registry: reg, ID: "web1", Opts: func() *payload.Map { return opts }}
	v, _, err := modtest.Call(t, env, "slsutil.renderer", nil, payload.M(kw...))
	return v, err
}

// TestItself: a template that renders itself ends.
func TestItself(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sls")
	if err := os.WriteFile(file, []byte("a: {{ salt['slsutil.renderer']('"+file+"') }}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := render(t, nil, "path", file); err == nil ||
		!strings.Contains(err.Error(), "20 templates render each other") {
		t.Errorf("got %v", err)
	}
}

// TestOptions: the minion's options say which renderers there are.
func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		opts *payload.Map
		want string
	}{
		{payload.M("renderer_blacklist", []any{"json"}), "[1,2]"},
		{payload.M("renderer_whitelist", []any{"jinja"}), "[1,2]"},
		{payload.M("disable_renders", []any{"json"}), "{}"},
		{payload.NewMap(0), "[1, 2]"},
	} {
		v, err := render(t, tt.opts, "string", "[{{ 1 }},2]", "default_renderer", "jinja|json")
		if got := loader.Text(v); err != nil || got != tt.want {
			t.Errorf("%v: got %q, %v; want %q", tt.opts, got, err, tt.want)
		}
	}
}

// TestFiles: what is no file of this machine is asked of cp.get_url, or refused by name.
func TestFiles(t *testing.T) {
	_, err := render(t, nil, "path", "salt://a.sls")
	if err == nil || !strings.Contains(err.Error(), "salt://a.sls") {
		t.Errorf("got %v", err)
	}
	if _, err := render(t, nil, "path", "a.sls"); err == nil || err.Error() != "Path 'a.sls' is not absolute" {
		t.Errorf("got %v", err)
	}
}

// TestImports: other templates lie on the master, and an error says that there is none.
func TestImports(t *testing.T) {
	_, err := render(t, nil, "string", "{% import 'a.jinja' as a %}")
	if err == nil || !strings.Contains(err.Error(), "there is no master to fetch files from") {
		t.Errorf("got %v", err)
	}
}

// TestHugeFile: a file that has more bytes than there is memory, and no content, is refused by its size.
func TestHugeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.sls")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<43); err != nil {
		t.Skipf("no files of this size here: %v", err)
	}
	if v, err := render(t, nil, "path", path); err == nil ||
		!strings.Contains(err.Error(), "has more than 67108864 bytes") {
		t.Errorf("got %v, %v", v, err)
	}
}
