package pip_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/execution/cmdmod"
	"brine/modules/execution/pip"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestPasswordIsHidden: the password of an index or a proxy is no argument of pip, and a package is no option.
func TestPasswordIsHidden(t *testing.T) {
	dir := t.TempDir()
	fake := "#!/bin/sh\ncase \"$*\" in *--version*) echo pip 23.0 from x; exit;; esac\n" +
		"echo \"$*\" > " + dir + "/said\necho \"$PIP_INDEX_URL $PIP_PROXY\" >> " + dir + "/said\n"
	if err := os.WriteFile(filepath.Join(dir, "pip"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	env := modtest.Env(t, nil)
	env.Registry.Offer(loader.Table{cmdmod.Module, pip.Module})
	_, _, err := modtest.Call(t, env, "pip.install", []any{"foo"}, payload.M("bin_env", dir+"/pip", "index_url",
		"https://me:s3cret@example.com/simple", "proxy", "http://p:s3cret@proxy:3128"))
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	want := "install foo\nhttps://me:s3cret@example.com/simple http://p:s3cret@proxy:3128\n"
	if string(said) != want {
		t.Errorf("pip was asked\n%s\nwant\n%s", said, want)
	}
	for _, fun := range []string{"pip.install", "pip.uninstall"} {
		_, _, err = modtest.Call(t, env, fun, []any{"--target=/"}, payload.M("bin_env", dir+"/pip"))
		if err == nil || !strings.Contains(err.Error(), "taken for an option") {
			t.Errorf("%s: got %v, want a refusal", fun, err)
		}
	}
}
