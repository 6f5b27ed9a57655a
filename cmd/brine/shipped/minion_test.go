//go:build shipped

package shipped

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestMinion runs the binary of each target as a minion, of a brine master with the binary for this machine,
// and of a real Salt master.
func TestMinion(t *testing.T) {
	for _, g := range targets {
		t.Run(g.name, func(t *testing.T) {
			own := targets[0].file(t)
			life(t, g, func(tool string) []string { return []string{own, tool} })
		})
	}
	t.Run("armv7 of Salt", func(t *testing.T) {
		dir := saltDir(t)
		life(t, targets[2], func(tool string) []string { return []string{filepath.Join(dir, tool)} })
	})
}

// saltDir is the folder of a real Salt's tools.
func saltDir(t *testing.T) string {
	t.Helper()
	cache := os.Getenv("BRINE_SALT_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(base, "brine", "salt")
	}
	if _, err := os.Stat(filepath.Join(cache, "3008", ".complete")); err != nil {
		t.Fatalf("%v (run .ci/salt-peers 3008)", err)
	}
	return filepath.Join(cache, "3008", "bin")
}

// life tests a minion of one target.
func life(t *testing.T, g target, tool func(string) []string) {
	s := newSite(t)
	s.tool = tool
	s.configure()
	startMinion := func() *daemon {
		return s.start("minion", g.argv(t, "salt-minion", "-c", s.path("e/etc"), "-l", "info")...)
	}
	master, minion := s.startMaster(), startMinion()
	s.accept()

	s.answers("true", "test.ping")
	s.answers(`"`+g.machine+`"`, "grains.get", "cpuarch")
	s.answers(`"hello"`, "cmd.run", "echo hello")
	s.answers(`"nobody"`, "cmd.run", "whoami", "runas=nobody") // the lookup works without glibc, too
	s.answers(`12345678901`, "test.echo", "12345678901")       // too large for an int of 32 bits

	minion.stop(s)
	minion = startMinion()
	s.answers("true", "test.ping")

	// The parent starts another process if the minion's own is killed.
	child := s.childOf(minion)
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.answers("true", "test.ping")
	if now := s.childOf(minion); now == child {
		t.Errorf("process %d is still there", now)
	}

	// A return that is made while the master is away waits on disk, and survives the death of the minion.
	gate := s.path("gate")
	out, err := s.master("salt", "--async", "edge", "cmd.run", "touch "+gate+".begun; while [ ! -e "+gate+
		" ]; do sleep 0.1; done; echo late")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(out)
	jid := words[len(words)-1]
	s.eventually("the job runs", func() error { return there(gate + ".begun") })
	master.kill()
	s.write(gate, "")
	s.eventually("the return waits on disk", func() error { return s.holds("late") })
	minion.kill()
	master, minion = s.startMaster(), startMinion()
	s.eventually("the late return", func() error {
		out, err := s.master("salt-run", "--out=json", "jobs.lookup_jid", jid)
		if err == nil && !strings.Contains(out, `"late"`) {
			err = fmt.Errorf("%s: %s", jid, out)
		}
		return err
	})
	minion.stop(s)
	master.stop(s)
}

// configure writes the files of the master and of its minion edge.
func (s *site) configure() {
	s.Helper()
	s.write(s.path("m/etc/master"), fmt.Sprintf("root_dir: %s\ninterface: 127.0.0.1\npublish_port: %d\nret_port: "+
		"%d\nuser: root\nworker_threads: 3\n",
		s.path("m"), s.pub, s.ret))
	// The lookup of the master's name works without glibc.
	s.write(s.path("e/etc/minion"), fmt.Sprintf(`root_dir: %s
master: localhost
ipv6: False
publish_port: %d
master_port: %d
id: edge
user: root
acceptance_wait_time: 1
random_reauth_delay: 1
recon_default: 100
recon_max: 400
return_retry_timer: 1
return_retry_timer_max: 2
`, s.path("e"), s.pub, s.ret))
}

func (s *site) startMaster() *daemon {
	s.Helper()
	d := s.start("master", append(s.tool("salt-master"), "-c", s.path("m/etc"), "-l", "info")...)
	s.listening()
	return d
}

// accept waits for the minion's key and accepts it.
func (s *site) accept() {
	s.Helper()
	s.eventually("the key is there", func() error {
		_, err := s.master("salt-key", "-y", "-a", "edge")
		if _, gone := os.Stat(s.path("m/etc/salt/pki/master/minions/edge")); gone != nil {
			return fmt.Errorf("not accepted: %v", err)
		}
		return nil
	})
}

// answers waits until the minion answers a job with this JSON.
func (s *site) answers(want string, args ...string) {
	s.Helper()
	s.eventually(fmt.Sprintf("%q", args), func() error {
		out, err := s.master("salt", append([]string{"--out=json", "--static", "-t", "10", "edge"}, args...)...)
		if err != nil {
			return err
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(out), &all); err != nil || string(all["edge"]) != want {
			return fmt.Errorf("%q, want %s", out, want)
		}
		return nil
	})
}

// holds returns an error unless a file in the minion's cache contains this text.
func (s *site) holds(text string) error {
	var found bool
	err := filepath.WalkDir(s.path("e/var/cache"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // files may disappear meanwhile
		}
		b, _ := os.ReadFile(path)
		found = found || strings.Contains(string(b), "\xa6return"+string([]byte{0xa0 | byte(len(text))})+text)
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("no file with the return %q", text)
	}
	return err
}

// childOf is the process that a minion's parent has started.
func (s *site) childOf(d *daemon) int {
	s.Helper()
	pid := d.cmd.Process.Pid
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		s.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		s.Fatalf("the children of %d: %v", pid, err)
	}
	return child
}

func there(path string) error {
	_, err := os.Stat(path)
	return err
}
