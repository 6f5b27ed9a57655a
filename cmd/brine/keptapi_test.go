package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/cmd/session"
)

// keptAPI is a salt-api with a parent, without a master.
type keptAPI struct {
	*apiSite
	at, dir string
	told    *net.UnixConn // receives the parent's messages to a service manager
	cmd     *exec.Cmd     // the parent
}

func newKeptAPI(t *testing.T) *keptAPI {
	t.Helper()
	root, err := os.MkdirTemp("", "bk") // short, because sockets live in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	k := &keptAPI{apiSite: &apiSite{t: t, root: root}, dir: filepath.Join(root, "etc"),
		at: net.JoinHostPort("127.0.0.1", freePort(t))}
	notify := filepath.Join(root, "notify")
	if k.told, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: notify}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.told.Close() })
	t.Setenv("NOTIFY_SOCKET", notify)
	_, port, _ := net.SplitHostPort(k.at)
	k.write("etc/master", fmt.Sprintf("root_dir: %s\nuser: %s\nrest_cherrypy: {host: 127.0.0.1, port: %s, "+
		"disable_ssl: True}\n", root, session.RunningUser(), port))
	return k
}

// begin starts salt-api, waits until it answers, and returns the pid of the child.
func (k *keptAPI) begin() int {
	k.t.Helper()
	k.cmd = k.start("salt-api", k.dir)
	return k.serving(0)
}

// serving waits until a new child is ready and answers requests. Only after READY=1 does the parent know that
// the child runs, and restart it when it dies.
func (k *keptAPI) serving(before int) (pid int) {
	k.t.Helper()
	if err := k.told.SetReadDeadline(time.Now().Add(fleetPatience)); err != nil {
		k.t.Fatal(err)
	}
	for word := ""; !strings.HasPrefix(word, "READY=1"); {
		var b [200]byte
		n, err := k.told.Read(b[:])
		if err != nil {
			k.t.Fatalf("no child is ready: %v", err)
		}
		word = string(b[:n])
	}
	once := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	k.await("an answer of salt-api", func() error {
		if pid = childOf(k.cmd.Process.Pid); pid == 0 || pid == before {
			return fmt.Errorf("child %d", pid)
		}
		res, err := once.Get("http://" + k.at)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s", res.Status)
		}
		return nil
	})
	return pid
}

func (k *keptAPI) signal(pid int, sig syscall.Signal) {
	k.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		k.t.Fatal(err)
	}
}

// gone waits for the end of a process.
func (k *keptAPI) gone(pid int) {
	k.t.Helper()
	k.await(fmt.Sprintf("the end of process %d", pid), func() error {
		if runs(pid) {
			return fmt.Errorf("it runs")
		}
		return nil
	})
}

// ended waits for the end of the parent and of the child. It returns the parent's exit code.
func (k *keptAPI) ended(child int) int {
	k.t.Helper()
	k.gone(k.cmd.Process.Pid)
	_ = k.cmd.Wait()
	k.gone(child)
	return k.cmd.ProcessState.ExitCode()
}

// TestKeptAPI: if the process of salt-api is killed, a new one starts, as often as that happens. If the parent
// is killed, or the process hangs, no process is left, and a new salt-api can start. A signal to either process
// stops both.
func TestKeptAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	k := newKeptAPI(t)
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%[1]d/children", os.Getpid())); err != nil {
		t.Skip("the kernel does not list children")
	}
	child := k.begin()
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGKILL} {
		k.signal(child, sig)
		before := child
		child = k.serving(before)
		raw, err := os.ReadFile(k.dir + ".console")
		if err != nil || !strings.Contains(string(raw), fmt.Sprintf("Process SaltAPIKeepAlive (%d) died with exit "+
			"status ", before)) {
			t.Errorf("nobody tells of the death of %d: %v\n%s", before, err, raw)
		}
	}
	k.signal(k.cmd.Process.Pid, syscall.SIGKILL)
	k.ended(child)

	child = k.begin() // a service manager that gets no report ends the parent with SIGABRT
	k.signal(child, syscall.SIGSTOP)
	k.signal(k.cmd.Process.Pid, syscall.SIGABRT)
	if code := k.ended(child); code == 0 {
		t.Error("one that hung has ended well")
	}

	for _, to := range []string{"parent", "child"} {
		child = k.begin()
		pid := child
		if to == "parent" {
			pid = k.cmd.Process.Pid
		}
		k.signal(pid, syscall.SIGTERM)
		if code := k.ended(child); code != 0 {
			t.Errorf("SIGTERM to the %s: exit code %d", to, code)
		}
		if _, err := os.Stat(filepath.Join(k.root, "var/run/salt-api.pid")); !os.IsNotExist(err) {
			t.Errorf("SIGTERM to the %s leaves the pid file: %v", to, err)
		}
	}
}
