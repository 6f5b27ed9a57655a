//go:build interop

package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestBrineMinionProcesses: a brine minion that runs jobs in separate processes, with a parent, joins a real
// master. The test runs jobs of all kinds, finds and kills a job, and kills the minion's process during a job.
func TestBrineMinionProcesses(t *testing.T) {
	const release = reference
	onlyWith(t, release)
	t.Parallel()
	f := newFleet(t, release, release, map[string]string{"m1": brine}, variant{"processes", "auto_accept: True\n",
		"multiprocessing: True\n"})
	s := f.site
	s.startMaster(release)
	m1 := s.start("brine-minion-m1", toolPath(t, brine, "salt-minion"), "-c", s.minionDir("m1"), "-l", "info")
	s.minions["m1"] = m1
	s.awaitPing("m1")
	f.jobs()
	f.targets()
	f.mineAndPublish()

	jid := lastWord(s.mustRun(release, "salt", "--async", "m1", "test.sleep", "600").stdout)
	pid := 0
	s.eventually(patience, "the job in the eyes of a salt-call of Salt", func() error {
		r := s.runIn(s.minionDir("m1"), release, "salt-call", "--local", "--out=json", "saltutil.find_job", jid)
		_, rest, _ := strings.Cut(r.stdout, `"pid":`)
		_, err := fmt.Sscan(strings.TrimRight(strings.Fields(rest + " x")[0], ","), &pid)
		return err
	})
	if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); !strings.Contains(string(line),
		"ProcessPayload(jid="+jid+")") {
		t.Errorf("process %d is %q", pid, line)
	}
	s.expect(release, fmt.Sprintf("Signal 9 sent to job %s at pid %d", jid, pid), []string{"m1"}, "m1",
		"saltutil.kill_job", jid)
	s.lookup(release, jid, "The job was ended by signal 9 (killed)")

	jid = lastWord(s.mustRun(release, "salt", "--async", "m1", "test.sleep", "600").stdout)
	s.eventually(patience, "the job", func() error {
		return contains(s.run(release, "salt", "--out=json", "m1", "saltutil.find_job", jid).stdout, jid)
	})
	raw, err := os.ReadFile(filepath.Join(s.minionRoot("m1"), "var/run/salt-minion.pid"))
	child, convErr := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || convErr != nil || syscall.Kill(child, syscall.SIGKILL) != nil {
		t.Fatal(err, convErr)
	}
	s.lookup(release, jid, "The minion's process ended while the job was running: signal 9 (killed)")
	s.awaitPing("m1")
	m1.stop()
}

// lookup waits for the return of a job.
func (s *site) lookup(kind, jid, want string) {
	s.t.Helper()
	s.eventually(patience, "the return of "+jid, func() error {
		return contains(s.run(kind, "salt-run", "--out=json", "jobs.lookup_jid", jid).stdout, want)
	})
}
