package saltrun

import (
	"os"
	"path/filepath"
	"testing"

	"brine/modules/runners"
	"brine/wire/payload"
)

// TestFileserver runs fileserver.* without a master: the files are those of its configuration.
func TestFileserver(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"base/a.sls", "base/d/b", "base/e"} {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil && name == "base/e" {
			err = os.Mkdir(path, 0o755)
		} else if err == nil {
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.sls", filepath.Join(dir, "base/l")); err != nil {
		t.Fatal(err)
	}
	r, _ := openRun(t, "file_roots: {base: ["+dir+"/base], dev: [/nonexistent]}\n", "test.arg")
	lists := filepath.Join(r.Master.CacheDir, "file_lists/roots")
	if err := os.MkdirAll(lists, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"base.p", "dev.p", ".base.w"} { // of a master of Salt
		if err := os.WriteFile(filepath.Join(lists, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		fun  string
		kw   *payload.Map
		want any
	}{
		{"envs", nil, []any{"base", "dev"}},
		{"envs", payload.M("sources", true), []any{"roots"}},
		{"envs", payload.M("backend", "git,hg"), []any{}},
		{"file_list", nil, []any{"a.sls", "d/b", "l"}},
		{"file_list", payload.M("saltenv", "dev"), []any{}},
		{"file_list", payload.M("backend", "-roots"), []any{}},
		{"dir_list", nil, []any{"d", "e"}},
		{"empty_dir_list", payload.M("backend", "git"), []any{"e"}},
		{"symlink_list", nil, payload.M("l", "a.sls")},
		{"update", payload.M("backend", []any{"roots"}), true},
		{"clear_cache", nil, "No cache was cleared"},
		{"lock", nil, "No locks were set"},
		{"clear_lock", payload.M("remote", "x"), "No locks were removed"},
		{"clear_file_list_cache", payload.M("saltenv", "dev, prod"), payload.M("roots", []any{"dev"})},
		{"clear_file_list_cache", nil, payload.M("roots", []any{"base"})},
		{"clear_file_list_cache", nil, payload.NewMap(0)},
	} {
		got := runners.Run(t.Context(), r.env, runners.Request{Kind: runners.KindRunner, Fun: "fileserver." + tt.fun, KW: tt.kw, JID: someJID}, nil)
		if !payload.Equal(got.Return, tt.want) {
			t.Errorf("%s %v: got %v, want %v", tt.fun, tt.kw, got.Return, tt.want)
		}
	}
}
