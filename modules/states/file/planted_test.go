package file_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// stranger is a user that no test is run by.
const stranger = 54321

// single applies one state, and gives its return.
func single(t *testing.T, env *loader.Env, fun string, kw *payload.Map) *payload.Map {
	t.Helper()
	v, _, err := modtest.Call(t, env, "state.single", []any{fun}, kw)
	if err != nil {
		t.Fatal(err)
	}
	for _, ret := range v.(*payload.Map).All() {
		if m, ok := ret.(*payload.Map); ok {
			return m
		}
	}
	t.Fatalf("no return: %v", v)
	return nil
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to other users")
	}
}

// home makes a directory of a stranger, with a file beside it that is none of theirs.
func home(t *testing.T, dir string) (secret string) {
	t.Helper()
	secret = dir + "/w/etc/shadow"
	must(t, os.MkdirAll(dir+"/w/etc", 0o755), os.WriteFile(secret, []byte("secret\n"), 0o600),
		os.MkdirAll(dir+"/w/home", 0o755), os.Chown(dir+"/w/home", stranger, stranger))
	return secret
}

// plant makes a link as a stranger does.
func plant(t *testing.T, target, name string) {
	t.Helper()
	must(t, os.Symlink(target, name), os.Lchown(name, stranger, stranger))
}

// TestPlantedLinks: no state goes through a link of another user to what is not that user's.
func TestPlantedLinks(t *testing.T) {
	needsRoot(t)
	env, dir := statetest.Minion(t, payload.M("base/a", "new\n", "base/tree/shadow", "new\n"), nil)
	secret := home(t, dir)
	plant(t, "../etc", dir+"/w/home/d")
	plant(t, "../etc/shadow", dir+"/w/home/f")
	for _, tt := range []struct {
		fun string
		kw  *payload.Map
	}{
		{"file.managed", payload.M("name", dir+"/w/home/f", "source", "salt://a", "mode", "0666")},
		{"file.managed", payload.M("name", dir+"/w/home/d/shadow", "contents", "new")},
		{"file.managed", payload.M("name", dir+"/w/home/d/new", "contents", "new")},
		{"file.managed", payload.M("name", dir+"/w/home/f", "replace", false, "mode", "0666", "user", int64(stranger))},
		{"file.directory", payload.M("name", dir+"/w/home/d/new")},
		{"file.recurse", payload.M("name", dir+"/w/home/d", "source", "salt://tree")},
		{"file.recurse", payload.M("name", dir+"/w/home/d", "source", "salt://tree", "clean", true)},
		{"file.symlink", payload.M("name", dir+"/w/home/d/shadow", "target", "x", "force", true)},
		{"file.absent", payload.M("name", dir+"/w/home/d/shadow")},
		{"file.touch", payload.M("name", dir+"/w/home/d/new")},
		{"file.copy", payload.M("name", dir+"/w/home/d/shadow", "source", dir+"/base/a", "force", true)},
		{"file.rename", payload.M("name", dir+"/w/home/d/shadow", "source", dir+"/w/home/own", "force", true)},
	} {
		must(t, os.WriteFile(dir+"/w/home/own", nil, 0o600))
		ret := single(t, env, tt.fun, tt.kw)
		if text := outputters.JSON(ret); ret.Value("result") != false || !strings.Contains(text, "a link of another user") {
			t.Errorf("%s %s: %s", tt.fun, tt.kw.Str("name"), text)
		}
	}
	info, err := os.Stat(secret)
	must(t, err)
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret\n" || info.Mode() != 0o600 {
		t.Errorf("%q, %s, %v", text, info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(secret)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestRecurseOwners: owners and modes of what is in a directory of another user do not reach out of it by links.
func TestRecurseOwners(t *testing.T) {
	needsRoot(t)
	env, dir := statetest.Minion(t, nil, nil)
	secret := home(t, dir)
	plant(t, secret, dir+"/w/home/f")
	plant(t, dir+"/w/etc", dir+"/w/home/d")
	must(t, os.Mkdir(dir+"/w/home/own", 0o700))
	for _, follow := range []bool{false, true} {
		single(t, env, "file.directory", payload.M("name", dir+"/w/home", "user", int64(stranger), "file_mode", "0666",
			"dir_mode", "0777", "recurse", []any{"user", "mode"}, "follow_symlinks", follow))
	}
	for name, want := range map[string]os.FileMode{secret: 0o600, dir + "/w/etc": 0o755 | os.ModeDir,
		dir + "/w/home/own": 0o777 | os.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s is %s, %v", name, info.Mode(), err)
		}
	}
}

// TestNeverWider: a file with a secret has at no moment a mode that lets others read it.
func TestNeverWider(t *testing.T) {
	env, dir := statetest.Minion(t, nil, nil)
	must(t, os.Mkdir(dir+"/w/d", 0o755))
	var stop atomic.Bool
	done := make(chan string)
	go func() {
		wide := ""
		for !stop.Load() {
			entries, _ := os.ReadDir(dir + "/w/d")
			for _, e := range entries {
				if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
					wide = e.Name() + " " + info.Mode().String()
				}
			}
		}
		done <- wide
	}()
	for i := range 100 {
		kw := payload.M("name", dir+"/w/d/f", "contents", int64(i), "mode", "0600", "user", int64(os.Getuid()))
		if ret := single(t, env, "file.managed", kw); ret.Value("result") != true {
			t.Fatal(outputters.JSON(ret))
		}
		if i%10 == 9 {
			single(t, env, "file.absent", payload.M("name", dir+"/w/d/f"))
		}
	}
	stop.Store(true)
	if wide := <-done; wide != "" {
		t.Error(wide)
	}
}

// TestSecrets: with show_changes False neither what was nor what is in the file is told or logged.
func TestSecrets(t *testing.T) {
	env, dir := statetest.Minion(t, payload.M("base/a", "hunter2 {{ 1 }}\n"), nil)
	log := &modtest.Log{}
	env.Host.Log = log
	for _, test := range []bool{true, false} {
		for _, kw := range []*payload.Map{payload.M("contents", "hunter2"),
			payload.M("source", "salt://a", "template", "jinja"), payload.M("source", "salt://a")} {
			must(t, os.WriteFile(dir+"/w/f", []byte("swordfish\n"), 0o600))
			kw = kw.Clone().Set("name", dir+"/w/f").Set("show_changes", false).Set("test", test).Set("new_file_diff", true)
			text := outputters.JSON(single(t, env, "file.managed", kw)) + strings.Join(log.Lines(), "\n")
			if strings.Contains(text, "hunter2") || strings.Contains(text, "swordfish") {
				t.Error(text)
			}
		}
	}
}

// TestWrongHashOnTheWeb: nothing stays of a source that has another hash, neither in its place nor in the cache.
func TestWrongHashOnTheWeb(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("evil"))
	}))
	defer server.Close()
	env, dir := statetest.Minion(t, nil, nil)
	for _, fun := range []string{"file.managed", "file.cached"} {
		kw := payload.M("name", dir+"/w/f", "source", server.URL+"/x", "source_hash", strings.Repeat("0", 64))
		if fun == "file.cached" {
			kw.Set("name", server.URL+"/x").Delete("source")
		}
		if ret := single(t, env, fun, kw); ret.Value("result") != false {
			t.Error(outputters.JSON(ret))
		}
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			if strings.Contains(string(text), "evil") {
				t.Errorf("%s was left", path)
			}
		}
		return err
	})
	must(t, err)
}

// TestFullDisk: where the disk takes no more the old file stands, and nothing is left beside it.
func TestFullDisk(t *testing.T) {
	const inside = "BRINE_TEST_FULL_DISK"
	if os.Getenv(inside) == "" {
		needsRoot(t)
		if _, err := exec.LookPath("unshare"); err != nil {
			t.Skip("there is no unshare")
		}
		self, err := os.Executable()
		must(t, err)
		cmd := exec.CommandContext(t.Context(), "unshare", "--mount", self, "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			if strings.Contains(string(out), "unshare failed") {
				t.Skip("no name spaces here")
			}
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	env, dir := statetest.Minion(t, payload.M("base/big", strings.Repeat("x", 1<<20)), nil)
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=64k", "none", dir+"/w").
		CombinedOutput(); err != nil {
		t.Skipf("no mount here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir+"/w").Run() })
	must(t, os.WriteFile(dir+"/w/f", []byte("old\n"), 0o600))
	for _, kw := range []*payload.Map{payload.M("source", "salt://big"),
		payload.M("contents", strings.Repeat("y", 1<<20))} {
		ret := single(t, env, "file.managed", kw.Set("name", dir+"/w/f"))
		if text := outputters.JSON(ret); ret.Value("result") != false || !strings.Contains(text, "No space left") {
			t.Error(text[:min(len(text), 500)])
		}
	}
	text, err := os.ReadFile(dir + "/w/f")
	must(t, err)
	if entries, err := os.ReadDir(dir + "/w"); err != nil || len(entries) != 1 || string(text) != "old\n" {
		t.Errorf("%v, %v, %q", entries, err, text)
	}
}
