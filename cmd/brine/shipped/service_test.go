//go:build shipped

package shipped

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// serves runs the installed master and minion as their units start them, except for features that only systemd
// has, and sends a job as root. The master runs as user brine.
func (r *cleanRoot) serves() {
	r.Helper()
	r.write(filepath.Join(r.dir, "etc/salt/master.d/test.conf"), fmt.Sprintf("interface: 127.0.0.1\npublish_port: "+
		"%d\nret_port: %d\n", r.pub, r.ret))
	r.write(filepath.Join(r.dir, "etc/salt/minion.d/test.conf"),
		fmt.Sprintf("id: edge\nmaster: 127.0.0.1\npublish_port: %d\nmaster_port: %d\nacceptance_wait_time: 1\n", r.pub,
			r.ret))
	// RuntimeDirectory= of the unit
	r.must(r.inside("install", "-d", "-o", "brine", "-g", "brine", "/run/salt/master")...)
	as := []string{"setpriv", "--reuid=brine", "--regid=brine", "--clear-groups", "--no-new-privs",
		"--bounding-set=-all"}
	master := r.start("master", r.inside(append(as, strings.Fields(r.unit("salt-master", "ExecStart"))...)...)...)
	r.listening()
	minion := r.start("minion", r.inside(strings.Fields(r.unit("salt-minion", "ExecStart"))...)...)
	r.eventually("the key is accepted", func() error {
		_, err := r.try(r.inside("salt-key", "-y", "-a", "edge")...)
		if _, gone := os.Stat(filepath.Join(r.dir, "etc/salt/pki/master/minions/edge")); gone != nil {
			return fmt.Errorf("not accepted: %v", err)
		}
		return nil
	})
	r.eventually("a job is answered", func() error {
		out, err := r.try(r.inside("salt", "--out=txt", "-t", "10", "edge", "cmd.run", "id -un")...)
		if err == nil && out != "edge: root\n" {
			err = fmt.Errorf("%q", out)
		}
		return err
	})
	minion.stop(r.site)
	master.stop(r.site)
}

// unit returns a setting of an installed unit.
func (r *cleanRoot) unit(name, key string) string {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, "usr/lib/systemd/system", name+".service"))
	if err != nil {
		r.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, key+"="); ok {
			return strings.TrimSpace(value)
		}
	}
	r.Fatalf("%s has no %s", name, key)
	return ""
}

// TestUnits lets systemd check the units: systemd must understand every line, and must rate their exposure low
// enough.
func TestUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip(err)
	}
	r := newCleanRoot(t, "systemd")
	for _, p := range parts {
		r.must("dpkg-deb", "-x", packageFile(t, p+"_*_amd64.deb"), r.dir)
	}
	for name, most := range map[string]string{"salt-master.service": "20", "salt-minion.service": "100"} {
		// 100 means no protection at all
		if out, err := exec.Command("systemd-analyze", "verify", "--root="+r.dir, "--man=no",
			name).CombinedOutput(); err != nil || strings.Contains(string(out), name) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if out, err := exec.Command("systemd-analyze", "security", "--root="+r.dir, "--offline=true", "--no-pager",
			"--threshold="+most, name).CombinedOutput(); err != nil {
			t.Errorf("%s is more open than %s of 100: %v\n%s", name, most, err, out)
		}
	}
}
