//go:build interop

package interop

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// commandLines are the releases whose command line drives a brine master on the same machine.
var commandLines = []string{"3008", "3007", "3006"}

// framing is what ipc_framing has to be for the tools of a release.
func framing(release string) string {
	if release == "3006" {
		return "ipc_framing: length\n"
	}
	return ""
}

// TestSaltToolsDriveBrine runs salt, salt-key and salt-run of three releases against a brine master.
func TestSaltToolsDriveBrine(t *testing.T) {
	for _, release := range commandLines {
		t.Run(release, func(t *testing.T) { driveMaster(t, brine, brine, release, framing(release)) })
	}
}

// TestBrineToolsDriveSalt runs brine's salt, salt-key and salt-run against real masters.
func TestBrineToolsDriveSalt(t *testing.T) {
	for _, release := range commandLines {
		t.Run(release, func(t *testing.T) { driveMaster(t, release, release, brine, framing(release)) })
	}
}

// driveMaster takes one master with one minion through what its operator types.
func driveMaster(t *testing.T, master, minion, tools, extra string) {
	s := newSite(t)
	s.configMaster("nodegroups:\n  all: 'm*'\n" + extra)
	s.configMinion("m1", "")
	s.startMaster(master)
	s.startMinion(minion, "m1")
	s.awaitKey("m1", "minions_pre")
	if r := s.mustRun(tools, "salt-key", "-L"); !strings.Contains(r.stdout, "Unaccepted Keys:\nm1") {
		t.Errorf("salt-key -L:\n%s", r.stdout)
	}
	s.mustRun(tools, "salt-key", "-y", "-a", "m1")
	s.awaitPing(tools, 60*time.Second, "m1")
	one := []string{"m1"}
	s.expect(tools, "hello", one, "*", "cmd.run", "echo hello")
	s.expect(tools, true, one, "-N", "all", "test.ping")
	s.expect(tools, true, one, "-b", "1", "-L", "m1", "test.ping")
	if r := s.run(tools, "salt", "m1", "test.exception", "boom"); r.code != 1 || !strings.Contains(r.stdout, "Exception: boom") {
		t.Errorf("an exception: exit %d\n%s", r.code, r.stdout)
	}
	if r := s.run(tools, "salt", "nobody", "test.ping"); r.code != 2 || !strings.Contains(r.stdout, "No minions matched the target.") {
		t.Errorf("nobody: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	jid := lastWord(s.mustRun(tools, "salt", "--async", "m1", "test.echo", "later").stdout)
	finder := tools
	if master == brine {
		finder = brine // the returns are in brine's own job store
	}
	s.eventually(30*time.Second, "the job in the job cache", func() error {
		return contains(s.run(finder, "salt-run", "jobs.lookup_jid", jid).stdout, "later")
	})
	if r := s.mustRun(tools, "salt-run", "--out=json", "manage.up"); !hasID(r.stdout, "m1") {
		t.Errorf("manage.up:\n%s", r.stdout)
	}
	s.mustRun(tools, "salt-key", "-y", "-d", "m1")
	if got := s.keyState("m1"); got != "" {
		t.Errorf("after the deletion m1 is in %q", got)
	}
}

func hasID(text, id string) bool {
	var ids []string
	start := strings.IndexByte(text, '[')
	if start < 0 || json.Unmarshal([]byte(strings.TrimSpace(text[start:])), &ids) != nil {
		return false
	}
	for _, got := range ids {
		if got == id {
			return true
		}
	}
	return false
}
