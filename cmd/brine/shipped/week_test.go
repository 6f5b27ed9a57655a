//go:build shipped

package shipped

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	edgeMemory = 64 << 20
	edgeJobs   = 40
)

// TestWeekOffline is a small node whose master is away for a week. It has 64 MB of memory for itself and its
// jobs, and a disk with few writes per second. It also dies meanwhile. Every return reaches the master.
func TestWeekOffline(t *testing.T) {
	own := targets[0].file(t)
	s := newSite(t)
	s.tool = func(name string) []string { return []string{own, name} }
	s.configure()
	group := newGroup(s)
	group.slowDisk(s)
	startMinion := func() *daemon {
		return s.start("minion", group.inside(own, "salt-minion", "-c", s.path("e/etc"), "-l", "info")...)
	}
	master, minion := s.startMaster(), startMinion()
	s.accept()
	s.answers("true", "test.ping")

	gate := s.path("gate")
	var jids []string
	for i := range edgeJobs {
		out, err := s.master("salt", "--async", "edge", "cmd.run", fmt.Sprintf("touch %s.%d; while [ ! -e %s ]; do "+
			"sleep 0.5; done; echo late%02d", gate, i, gate, i))
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(out)
		jids = append(jids, words[len(words)-1])
	}
	s.eventually("all jobs run", func() error {
		if begun, _ := filepath.Glob(gate + ".*"); len(begun) != edgeJobs {
			return fmt.Errorf("%d of %d", len(begun), edgeJobs)
		}
		return nil
	})
	master.kill()
	s.write(gate, "")
	s.eventually("all returns wait on disk", func() error {
		for i := range edgeJobs {
			if err := s.holds(fmt.Sprintf("late%02d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	minion.kill()
	s.age(8 * 24 * time.Hour) // more than a week, and less than return_spool_max_age
	minion = startMinion()
	s.eventually("the minion runs again", func() error { return there(s.path("e/var/run/salt/minion")) })

	master = s.startMaster()
	for i, jid := range jids {
		s.eventually("return "+jid, func() error {
			out, err := s.master("salt-run", "--out=json", "jobs.lookup_jid", jid)
			if want := fmt.Sprintf("late%02d", i); err == nil && !strings.Contains(out, want) {
				err = fmt.Errorf("%q, want %s", out, want)
			}
			return err
		})
	}
	s.answers("true", "test.ping")
	t.Logf("with %d late returns: %s; the group: %s", edgeJobs, residentSet(s.childOf(minion)), group.report(s))
	minion.stop(s)
	master.stop(s)
}

// age makes every record of the minion's journal older, as if time had passed.
func (s *site) age(by time.Duration) {
	s.Helper()
	const head, kind = 8, 1 // length and checksum; the kind of the record: actors/minion/journal/record.go
	path := s.path("e/var/cache/salt/minion/jobs.journal")
	b, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	records := 0
	for rest := b; len(rest) > head; records++ {
		n := int(binary.BigEndian.Uint32(rest))
		if n == 0 || n > len(rest)-head {
			break // unused space at the end
		}
		body := rest[head : head+n]
		at := binary.BigEndian.Uint64(body[kind:])
		binary.BigEndian.PutUint64(body[kind:], at-uint64(by.Microseconds()))
		binary.BigEndian.PutUint32(rest[4:], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		rest = rest[head+n:]
	}
	if records < edgeJobs {
		s.Fatalf("the journal has %d records", records)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		s.Fatal(err)
	}
}

// residentSet is the current and the largest resident set size of a process.
func residentSet(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	var found []string
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "VmHWM") {
			found = append(found, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(found, ", ")
}

// group is a control group, with the directories of its controllers.
type group struct {
	memory, disk string // disk is "" if disks cannot be slowed
	old          bool   // version 1, in which each controller has its own tree
}

// newGroup makes a group with the memory limit edgeMemory. On machines with both versions mounted, a new
// directory may be a plain folder in which the kernel makes no files. Such a directory is no group.
func newGroup(s *site) *group {
	s.Helper()
	if os.Getuid() != 0 {
		s.Skip("control groups are made by root")
	}
	name := fmt.Sprintf("brine-shipped-%d", os.Getpid())
	for _, g := range []*group{
		{memory: "/sys/fs/cgroup/memory/" + name, disk: "/sys/fs/cgroup/blkio/" + name, old: true},
		{memory: "/sys/fs/cgroup/" + name, disk: "/sys/fs/cgroup/" + name},
	} {
		for _, dir := range []string{g.memory, g.disk} {
			if err := os.Mkdir(dir, 0o755); err == nil {
				s.Cleanup(func() { // its processes end before, because they are registered later
					s.eventually("the group is empty", func() error { return os.Remove(dir) })
				})
			}
		}
		limit := map[bool]string{true: "memory.limit_in_bytes", false: "memory.max"}[g.old]
		if there(filepath.Join(g.memory, limit)) != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(g.memory, limit), fmt.Append(nil, edgeMemory), 0); err != nil {
			s.Fatal(err)
		}
		return g
	}
	s.Skip("no control group with a limit of memory can be made here")
	return nil
}

// slowDisk limits the group to twenty writes per second, if that is possible.
func (g *group) slowDisk(s *site) {
	s.Helper()
	var st unix.Stat_t
	if err := unix.Stat(s.root, &st); err != nil {
		s.Fatal(err)
	}
	file, rule := "io.max", "%d:%d wiops=20"
	if g.old {
		file, rule = "blkio.throttle.write_iops_device", "%d:%d 20"
	}
	dev := uint64(st.Dev)
	if err := os.WriteFile(filepath.Join(g.disk, file), fmt.Appendf(nil, rule, unix.Major(dev), unix.Minor(dev)),
		0); err != nil {
		s.Logf("the disk is as quick as it is: %v", err)
		g.disk = ""
	}
}

// inside returns the words of a command that runs a program in the group from its first instruction on.
func (g *group) inside(argv ...string) []string {
	join := `echo $$ >"$0/cgroup.procs" && `
	if g.old && g.disk != "" {
		join += `echo $$ >"` + g.disk + `/cgroup.procs" && `
	}
	return append([]string{"sh", "-c", join + `exec "$@"`, g.memory}, argv...)
}

// report returns the group's peak memory. It fails the test if the kernel has killed a process for lack of
// memory.
func (g *group) report(s *site) string {
	s.Helper()
	most, events := "memory.peak", "memory.events"
	if g.old {
		most, events = "memory.max_usage_in_bytes", "memory.oom_control"
	}
	b, err := os.ReadFile(filepath.Join(g.memory, events))
	if err != nil || !strings.Contains(string(b), "oom_kill 0\n") {
		s.Errorf("%s: %v\n%s", events, err, b)
	}
	b, _ = os.ReadFile(filepath.Join(g.memory, most))
	return "at most " + strings.TrimSpace(string(b)) + " bytes, files that it read and wrote included"
}
