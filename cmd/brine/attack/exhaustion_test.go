package attack

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/cmd/tooltest"
	"brine/wire/payload"
)

// startLimited restarts the master with a limit of the shell, such as "ulimit -n 256".
func (s *site) startLimited(limit string) {
	s.t.Helper()
	s.master.stop()
	s.master = s.start("limited", "/bin/sh", "-c", limit+`; exec "$0" "$@"`, filepath.Join(links, "salt-master"), "-c",
		s.path("etc/m"), "--disable-keepalive", "-l", "info")
	s.eventually("the limited master", func() error {
		_, err := s.stranger().askWithin(second(), payload.M("cmd", payload.CmdPing))
		return err
	})
}

// greeting is the first message of a ZMTP 3 peer. A peer that sends it is accepted.
var greeting = "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL" + strings.Repeat("\x00", 16+1+31)

// crowd opens connections from another address of this machine and keeps them until the end of the test.
func (s *site) crowd(n int, network, target, hello string) (leave func()) {
	s.t.Helper()
	var all []net.Conn
	leave = func() {
		for _, c := range all {
			_ = c.Close()
		}
		all = nil
	}
	s.t.Cleanup(leave)
	d := net.Dialer{Timeout: time.Second}
	if network == "tcp" {
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}
	}
	for range n {
		c, err := d.Dial(network, target)
		if err != nil {
			break // the target accepts no more
		}
		all = append(all, c)
		_, _ = c.Write([]byte(hello)) // a refused connection may be closed already
	}
	return leave
}

// cpu is the processor time that a daemon has used.
func (d *daemon) cpu(t testing.TB) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(b[strings.LastIndexByte(string(b), ')'):]))
	var ticks int64
	for _, w := range words[12:14] { // utime and stime, counted after the name
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100)
}

// idles checks that a daemon is at rest. It may still be busy for a moment.
func (s *site) idles(d *daemon) {
	s.t.Helper()
	s.eventually("rest of "+d.name, func() error {
		before := d.cpu(s.t)
		<-time.After(time.Second)
		if used := d.cpu(s.t) - before; used > 300*time.Millisecond {
			return fmt.Errorf("it used %v of a second", used)
		}
		return nil
	})
}

// TestDescriptors: strangers connect to both ports until no descriptors are left. Other clients are served
// meanwhile, an operator gets answers, and the daemon is at rest and logs the reason once.
func TestDescriptors(t *testing.T) {
	for _, hello := range []string{"", greeting} {
		t.Run(fmt.Sprintf("%d bytes", len(hello)), func(t *testing.T) {
			s := newBareSite(t, "")
			s.startLimited("ulimit -n 256")
			s.startMinion(honest, "")
			for range 3 {
				var leave []func()
				for _, port := range []int{s.pub, s.ret} {
					leave = append(leave, s.crowd(400, "tcp", fmt.Sprintf("127.0.0.1:%d", port), hello))
				}
				s.idles(s.master)
				s.good()
				if r := s.tool("brine", "tree"); r.code != 0 || !strings.Contains(r.stdout, "ReqServer") {
					t.Errorf("brine tree: %d, %s%s", r.code, r.stdout, r.stderr)
				}
				for _, end := range leave {
					end()
				}
				s.good()
			}
			log := s.logOf(s.master)
			if n := strings.Count(log, "as many connections as it may"); n < 2 || n > 20 {
				t.Errorf("said %d times that a port is full", n)
			}
			if n := strings.Count(log, "too many open files"); n > 3 {
				t.Errorf("said %d times that there are no descriptors", n)
			}
		})
	}
}

// TestLocalDescriptors: a tool that leaves its connections open uses up the places for tools on that socket,
// and nothing else.
func TestLocalDescriptors(t *testing.T) {
	s := newBareSite(t, "")
	s.startLimited("ulimit -n 256")
	s.startMinion(honest, "")
	for _, name := range []string{"master_event_pull.ipc", "master_event_pub.ipc"} {
		leave := s.crowd(200, "unix", s.path("m/var/run/salt/master/"+name), "")
		s.idles(s.master)
		if _, err := s.stranger().askWithin(patience, payload.M("cmd", payload.CmdPing)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r := s.tool("brine", "tree"); r.code != 0 {
			t.Errorf("%s: brine tree: %s", name, r.stderr)
		}
		leave()
		s.good()
	}
	if n := strings.Count(s.logOf(s.master), "too many connections"); n == 0 || n > 4 {
		t.Errorf("said %d times that a socket is full", n)
	}
}

// memoryGroup makes a control group with a memory limit, version 1 or 2. It skips the test if that is not
// allowed.
func (s *site) memoryGroup(limit int64) (join string) {
	s.t.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		s.t.Skip("no control groups here")
	}
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "memory" && parts[1] != "" {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if parts[1] == "memory" {
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		dir := filepath.Join(root, parts[2], "brine-attack-"+filepath.Base(s.root))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		s.t.Cleanup(func() { s.leaveGroup(dir) })
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil || os.WriteFile(filepath.Join(dir, file),
			[]byte(strconv.FormatInt(limit, 10)), 0o644) != nil {
			_ = os.Remove(dir)
			continue
		}
		return filepath.Join(dir, "cgroup.procs")
	}
	s.t.Skip("no control group with a limit of memory can be made here")
	return ""
}

// leaveGroup removes a control group after its processes have ended.
func (s *site) leaveGroup(dir string) {
	s.t.Helper()
	if s.master.running() {
		s.master.kill()
	}
	s.eventually("the end of the control group", func() error {
		if err := os.Remove(dir); !os.IsNotExist(err) {
			return err
		}
		return nil
	})
}

// newGroupSite is a site whose master is in a control group of limit bytes: 128 MiB, or eight times that under
// the race detector, which needs several times as much.
func newGroupSite(t *testing.T) (s *site, limit int64) {
	t.Helper()
	s, limit = newBareSite(t, ""), 128<<20
	if tooltest.Race {
		limit *= 8
	}
	procs := s.memoryGroup(limit)
	s.startLimited("echo $$ > " + procs)
	s.startMinion(honest, "")
	s.said(s.master, fmt.Sprintf("The memory limit of this control group is %d MiB", limit>>20))
	return s, limit
}

// TestMemoryLimit: a master in a control group of 128 MB gets half a gigabyte of requests, and messages larger
// than its memory. It drops requests, and survives.
func TestMemoryLimit(t *testing.T) {
	s, limit := newGroupSite(t)
	started := s.master.cmd.Process.Pid
	ask := func(p *stranger, limit time.Duration, text string) {
		// the answer does not matter
		_, _ = p.askWithin(limit, payload.M("cmd", "publish", "tgt", text, "fun", "test.ping", "arg", []any{text}))
	}
	much, tooMuch := strings.Repeat("x", 3<<20), strings.Repeat("y", 20<<20)
	var busy sync.WaitGroup
	for range 4 { // libzmq holds each half-received message; it limits their size, but not their number
		p := s.stranger()
		busy.Go(func() {
			for range 20 {
				ask(p, 5*time.Second, much)
			}
		})
	}
	for range 2 {
		p := s.stranger()
		// the master ends the connection, and ask repeats it until the time is over
		busy.Go(func() { ask(p, 2*time.Second, tooMuch) })
	}
	busy.Wait()
	if !s.master.running() || s.master.cmd.Process.Pid != started {
		t.Fatalf("the master ended: %s", s.logOf(s.master))
	}
	s.good()
	if used, err := s.master.rss(); err != nil || used > limit {
		t.Errorf("it takes %d MiB, %v", used>>20, err)
	}
}
