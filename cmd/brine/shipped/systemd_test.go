//go:build shipped

package shipped

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var services = []string{"salt-master", "salt-minion", "salt-api"}

// stateOf are the folders below /var/cache/salt for the crash reports of daemons.
var stateOf = map[string]string{"salt-master": "master", "salt-minion": "minion", "salt-api": "master/api"}

// TestSystemd lets a real systemd start, watch, confine, upgrade and remove the services of the Debian
// packages.
func TestSystemd(t *testing.T) {
	m := newMachine(t)
	files, newer := m.debs()
	m.run(append([]string{"dpkg", "-i"}, files...)...)
	for _, unit := range services {
		m.shows(unit, "ActiveState", "inactive")
		m.shows(unit, "UnitFileState", "disabled")
	}
	m.write(filepath.Join(m.dir, "etc/salt/minion.d/test.conf"), "id: edge\nmaster: "+
		"127.0.0.1\nacceptance_wait_time: 1\nlog_level_logfile: info\n")
	m.write(filepath.Join(m.dir, "etc/salt/master.d/test.conf"), "interface: 127.0.0.1\nlog_level_logfile: info\n"+
		"external_auth: {auto: {ann: [test.ping]}}\nnetapi_enable_clients: [local]\nrest_cherrypy: {host: "+
		"127.0.0.1, port: 8000, disable_ssl: True}\n")
	m.run(append([]string{"systemctl", "enable", "--now"}, services...)...)
	m.joined()
	m.serves()

	m.confined()
	m.freeHand()
	m.reloads()
	for _, unit := range services {
		m.survives(unit)
	}
	for _, unit := range services {
		m.watched(unit)
	}
	m.refused()
	m.upgradesItself(newer)
	m.boots()
	m.stops()
	m.goes()
}

// joined accepts the minion's key.
func (m *machine) joined() {
	m.Helper()
	m.eventually("the key is accepted", func() error {
		_, err := m.in("salt-key", "-y", "-a", "edge")
		if gone := there(filepath.Join(m.dir, "etc/salt/pki/master/minions/edge")); gone != nil {
			return fmt.Errorf("not accepted: %v", err)
		}
		return nil
	})
	m.says("True", "test.ping")
	for _, unit := range services {
		m.shows(unit, "ActiveState", "active")
	}
}

// serves: a client of salt-api gets the minion's answer, and salt-api shows its actors.
func (m *machine) serves() {
	m.Helper()
	const body = `{"client": "local", "tgt": "*", "fun": "test.ping", "eauth": "auto", "username": "ann", "password": "x"}`
	request := fmt.Sprintf("POST /run HTTP/1.0\r\nContent-Type: application/json\r\nAccept: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	m.eventually("salt-api answers", func() error {
		out, err := m.in("bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/8000; printf %s "$0" >&3; cat <&3`, request)
		if err == nil && !strings.HasSuffix(out, `{"return": [{"edge": true}]}`) {
			err = fmt.Errorf("%q", out)
		}
		return err
	})
	if out := m.run("brine", "tree", "--api"); !strings.Contains(out, "EventHub") {
		m.Errorf("brine tree --api:\n%s", out)
	}
}

// confined: master and salt-api have their own user and no special rights. The master can write only to its own
// directories.
func (m *machine) confined() {
	m.Helper()
	for _, unit := range []string{"salt-master", "salt-api"} {
		status := m.run("cat", fmt.Sprintf("/proc/%d/status", m.child(unit)))
		for _, want := range []string{"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1",
			"Seccomp:\t2"} {
			if !strings.Contains(status, want+"\n") {
				m.Errorf("the status of %s has no %q:\n%s", unit, want, status)
			}
		}
		if user := m.run("stat", "-c", "%U", fmt.Sprintf("/proc/%d", m.child(unit))); user != "brine\n" {
			m.Errorf("%s is of the user %q", unit, user)
		}
	}
	enter := []string{"nsenter", "--target", strconv.Itoa(m.child("salt-master")), "--mount", "touch"}
	for _, path := range []string{"/usr/x", "/etc/salt/x", "/home/x", "/var/lib/x"} {
		// as root, so that only the mounts can refuse
		if _, err := m.in(append(enter, path)...); err == nil {
			m.Errorf("the master's mounts let write %s", path)
		}
	}
	for _, path := range []string{"/var/cache/salt/master/x", "/etc/salt/pki/master/x", "/var/log/salt/x",
		"/run/salt/master/x"} {
		m.run(append(enter, path)...)
	}
	// Its runners, wheel functions and its job store work in these directories.
	m.run("salt-run", "jobs.list_jobs")
	m.run("salt-run", "manage.up")
}

// freeHand: jobs may do everything, as root.
func (m *machine) freeHand() {
	m.Helper()
	for _, dir := range []string{"/etc", "/home", "/root", "/usr/local/bin", "/var/lib", "/tmp", "/boot"} {
		file := filepath.Join(dir, "by-a-job")
		m.says("root", "cmd.run", "id -un | tee "+file)
		m.has(file)
	}
	m.says("nobody", "cmd.run", "id -un", "runas=nobody")
	m.says("active", "cmd.run", "systemctl is-active salt-minion")
	if got, want := m.run("salt", "--out=newline_values_only", "edge", "pkg.version", "brine-minion"),
		m.run("dpkg-query", "-W", "-f", "${Version}\n", "brine-minion"); got != want {
		m.Errorf("pkg.version: %q, want %q", got, want)
	}
}

// reloads: the same processes reload the configuration.
func (m *machine) reloads() {
	m.Helper()
	for _, unit := range services {
		main, child := m.main(unit), m.child(unit)
		m.run("systemctl", "reload", unit)
		log := filepath.Join(m.dir, "var/log/salt", strings.TrimPrefix(unit, "salt-"))
		m.eventually(unit+" reads its files", func() error {
			if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b),
				"The configuration was read anew") {
				return fmt.Errorf("%s: %w\n%s", log, err, b)
			}
			return nil
		})
		if m.main(unit) != main || m.child(unit) != child {
			m.Errorf("%s has other processes after a reload", unit)
		}
	}
}

// survives: the parent replaces a dead working process. systemd replaces a dead parent.
func (m *machine) survives(unit string) {
	m.Helper()
	main, child := m.main(unit), m.child(unit)
	m.signal(child, syscall.SIGKILL)
	m.says("True", "test.ping")
	if m.main(unit) != main || m.child(unit) == child || m.show(unit, "NRestarts") != "0" {
		m.Errorf("%s: after kill -9 of the working process %d below %d: %s", unit, child, main,
			m.run("systemctl", "show", unit))
	}
	if text, want := m.show(unit, "StatusText"), fmt.Sprintf("Process %d, after 1 that died; the last one with exit "+
		"status -9", m.child(unit)); text != want {
		m.Errorf("the status of %s: %q, want %q", unit, text, want)
	}
	child = m.child(unit)
	m.signal(main, syscall.SIGKILL)
	m.shows(unit, "NRestarts", "1")
	m.shows(unit, "ActiveState", "active")
	m.says("True", "test.ping")
	m.serves()
	m.alone(unit, child)
}

// alone waits until the unit has only its main process and a child, and no longer the process before.
func (m *machine) alone(unit string, before int) {
	m.Helper()
	m.eventually(unit+" has only its own processes", func() error {
		now := m.processes(unit)
		if len(now) != 2 || slices.Contains(now, strconv.Itoa(before)) {
			return fmt.Errorf("%q, and %d was there before", now, before)
		}
		return nil
	})
}

// signal sends a signal to a process of the machine.
func (m *machine) signal(pid int, sig syscall.Signal) {
	m.Helper()
	m.run("sh", "-c", fmt.Sprintf("kill -%d %d", int(sig), pid))
}

// watched: the watchdog finds a hanging process, which writes its stacks and is replaced.
func (m *machine) watched(unit string) {
	m.Helper()
	dropIn := filepath.Join(m.dir, "etc/systemd/system", unit+".service.d/test.conf")
	m.write(dropIn, "[Service]\nWatchdogSec=4\n")
	m.run("systemctl", "daemon-reload")
	m.run("systemctl", "restart", unit)
	m.says("True", "test.ping")
	main, child := m.main(unit), m.child(unit)
	since := time.Now()
	m.signal(child, syscall.SIGSTOP)
	m.shows(unit, "NRestarts", "1")
	m.shows(unit, "ActiveState", "active")
	m.Logf("%s: another one %v after the old one stopped", unit, time.Since(since).Round(100*time.Millisecond))
	m.says("True", "test.ping")
	m.alone(unit, child)
	if m.main(unit) == main {
		m.Errorf("%s has the same main process", unit)
	}
	if out := m.run("journalctl", "--no-pager", "--unit", unit); !strings.Contains(out, "Watchdog timeout") {
		m.Errorf("systemd does not tell of the watchdog:\n%s", out)
	}
	if found, _ := filepath.Glob(filepath.Join(m.dir, "var/cache/salt", stateOf[unit], "crashes/*.txt")); len(
		found) != 1 {
		m.Errorf("reports of where %s hung: %q", unit, found)
	}
	if err := os.Remove(dropIn); err != nil {
		m.Fatal(err)
	}
	m.run("systemctl", "daemon-reload")
	m.run("systemctl", "restart", unit)
}

// refused: a daemon with a wrong configuration is not started again.
func (m *machine) refused() {
	m.Helper()
	conf := filepath.Join(m.dir, "etc/salt/minion.d/refused.conf")
	m.write(conf, "transport: tcp\n")
	if out, err := m.in("systemctl", "restart", "salt-minion"); err == nil {
		m.Errorf("a minion that speaks tcp starts: %s", out)
	}
	m.shows("salt-minion", "ActiveState", "failed")
	m.shows("salt-minion", "ExecMainStatus", "78")
	m.shows("salt-minion", "NRestarts", "0")
	if out, _ := m.in("systemctl", "status", "--no-pager", "--lines=20", "--full", "salt-minion"); !strings.Contains(
		out, "transport") {
		// exit code 3 of systemctl is expected
		m.Errorf("systemctl status does not name the option:\n%s", out)
	}
	if err := os.Remove(conf); err != nil {
		m.Fatal(err)
	}
	m.run("systemctl", "restart", "salt-minion")
	m.says("True", "test.ping")
}

// upgradesItself: one job restarts its own minion, and another upgrades all packages, including that of its
// minion. The job ends and has its return. All running daemons are restarted.
func (m *machine) upgradesItself(newer []string) {
	m.Helper()
	before := m.main("salt-minion")
	m.run("salt", "--async", "edge", "cmd.run", "systemctl restart salt-minion")
	m.replaced("salt-minion", before)

	was := map[string]int{}
	for _, unit := range services {
		was[unit] = m.main(unit)
	}
	out := m.run("salt", "--async", "edge", "cmd.retcode", "exec >/root/upgrade.log 2>&1; dpkg -i "+strings.Join(newer,
		" "))
	words := strings.Fields(out)
	m.eventually("the upgrade is answered", func() error {
		out, err := m.in("salt-run", "--out=json", "--out-indent=-1", "jobs.lookup_jid", words[len(words)-1])
		if err == nil && out != `{"edge": 0}`+"\n" {
			said, _ := os.ReadFile(filepath.Join(m.dir, "root/upgrade.log"))
			err = fmt.Errorf("%q\n%s", out, said)
		}
		return err
	})
	for _, p := range parts {
		if got := m.run("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", "brine-"+p); got != "installed 99" {
			m.Errorf("brine-%s: %s", p, got)
		}
	}
	for _, unit := range services {
		m.replaced(unit, was[unit])
		m.shows(unit, "UnitFileState", "enabled")
	}
	m.serves()
}

// replaced waits until a unit has another main process, and until the minion answers a job.
func (m *machine) replaced(unit string, before int) {
	m.Helper()
	m.eventually(unit+" is restarted", func() error {
		if now := m.show(unit, "MainPID"); now == strconv.Itoa(before) || now == "0" {
			return fmt.Errorf("main process %s", now)
		}
		return nil
	})
	m.says("True", "test.ping")
}

// boots: the machine shuts down in order, and the enabled services run after the next boot.
func (m *machine) boots() {
	m.Helper()
	_, _ = m.in("systemctl", "reboot") // the connection may be cut
	select {
	case <-m.boot.done:
	case <-time.After(patience):
		m.Fatal("the machine does not go down")
	}
	m.bootUp()
	m.says("True", "test.ping")
	m.serves()
}

// stops: each service ends by itself, in time and without an error.
func (m *machine) stops() {
	m.Helper()
	for _, unit := range services {
		since := time.Now()
		m.run("systemctl", "stop", unit)
		if took := time.Since(since); took > 30*time.Second {
			m.Errorf("%s took %v to stop", unit, took)
		}
		m.shows(unit, "ActiveState", "inactive")
		m.shows(unit, "Result", "success")
		if left := m.processes(unit); len(left) > 0 {
			m.Errorf("%s leaves %q", unit, left)
		}
		m.run("systemctl", "start", unit)
	}
	m.says("True", "test.ping")
	m.serves()
}

// goes: a removal stops and disables the service, even if a job of the removed minion does it. A purge leaves
// nothing.
func (m *machine) goes() {
	m.Helper()
	m.run("salt", "--async", "edge", "cmd.run", "exec >/root/removal.log 2>&1; dpkg -r brine-minion")
	m.eventually("the minion is removed", func() error {
		if got := m.run("dpkg-query", "-W", "-f", "${db:Status-Status}", "brine-minion"); got != "config-files" {
			said, _ := os.ReadFile(filepath.Join(m.dir, "root/removal.log"))
			return fmt.Errorf("%s\n%s", got, said)
		}
		return nil
	})
	m.shows("salt-minion", "ActiveState", "inactive")
	m.run("dpkg", "-r", "brine-master", "brine-common")
	for _, unit := range services {
		m.shows(unit, "ActiveState", "inactive")
		m.shows(unit, "LoadState", "not-found")
		if left := m.processes(unit); len(left) > 0 {
			m.Errorf("%s leaves %q", unit, left)
		}
		m.hasNot("etc/systemd/system/multi-user.target.wants/" + unit + ".service")
	}
	m.run("dpkg", "-P", "brine-minion", "brine-master", "brine-common")
	m.hasNot("etc/salt/pki", "var/cache/salt", "usr/bin/brine")
}
