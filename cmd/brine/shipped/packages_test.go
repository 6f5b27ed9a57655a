//go:build shipped

package shipped

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// parts are the packages, in the order in which they are installed.
var parts = []string{"common", "master", "minion"}

// TestPackageContents compares the binary in each package with the one in dist.
func TestPackageContents(t *testing.T) {
	for _, g := range targets {
		want, err := os.ReadFile(g.file(t))
		if err != nil {
			t.Fatal(err)
		}
		deb := map[string]string{"amd64": "amd64", "arm64": "arm64", "armv7": "armhf"}[g.name]
		rpm := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "armv7": "armv7hl"}[g.name]
		// Paths in an RPM are absolute, so the test must not unpack an RPM here. (rpm2cpio compares the length
		// of its output with a number that nfpm does not write, and exits with 1.)
		for file, read := range map[string]string{
			packageFile(t, "common_*_"+deb+".deb"): `dpkg-deb --fsys-tarfile "$0" | tar -xO ./usr/bin/brine`,
			packageFile(t, "common-*."+rpm+".rpm"): `rpm2cpio "$0" | cpio -i --quiet --to-stdout /usr/bin/brine`,
		} {
			got, err := exec.Command("sh", "-c", read, file).Output()
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s does not hold the binary of %s: %v", file, g.name, err)
			}
		}
	}
}

// packageFile finds one package by the pattern for the part of its name after brine-.
func packageFile(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(distDir(t), "brine-"+pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("brine-%s: %q, %v (run ./task dist)", pattern, found, err)
	}
	return found[0]
}

// cleanRoot is a separate Debian without brine.
type cleanRoot struct {
	*site
	dir string
}

// newCleanRoot makes a cleanRoot of a kind in tools/dist/cleanroot: the default, or systemd.
func newCleanRoot(t *testing.T, kind ...string) *cleanRoot {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("packages are installed in a root of their own, which only root may enter")
	}
	cmd := exec.Command("../../../tools/dist/cleanroot", kind...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	r := &cleanRoot{site: newSite(t)}
	r.dir = r.path("root")
	r.must("cp", "-a", strings.TrimSpace(string(out)), r.dir)
	return r
}

// inside returns the words of a command that runs a program in the root. Its mounts end with it.
func (r *cleanRoot) inside(argv ...string) []string {
	const enter = `mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"`
	return append([]string{"unshare", "--mount", "sh", "-c", enter, r.dir}, argv...)
}

// has reports paths that are missing in the root. hasNot reports paths that exist.
func (r *cleanRoot) has(paths ...string) {
	r.Helper()
	for _, p := range paths {
		if _, err := os.Lstat(filepath.Join(r.dir, p)); err != nil {
			r.Error(err)
		}
	}
}

func (r *cleanRoot) hasNot(paths ...string) {
	r.Helper()
	for _, p := range paths {
		if _, err := os.Lstat(filepath.Join(r.dir, p)); err == nil {
			r.Errorf("%s is still there", p)
		}
	}
}

// change adds a line to a file of the root, as an administrator does.
func (r *cleanRoot) change(path, line string) {
	r.Helper()
	f, err := os.OpenFile(filepath.Join(r.dir, path), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		r.Fatal(err)
	}
	if _, err = f.WriteString(line + "\n"); err == nil {
		err = f.Close()
	}
	if err != nil {
		r.Fatal(err)
	}
}

// holds fails the test unless a file of the root contains a text.
func (r *cleanRoot) holds(path, text string) {
	r.Helper()
	if b, err := os.ReadFile(filepath.Join(r.dir, path)); err != nil || !strings.Contains(string(b), text) {
		r.Errorf("%s: %v, %q is not in it:\n%s", path, err, text, b)
	}
}

// installed checks the root after an installation of either kind.
func (r *cleanRoot) installed() {
	r.Helper()
	r.has("usr/bin/brine", "usr/bin/salt-master", "usr/bin/salt-minion", "usr/share/man/man1/brine-tree.1.gz",
		"usr/share/man/man1/salt-key.1.gz", "usr/share/bash-completion/completions/salt-key",
		"usr/lib/systemd/system/salt-master.service", "etc/salt/minion.d")
	if got := r.must(r.inside("salt-master", "--version")...); !strings.HasPrefix(got, "salt-master 3008") {
		r.Errorf("salt-master --version: %q", got)
	}
	if got := r.must(r.inside("stat", "-c", "%U %a", "/etc/salt/pki/master", "/var/cache/salt/master", "/var/log/salt",
		"/var/log/salt/master")...); got != "brine 700\nbrine 750\nroot 755\nbrine 640\n" {
		r.Errorf("owners and modes: %q", got)
	}
}

// TestDebs installs, uses, upgrades, removes and purges the Debian packages.
func TestDebs(t *testing.T) {
	r := newCleanRoot(t)
	files, newer := r.debs()
	dpkg := func(args ...string) { t.Helper(); r.must(r.inside(append([]string{"dpkg"}, args...)...)...) }

	dpkg(append([]string{"-i"}, files...)...)
	r.installed()
	r.serves()
	r.change("etc/salt/minion", "# changed here")
	dpkg(append([]string{"--force-confold", "-i"}, newer...)...)
	r.installed()
	r.holds("etc/salt/minion", "# changed here")
	r.holds("etc/salt/master", "# of the next version")
	r.has("etc/salt/pki/master/minions/edge")

	dpkg("-r", "brine-minion", "brine-master", "brine-common")
	r.hasNot("usr/bin/brine", "usr/bin/salt", "usr/lib/systemd/system/salt-minion.service")
	r.holds("etc/salt/minion", "# changed here")
	r.has("etc/salt/pki/master/minions/edge", "etc/salt/pki/minion/minion.pem")
	dpkg("-P", "brine-minion", "brine-master", "brine-common")
	r.hasNot("etc/salt/minion", "etc/salt/pki", "var/cache/salt", "var/log/salt/master", "usr/share/doc/brine-common")
}

// debs copies the Debian packages into the root. It also makes a next version of each, with another number and
// another default in each configuration. The paths are those in the root.
func (r *cleanRoot) debs() (files, newer []string) {
	r.Helper()
	for _, p := range parts {
		file := packageFile(r.T, p+"_*_amd64.deb")
		r.must("cp", file, filepath.Join(r.dir, "root"))
		files = append(files, "/root/"+filepath.Base(file))
		r.must("bash", "-e", "-c", `dpkg-deb -R "$1" "$0" && old=$(dpkg-deb -f "$1" Version)
			sed -i "s/^Version:.*/Version: 99/; s/(= $old)/(= 99)/" "$0/DEBIAN/control"
			for f in "$0"/etc/salt/m*; do [ ! -f "$f" ] || echo "# of the next version" >>"$f"; done
			dpkg-deb -Zgzip -z1 -b "$0" "$2" >/dev/null`, r.path("next-"+p), file, filepath.Join(r.dir, "root", p+".deb"))
		newer = append(newer, "/root/"+p+".deb")
	}
	return files, newer
}

// TestRPMs does the same with RPM, whose database is in the same root.
func TestRPMs(t *testing.T) {
	r := newCleanRoot(t)
	// --nodeps: the tools that the scripts call come from Debian packages
	rpm := func(args ...string) {
		t.Helper()
		r.must(append([]string{"rpm", "--root", r.dir, "--nodeps"}, args...)...)
	}
	var files []string
	for _, p := range parts {
		files = append(files, packageFile(t, p+"-*.x86_64.rpm"))
	}
	rpm(append([]string{"-i"}, files...)...)
	r.installed()
	r.serves()
	r.change("etc/salt/minion", "# changed here")
	rpm(append([]string{"-U", "--force"}, files...)...) // the same version again: its scripts run as in an upgrade
	r.installed()
	r.holds("etc/salt/minion", "# changed here")
	rpm("-e", "brine-minion", "brine-master", "brine-common")
	r.hasNot("usr/bin/brine", "usr/bin/salt", "usr/lib/systemd/system/salt-minion.service", "etc/salt/minion")
	r.holds("etc/salt/minion.rpmsave", "# changed here")
	r.has("etc/salt/pki/master/minions/edge", "etc/salt/pki/minion/minion.pem")
}
