package aptpkg_test

import (
	"os"
	"path/filepath"
	"testing"

	"brine/modules/execution/aptpkg"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// TestNoOption: a name that dpkg or apt would take for an option starts none of them. With -c/FILE apt-cache reads any
// file as a configuration, for whoever may ask for a version.
func TestNoOption(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"dpkg", "dpkg-query", "apt-cache", "apt-get"} {
		script := "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$BRINE_T_ASKED\"\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	env := modtest.Env(t, nil)
	env.Grains = func() *payload.Map { return payload.M("os_family", "Debian") }
	env.Registry.Offer(loader.Table{aptpkg.Module})
	env.Registry.On(env)
	for _, fun := range []string{"owner", "file_list", "file_dict", "get_selections", "latest_version",
		"available_version", "upgrade_available", "show", "list_repo_pkgs", "hold", "unhold"} {
		modtest.StartsNothing(t, env, "pkg."+fun, "-c/etc/shadow")
	}
	t.Setenv("BRINE_T_ASKED", filepath.Join(bin, "asked"))
	for _, words := range [][]any{{"--admindir=/x", "1"}, {"1", "--admindir=/x"}} {
		v, err := loader.NewCall(t.Context(), env, "pkg.version_cmp", nil).Call("pkg.version_cmp", words, nil)
		if _, asked := os.Stat(filepath.Join(bin, "asked")); v != nil || err != nil || asked == nil {
			t.Errorf("version_cmp %v: %v, %v", words, v, err)
		}
	}
}
