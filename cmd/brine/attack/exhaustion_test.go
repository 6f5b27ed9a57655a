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

// startLimited starts the master again under a limit of the shell, such as "ulimit -n 256".
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

// greeting is what a peer of ZMTP 3 says first; who says it is let in.
var greeting = "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL" + strings.Repeat("\x00", 16+1+31)

// crowd makes connections from another address of this machine and keeps them until the end of the test.
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
			break // it takes no more
		}
		all = append(all, c)
		_, _ = c.Write([]byte(hello)) // who is refused need not hear why
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
	for _, w := range words[12:14] { // utime and stime, counted behind the name
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100)
}

// idles makes sure that a daemon rests, though it may have had to do with what came just before.
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

// TestDescriptors: strangers connect until there are no more descriptors, at both ports. Whoever else is there is
// served meanwhile, an operator is answered, the daemon rests, and says once what is the matter.
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

// TestLocalDescriptors: a tool that leaves its connections open takes the room of tools at that socket, and nothing
// else.
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

// memoryGroup makes a control group with a limit of memory, of version 1 or 2; it is skipped where that is not allowed.
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

// leaveGroup removes a control group; what is in it ends first.
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

// newGroupSite is a site whose master is in a control group of limit bytes: 128 MiB, or eight times that under the race
// detector, which takes several times as much.
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

// TestMemoryLimit: a master in a control group of 128 MB gets half a gigabyte of requests, and messages that are larger
// than one may be in it. It sheds, and lives on.
func TestMemoryLimit(t *testing.T) {
	s, limit := newGroupSite(t)
	started := s.master.cmd.Process.Pid
	ask := func(p *stranger, limit time.Duration, text string) {
		// what becomes of it is of no account
		_, _ = p.askWithin(limit, payload.M("cmd", "publish", "tgt", text, "fun", "test.ping", "arg", []any{text}))
	}
	much, tooMuch := strings.Repeat("x", 3<<20), strings.Repeat("y", 20<<20)
	var busy sync.WaitGroup
	for range 4 { // each half-received message is libzmq's, which bounds their size and not their number
		p := s.stranger()
		busy.Go(func() {
			for range 20 {
				ask(p, 5*time.Second, much)
			}
		})
	}
	for range 2 {
		p := s.stranger()
		// its connection ends, and is made again until the time is over
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
