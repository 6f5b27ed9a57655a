package yumpkg_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// differences are trees in which this program does on purpose what Salt does not. docs/differences.md tells why.
var differences = map[string]string{
	"repositories that go step 5": "the order of a set of Python",
}

// TestAsSalt runs trees in which a script stands for dnf.
func TestAsSalt(t *testing.T) { statetest.Compare(t, "testdata/trees_3008.json", differences) }

// TestHostile: what is no name of a package reaches dnf neither as an option nor otherwise, and a repository is one
// section of one file of its directory.
func TestHostile(t *testing.T) {
	bin, repos := t.TempDir(), t.TempDir()
	for _, name := range []string{"rpm", "dnf"} {
		script := "#!/bin/sh\necho ${0##*/} \"$@\" >> " + bin + "/asked\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	env, _ := statetest.Minion(t, payload.NewMap(0),
		payload.M("grains", payload.M("os", "Rocky", "os_family", "RedHat", "osarch", "x86_64")))
	for _, name := range []string{"--setopt=pluginpath=/x", "-c/etc/shadow", "a b", "a\nb"} {
		for _, fun := range []string{"pkg.install", "pkg.upgrade"} {
			kw := payload.M("pkgs", []any{name}, "refresh", false)
			if _, _, err := modtest.Call(t, env, fun, nil, kw); err == nil {
				t.Errorf("%s of %q: no error", fun, name)
			}
		}
	}
	for _, fun := range []string{"pkg.latest_version", "pkg.list_repo_pkgs"} {
		if _, _, err := modtest.Call(t, env, fun, []any{"-c/etc/shadow"}, nil); err == nil {
			t.Errorf("%s of an option: no error", fun)
		}
	}
	if asked, _ := os.ReadFile(filepath.Join(bin, "asked")); strings.Contains(string(asked), "dnf") {
		t.Errorf("dnf was asked: %s", asked)
	}
	mod := func(name string, kw *payload.Map) error {
		all := payload.M("basedir", repos, "name", "n", "baseurl", "u")
		all.Update(kw)
		_, _, err := modtest.Call(t, env, "pkg.mod_repo", []any{name}, all)
		return err
	}
	for _, name := range []string{"../x", "a]\n[evil", ""} {
		if mod(name, nil) == nil {
			t.Errorf("a repository may be called %q", name)
		}
	}
	for _, kw := range []*payload.Map{payload.M("comments", []any{"c\n[evil]"}), payload.M("baseurl", "u\n[evil]"),
		payload.M("x\n[evil]\ny", "1")} {
		_ = mod("good", kw) // it may be refused, or written as one section
		text, _ := os.ReadFile(filepath.Join(repos, "good.repo"))
		if strings.Contains("\n"+string(text), "\n[evil]") {
			t.Errorf("%v: %s", kw, text)
		}
	}
}
