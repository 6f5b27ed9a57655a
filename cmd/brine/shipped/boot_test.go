//go:build shipped

package shipped

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// machine is a separate Debian, booted by a real systemd as process 1 of its own process namespace. Network
// (only loopback), mounts, host name and control groups are separate as well, so all changes end with it. It
// cannot change the clock, modules and variables of the shared kernel.
type machine struct {
	*cleanRoot
	group string // its control group, of version 2
	boot  *daemon
	init  string // pid of its process 1 on this machine
}

// enterGroup puts process 1 into its control group. pivot puts it into its root, with the file systems that
// systemd needs.
const (
	enterGroup = `mount -t cgroup2 cgroup2 "$0/mnt"; mkdir -p "$0/mnt/$1"; echo 0 >"$0/mnt/$1/cgroup.procs"; umount "$0/mnt"
		exec unshare --cgroup sh -ec "$2" "$0"`
	pivot = `mount --bind "$0" "$0"; cd "$0"
		mount -t proc proc proc; mount --bind proc/sys proc/sys; mount -o remount,bind,ro proc/sys
		mount -t sysfs -o ro sysfs sys; mount -t cgroup2 cgroup2 sys/fs/cgroup
		mount -t tmpfs -o mode=755 tmpfs run; mount -t tmpfs -o mode=755 tmpfs dev
		mkdir dev/pts dev/shm; mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
		ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd
		for n in null zero full random urandom tty; do : >dev/$n; mount --bind /dev/$n dev/$n; done
		pivot_root . .; umount -l .
		exec env -i container=brine PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv \
			--bounding-set=-sys_time,-sys_module,-sys_rawio,-syslog,-wake_alarm,-block_suspend /lib/systemd/systemd`
	removeGroup = `mount -t cgroup2 cgroup2 "$0"; find "$0/$1" -depth -type d -exec rmdir {} + || [ ! -e "$0/$1" ]`
)

// newMachine boots a machine without brine.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{cleanRoot: newCleanRoot(t, "systemd"), group: fmt.Sprintf("brine-shipped-%d-%s", os.Getpid(),
		strings.ToLower(t.Name()))}
	at := m.path("group")
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the group is empty when the last process has ended
		m.eventually("the group is removed", func() error {
			_, err := m.try("unshare", "--mount", "sh", "-ec", removeGroup, at, m.group)
			return err
		})
	})
	m.bootUp()
	return m
}

// bootUp boots the machine, which must not be running.
func (m *machine) bootUp() {
	m.Helper()
	m.boot = m.start("boot", "unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child", "sh",
		"-ec", enterGroup, m.dir, m.group, pivot)
	pid := m.boot.cmd.Process.Pid
	m.Cleanup(func() {
		if m.Failed() {
			out, err := m.in("journalctl", "--no-pager", "--lines=200", "--output=short-monotonic")
			m.Logf("--- journal (%v)\n%s", err, out)
		}
	})
	m.eventually("systemd has booted", func() error {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if err != nil {
			return err
		}
		m.init = strings.TrimSpace(string(b))
		if name, err := os.ReadFile(filepath.Join("/proc", m.init, "comm")); err != nil || string(name) != "systemd\n" {
			return fmt.Errorf("process 1 is %q: %v", name, err)
		}
		out, err := m.in("systemctl", "is-system-running", "--wait")
		if err != nil || out != "running\n" {
			failed, _ := m.in("systemctl", "--failed", "--no-pager")
			return fmt.Errorf("%w\n%s", err, failed)
		}
		return nil
	})
}

// in runs a program in the machine.
func (m *machine) in(argv ...string) (string, error) {
	m.Helper()
	return m.try(append([]string{"nsenter", "--target", m.init, "--mount", "--uts", "--ipc", "--net", "--pid",
		"--cgroup", "--"}, argv...)...)
}

// run runs a program in the machine. An error fails the test.
func (m *machine) run(argv ...string) string {
	m.Helper()
	out, err := m.in(argv...)
	if err != nil {
		m.Fatal(err)
	}
	return out
}

// show returns a property of a unit from systemd.
func (m *machine) show(unit, property string) string {
	m.Helper()
	return strings.TrimSpace(m.run("systemctl", "show", "--value", "--property", property, unit))
}

// shows waits until a unit's property has the expected value.
func (m *machine) shows(unit, property, want string) {
	m.Helper()
	m.eventually(unit+" has "+property+" "+want, func() error {
		if got := m.show(unit, property); got != want {
			return fmt.Errorf("%s=%s", property, got)
		}
		return nil
	})
}

// main is the main process of a unit, by its pid in the machine.
func (m *machine) main(unit string) int {
	m.Helper()
	pid, err := strconv.Atoi(m.show(unit, "MainPID"))
	if err != nil || pid == 0 {
		m.Fatalf("%s has no main process: %v", unit, err)
	}
	return pid
}

// child is the working process below the main process of a unit.
func (m *machine) child(unit string) int {
	m.Helper()
	main := m.main(unit)
	child, err := strconv.Atoi(strings.TrimSpace(m.run("cat", fmt.Sprintf("/proc/%d/task/%d/children", main, main))))
	if err != nil {
		m.Fatal(err)
	}
	return child
}

// processes lists the processes in a unit's control group.
func (m *machine) processes(unit string) []string {
	m.Helper()
	out, err := m.in("cat", "/sys/fs/cgroup/system.slice/"+unit+".service/cgroup.procs")
	if err != nil {
		return nil // without a process there is no group
	}
	return strings.Fields(out)
}

// says waits until the minion answers a job with the expected text.
func (m *machine) says(want string, job ...string) {
	m.Helper()
	m.eventually(fmt.Sprintf("%q", job), func() error {
		out, err := m.in(append([]string{"salt", "--out=newline_values_only", "-t", "10", "edge"}, job...)...)
		if err == nil && out != want+"\n" {
			err = fmt.Errorf("%q, want %q", out, want)
		}
		return err
	})
}
