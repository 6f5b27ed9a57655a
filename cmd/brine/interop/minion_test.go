//go:build interop

package interop

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBrineMinion lets a brine minion join a real master of each release.
func TestBrineMinion(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			s := newSite(t)
			s.configMaster("peer:\n  .*:\n    - test.*\nmine_interval: 60\n")
			s.configMinion("b1", "grains:\n  role: web\nmine_functions:\n  test.ping: []\n")
			s.startMaster(release)
			s.startMinion(brine, "b1")
			s.awaitKey("b1", "minions_pre")
			s.mustRun(release, "salt-key", "-y", "-a", "b1")
			s.awaitPing(release, 40*time.Second, "b1")
			minionJobs(t, s, release)
			minionLife(t, s, release)
		})
	}
}

// minionJobs runs jobs of all kinds on the one minion b1.
func minionJobs(t *testing.T, s *site, driver string) {
	b1 := []string{"b1"}
	s.expect(driver, "hello", b1, "*", "cmd.run", "echo hello")
	for _, target := range [][]string{
		{"b*"}, {"-E", "b[0-9]"}, {"-L", "b1"}, {"-G", "role:web"}, {"-P", "role:w.b"}, {"-C", "G@role:web and b*"}, {"-S", "127.0.0.1"},
	} {
		s.expect(driver, true, b1, append(target, "test.ping")...)
	}
	if got := s.returns(driver, "*", "test.ping,cmd.run", ",", "echo two"); asMap(got["b1"])["cmd.run"] != "two" || asMap(got["b1"])["test.ping"] != true {
		t.Errorf("two functions: %v", got)
	}
	r := s.run(driver, "salt", "*", "cmd.run", "exit 3")
	if r.code != 1 {
		t.Errorf("a failing command: exit %d, want 1\n%s", r.code, r.stdout)
	}
	r = s.mustRun(driver, "salt", "--async", "*", "test.arg_clean", "x", "k=1")
	jid := lastWord(r.stdout)
	s.eventually(20*time.Second, "the return of the async job", func() error {
		return contains(s.run(driver, "salt-run", "--out=json", "jobs.lookup_jid", jid).stdout, `"b1"`)
	})
	s.expect(driver, true, b1, "*", "mine.send", "test.ping")
	if got := s.returns(driver, "*", "mine.get", "*", "test.ping"); asMap(got["b1"])["b1"] != true {
		t.Errorf("mine.get: %v", got)
	}
	if got := s.returns(driver, "*", "publish.publish", "b1", "test.echo", "pub"); asMap(got["b1"])["b1"] != "pub" {
		t.Errorf("publish.publish: %v", got)
	}
	if r := s.run(driver, "salt", "*", "test.nosuch"); !strings.Contains(r.stdout, "'test.nosuch' is not available.") || r.code != 1 {
		t.Errorf("unknown function: exit %d\n%s", r.code, r.stdout)
	}
}

// minionLife restarts both sides, deletes the key and rotates the session.
func minionLife(t *testing.T, s *site, release string) {
	s.minions["b1"].stop(syscall.SIGTERM)
	s.startMinion(brine, "b1")
	s.awaitPing(release, 30*time.Second, "b1")

	s.master.stop(syscall.SIGTERM)
	s.startMaster(release)
	s.awaitPing(release, 40*time.Second, "b1")

	s.mustRun(release, "salt-key", "-y", "-d", "b1") // rotates the shared key within loop_interval
	s.minions["b1"].stop(syscall.SIGTERM)            // nobody tells a minion that its key is gone: it finds out at its next sign-in
	s.startMinion(brine, "b1")
	s.awaitKey("b1", "minions_pre")
	s.mustRun(release, "salt-key", "-y", "-a", "b1")
	s.awaitPing(release, 60*time.Second, "b1")
	if s.minions["b1"].ended() {
		t.Error("the minion ended")
	}
}
