package saltrun

import (
	"os"
	"path/filepath"
	"testing"

	"brine/modules/runners"
	"brine/wire/payload"
)

// TestFileserver runs fileserver.* without a master. The files come from its configuration.
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
	for _, name := range []string{"base.p", "dev.p", ".base.w"} { // files of a Salt master
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
		got := runners.Run(t.Context(), r.env, runners.Request{Kind: runners.KindRunner, Fun: "fileserver." + tt.fun,
			KW: tt.kw, JID: someJID}, nil)
		if !payload.Equal(got.Return, tt.want) {
			t.Errorf("%s %v: got %v, want %v", tt.fun, tt.kw, got.Return, tt.want)
		}
	}
}

// TestSync copies modules from the file server once, and removes those that the file server no longer has.
func TestSync(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("base/_modules/one.py", "1")
	write("base/_modules/deep/two.py", "2")
	write("base/_modules/readme.txt", "no module")
	write("base/_runners/three.py", "3")
	write("dev/_modules/one.py", "other")
	r, _ := openRun(t, "file_roots: {base: ["+dir+"/base], dev: ["+dir+"/dev]}\nfileserver_list_cache_time: 0\n",
		"test.arg")
	run := func(fun string, kw *payload.Map) any {
		return runners.Run(t.Context(), r.env, runners.Request{Kind: runners.KindRunner, Fun: "saltutil." + fun, KW: kw,
			JID: someJID}, nil).Return
	}
	ext := filepath.Join(r.Master.Raw.Str("extension_modules"), "modules")
	for _, tt := range []struct {
		fun  string
		kw   *payload.Map
		want any
	}{
		{"sync_modules", payload.M("extmod_whitelist", "one"), []any{"modules.one"}},
		{"sync_modules", payload.M("extmod_blacklist", payload.M("modules", []any{"deep.two"})), []any{}},
		{"sync_modules", nil, []any{"modules.deep.two"}},
		{"sync_modules", nil, []any{}},
		{"sync_modules", payload.M("saltenv", "dev"), []any{"modules.one"}},
		{"sync_runners", nil, []any{"runners.three"}},
		{"sync_eauth_tokens", nil, []any{}},
	} {
		if got := run(tt.fun, tt.kw); !payload.Equal(got, tt.want) {
			t.Errorf("%s %v: got %v, want %v", tt.fun, tt.kw, got, tt.want)
		}
	}
	text, err := os.ReadFile(filepath.Join(ext, "one.py"))
	if err != nil || string(text) != "other" {
		t.Errorf("one.py: %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(ext, "deep")); !os.IsNotExist(err) {
		t.Errorf("a folder of another environment is left: %v", err)
	}
	all, _ := run("sync_all", nil).(*payload.Map)
	if all.Len() != 24 || !payload.Equal(all.Value("modules"), []any{"modules.deep.two", "modules.one"}) ||
		!payload.Equal(all.Value("runners"), []any{}) {
		t.Errorf("sync_all: %v", all)
	}
}
