package execution_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/host/program"
	"brine/modules/modtest"
	"brine/wire/payload"
)

const (
	packageCalls   = "testdata/packages.txt"
	packageAnswers = "testdata/packages_3008.json"
)

// What dpkg knows in these tests: one package that can be upgraded, one that cannot, one of another architecture, one
// of which only the configuration is left, one that is held.
const dpkgStatus = `Package: bash
Status: install ok installed
Priority: required
Section: shells
Maintainer: nobody
Architecture: amd64
Version: 5.2.15-2+b8
Description: a shell

Package: gone
Status: deinstall ok config-files
Section: admin
Maintainer: nobody
Architecture: amd64
Version: 3:4.8.1-2
Description: was removed

Package: libone
Status: hold ok installed
Section: libs
Maintainer: nobody
Architecture: amd64
Version: 2.0-1
Description: a library

Package: libtwo
Status: install ok installed
Section: libs
Maintainer: nobody
Architecture: i386
Multi-Arch: same
Version: 1.1-1
Description: a library for another machine
`

// What the repository has.
const repository = `Package: bash
Architecture: amd64
Version: 5.2.15-2+b13
Maintainer: nobody
Filename: ./bash.deb
Size: 1
SHA256: 0000000000000000000000000000000000000000000000000000000000000000
Description: a shell

Package: libone
Architecture: amd64
Version: 2.0-1
Maintainer: nobody
Filename: ./libone.deb
Size: 1
SHA256: 0000000000000000000000000000000000000000000000000000000000000001
Description: a library

Package: newtool
Architecture: amd64
Version: 0.1~rc1-1
Maintainer: nobody
Filename: ./newtool.deb
Size: 1
SHA256: 0000000000000000000000000000000000000000000000000000000000000002
Description: a tool

Package: onlyforeign
Architecture: i386
Version: 7-1
Maintainer: nobody
Filename: ./onlyforeign.deb
Size: 1
SHA256: 0000000000000000000000000000000000000000000000000000000000000003
Description: a tool for another machine
`

// installPackages makes the files of dpkg and apt below dir and lets the programs of this test use them.
func installPackages(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"dpkg/status":                dpkgStatus,
		"dpkg/arch":                  "amd64\ni386\n",
		"dpkg/updates/":              "",
		"dpkg/info/format":           "1\n",
		"dpkg/info/bash.list":        "/.\n/bin\n/bin/bash\n",
		"dpkg/info/gone.list":        "/etc/gone.conf\n",
		"dpkg/info/libone.list":      "/.\n/usr/lib/libone.so\n",
		"dpkg/info/libtwo:i386.list": "/.\n/usr/lib/libtwo.so\n",
		"repo/Packages":              repository,
		"etc/sources.list":           "deb [trusted=yes] file:DIR/repo ./\n",
		"etc/apt.conf.d/":            "",
		"etc/preferences.d/":         "",
		"etc/trusted.gpg.d/":         "",
		"etc/sources.list.d/":        "",
		"state/lists/partial/":       "",
		"cache/archives/partial/":    "",
		"apt.conf": `Dir::State "DIR/state"; Dir::State::status "DIR/dpkg/status"; Dir::Cache "DIR/cache"; Dir::Etc "DIR/etc";
APT::Sandbox::User "root"; APT::Architecture "amd64"; APT::Architectures { "amd64"; "i386"; }; Acquire::Languages "none";
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			path = filepath.Join(path, ".keep")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("DPKG_ADMINDIR", filepath.Join(dir, "dpkg"))
	t.Setenv("APT_CONFIG", filepath.Join(dir, "apt.conf"))
}

// onDebian skips the test where the programs of Debian are not.
func onDebian(t *testing.T) {
	t.Helper()
	for _, name := range []string{"dpkg", "dpkg-query", "apt-cache", "apt-get"} {
		if program.Which(name) == "" {
			t.Skip("no ", name, " here")
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("the answers were taken as root")
	}
}

// debian are the grains that module pkg goes by.
func debian(*payload.Map) *payload.Map {
	return payload.M("os_family", "Debian", "os", "Debian", "cpuarch", "x86_64", "osarch", "amd64")
}

// TestPackages runs testdata/packages.txt and compares with what Salt 3008.3 answered.
func TestPackages(t *testing.T) {
	onDebian(t)
	dir := confDir(t)
	installPackages(t, dir)
	env, log := ownEnv(t, dir, debian)
	env.Registry.On(env)
	compareRecorded(t, env, log, dir, packageCalls, packageAnswers)
}

// TestPackagesAreKept: the list of packages is read once for all calls of a process, and again when dpkg has changed
// something, or the caller wants it.
func TestPackagesAreKept(t *testing.T) {
	onDebian(t)
	dir, bin := confDir(t), t.TempDir()
	installPackages(t, dir)
	real, count := program.Which("dpkg-query"), filepath.Join(bin, "count")
	script := "#!/bin/sh\necho x >> " + count + "\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "dpkg-query"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	env, _ := ownEnv(t, dir, debian)
	version := func(want any, kw *payload.Map, reads int) {
		t.Helper()
		v, _, err := modtest.Call(t, env, "pkg.version", []any{"bash"}, kw)
		b, _ := os.ReadFile(count)
		if err != nil || v != want || len(b) != 2*reads {
			t.Errorf("got %v, %v after %d reads, want %v after %d", v, err, len(b)/2, want, reads)
		}
	}
	version("5.2.15-2+b8", nil, 1)
	version("5.2.15-2+b8", nil, 1)
	version("5.2.15-2+b8", payload.M("use_context", false), 2)
	newer := filepath.Join(dir, "dpkg/status-new")
	if err := os.WriteFile(newer, []byte(strings.ReplaceAll(dpkgStatus, "5.2.15-2+b8", "5.2.15-2+b9")),
		0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(newer, filepath.Join(dir, "dpkg/status")); err != nil {
		t.Fatal(err)
	}
	version("5.2.15-2+b9", nil, 3)
	version("5.2.15-2+b9", nil, 3)
	env.Registry.Reload()
	version("5.2.15-2+b9", nil, 4)
}
