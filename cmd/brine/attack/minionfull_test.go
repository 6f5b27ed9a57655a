package attack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// marks are jobs of the honest minion. Each adds a line to the same file.
type marks struct {
	s    *site
	ear  *ear
	file string
	jids []string
}

func (s *site) marks() *marks {
	return &marks{s: s, ear: s.listen(), file: s.path("marks")}
}

// publish publishes a further job. besides runs after its line.
func (m *marks) publish(besides string) {
	m.s.t.Helper()
	c := m.s.client()
	defer c.Close()
	pub, err := c.Publish(m.s.t.Context(), client.Job{Tgt: honest, Fun: "cmd.run",
		Arg: []any{fmt.Sprintf("echo %d >> %s%s", len(m.jids), m.file, besides)}})
	if err != nil {
		m.s.t.Fatal(err)
	}
	m.jids = append(m.jids, pub.JID)
}

// publishUntil publishes until a daemon logs a text once more. The daemon checks its resources at a job, at
// most every 200 ms, and pauses for 5 s after it could not start a process.
func (m *marks) publishUntil(d *daemon, text string) {
	m.s.t.Helper()
	before := strings.Count(m.s.logOf(d), text)
	m.s.eventually(fmt.Sprintf("%q in the log of %s", text, d.name), func() error {
		m.publish("")
		if strings.Count(m.s.logOf(d), text) == before {
			return errors.New("it is not there")
		}
		return nil
	})
}

// settled waits for the returns of all jobs. No job has run twice. The return of a job that did not run says
// why.
func (m *marks) settled() {
	m.s.t.Helper()
	rets := map[string]*payload.Map{}
	m.s.eventually("returns", func() error {
		for _, h := range m.ear.all() {
			if strings.HasSuffix(h.tag, "/ret/"+honest) {
				rets[h.data.Str("jid")] = h.data
			}
		}
		for i, jid := range m.jids {
			if rets[jid] == nil {
				return fmt.Errorf("none of job %d of %d, %s", i, len(m.jids), jid)
			}
		}
		return nil
	})
	text, err := os.ReadFile(m.file)
	if err != nil {
		m.s.t.Fatal(err)
	}
	ran := map[string]int{}
	for _, line := range strings.Fields(string(text)) {
		ran[line]++
	}
	reasons := 0
	for i, jid := range m.jids {
		code, _ := rets[jid].Int("retcode")
		why := rets[jid].Str("return")
		switch n := ran[strconv.Itoa(i)]; {
		case n > 1:
			m.s.t.Errorf("job %d ran %d times", i, n)
		case n == 0 && (code == 0 || why == ""):
			m.s.t.Errorf("job %d did not run and does not say why: %v", i, rets[jid])
		case n == 0:
			reasons++
		}
	}
	m.s.t.Logf("%d jobs, %d of them with a reason why they did not run", len(m.jids), reasons)
}

// descriptors is the number of open descriptors of a daemon.
func (d *daemon) descriptors(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", d.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestMinionDescriptors takes descriptors away from a running minion: all but its own reserve, or all. Jobs
// wait, and run when there are descriptors again.
func TestMinionDescriptors(t *testing.T) {
	for _, extra := range []string{"", "multiprocessing: True\n"} {
		for _, left := range []int{50, 0} {
			t.Run(fmt.Sprintf("%d bytes of options, %d left", len(extra), left), func(t *testing.T) {
				s := newBareSite(t, "")
				d := s.startMinion(honest, extra)
				s.good()
				m := s.marks()
				pid := d.cmd.Process.Pid
				var before unix.Rlimit
				if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					few := unix.Rlimit{Cur: uint64(d.descriptors(t) + left), Max: before.Max}
					if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
						t.Fatal(err)
					}
					m.publishUntil(d, "Insufficient FD headroom (Open: ")
					for range 5 {
						m.publish("")
					}
					if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &before, nil); err != nil {
						t.Fatal(err)
					}
					m.settled()
					s.good()
				}
				if !d.running() || d.cmd.Process.Pid != pid {
					t.Error("the minion has ended")
				}
			})
		}
	}
}

// processGroup makes a control group that counts processes. It skips the test if that is not allowed. limit
// sets the largest number of processes; 0 means any.
func (s *site) processGroup() (join string, limit func(n int), current func() int) {
	s.t.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		s.t.Skip("no control groups here")
	}
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "pids" && parts[1] != "" {
			continue
		}
		dir := filepath.Join("/sys/fs/cgroup", parts[1], parts[2], "brine-attack-"+filepath.Base(s.root))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		s.t.Cleanup(func() { s.leaveGroup(dir) })
		if _, err := os.Stat(filepath.Join(dir, "pids.max")); err != nil {
			_ = os.Remove(dir)
			continue
		}
		limit = func(n int) {
			text := "max"
			if n > 0 {
				text = strconv.Itoa(n)
			}
			if err := os.WriteFile(filepath.Join(dir, "pids.max"), []byte(text), 0o644); err != nil {
				s.t.Fatal(err)
			}
		}
		current = func() int {
			text, err := os.ReadFile(filepath.Join(dir, "pids.current"))
			if err != nil {
				s.t.Fatal(err)
			}
			n, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				s.t.Fatal(err)
			}
			return n
		}
		return filepath.Join(dir, "cgroup.procs"), limit, current
	}
	s.t.Skip("no control group that counts processes can be made here")
	return "", nil, nil
}

// TestMinionProcesses fills the table of processes around a minion, so that it can start no program. Jobs with
// a separate process wait for one. Other jobs report why they failed.
func TestMinionProcesses(t *testing.T) {
	for extra, refusal := range map[string]string{
		"":                        "Resource temporarily unavailable",
		"multiprocessing: True\n": "the process of a job cannot be started now; the job is queued",
	} {
		t.Run(fmt.Sprintf("%d bytes of options", len(extra)), func(t *testing.T) {
			s := newBareSite(t, "")
			join, limit, current := s.processGroup()
			d := s.startLimitedMinion("echo $$ > "+join, extra)
			t.Cleanup(d.kill) // before its group is removed
			s.good()
			m := s.marks()
			for range 20 { // concurrently, so that all threads of the daemon exist then
				m.publish("; sleep 1")
			}
			m.settled()
			for range 2 {
				limit(current())
				m.publishUntil(d, refusal)
				for range 5 {
					m.publish("")
				}
				limit(0)
				m.settled()
				s.good()
			}
			if !d.running() {
				t.Error("the minion has ended")
			}
		})
	}
}
