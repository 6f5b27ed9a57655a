//go:build shipped

package shipped

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// engine is podman with images, containers and volumes below the site's directory. Processes, mounts and
// network (only loopback) are separate, so all changes end with it. It has no way to a registry.
type engine struct {
	*site
	init string // pid of its first process on this machine
}

// ownSystem gives the engine separate file systems for its traces, and control groups of version 2 alone.
const ownSystem = `mount -t proc proc /proc; umount -R /sys/fs/cgroup; mount -t sysfs -o ro sysfs /sys; mount -t cgroup2 cgroup2 /sys/fs/cgroup
	mount -t tmpfs tmpfs /run; ip link set lo up; : >"$0"; exec sleep infinity`

func newEngine(t *testing.T) *engine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("containers are made in namespaces of their own, which only root may make here")
	}
	for _, name := range []string{"podman", "crun", "busybox"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("%v (run ./task dist)", err)
		}
	}
	e := &engine{site: newSite(t)}
	d := e.start("engine", "unshare", "--mount", "--ipc", "--net", "--pid", "--fork", "--kill-child", "sh", "-ec",
		ownSystem, e.path("begun"))
	e.eventually("the engine has its system", func() error { return there(e.path("begun")) })
	e.init = fmt.Sprint(e.childOf(d))
	return e
}

// podman runs a podman command and returns its output.
func (e *engine) podman(args ...string) (string, error) {
	enter := []string{"sh", "-c", `exec "$0" "$@" 2>&1`, "nsenter", "--target", e.init, "--mount", "--ipc", "--net",
		"--pid", "--", "podman", "--runtime", "crun", "--storage-driver", "vfs", "--root", e.path("images"),
		"--runroot", e.path("run"), "--tmpdir", e.path("tmp"), "--cgroup-manager", "cgroupfs", "--events-backend",
		"none"}
	return e.try(append(enter, args...)...)
}

// does is podman. An error fails the test.
func (e *engine) does(args ...string) string {
	e.Helper()
	out, err := e.podman(args...)
	if err != nil {
		e.Fatal(err)
	}
	return out
}

// runs starts a container. Its volumes are in a folder of the same name.
func (e *engine) runs(name string, args ...string) {
	e.Helper()
	common := []string{"run", "--detach", "--name", name, "--log-driver", "k8s-file", "--cgroups", "disabled",
		"--network", "host", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"}
	for dir, at := range map[string]string{"etc": "/etc/salt", "cache": "/var/cache/salt", "log": "/var/log/salt",
		"run": "/var/run"} {
		if err := os.MkdirAll(e.path(name, dir), 0o755); err != nil {
			e.Fatal(err)
		}
		common = append(common, "--volume", e.path(name, dir)+":"+at)
	}
	e.does(append(common, args...)...)
}

// answered waits until the minion edge answers a job of the master's container.
func (e *engine) answered(want string, job ...string) {
	e.Helper()
	e.eventually(fmt.Sprintf("%q", job), func() error {
		out, err := e.podman(append([]string{"exec", "master", "brine", "salt", "--out=newline_values_only", "-t", "10",
			"edge"}, job...)...)
		if err == nil && out != want+"\n" {
			err = fmt.Errorf("%q, want %q", out, want)
		}
		return err
	})
}

// TestImage builds the image of packaging/Dockerfile. It uses it for a master and, with an added shell, for a
// minion. Each daemon is process 1 of its container.
func TestImage(t *testing.T) {
	e := newEngine(t)
	tree := filepath.Dir(distDir(t))
	e.does("build", "--isolation", "chroot", "--pull-never", "--build-arg", "TARGET=amd64", "-f",
		filepath.Join(tree, "packaging/Dockerfile"), "-t", "brine", tree)
	e.write(e.path("shell/Dockerfile"), "FROM localhost/brine\nCOPY sh /bin/sh\nENV PATH=/usr/bin:/bin\n")
	e.must("sh", "-c", `cp "$(command -v busybox)" "$0"`, e.path("shell/sh"))
	e.does("build", "--isolation", "chroot", "--pull-never", "-t", "brine-shell", e.path("shell"))

	// The master runs as a user that the image does not know. It has no special rights, and can write only to
	// its volumes.
	e.write(e.path("master/etc/master"), "interface: 127.0.0.1\n")
	for _, dir := range []string{"cache", "log", "run"} {
		e.must("mkdir", e.path("master", dir))
	}
	e.must("chown", "-R", "1234:1234", e.path("master"))
	e.runs("master", "--user", "1234:1234", "--cap-drop", "all", "--read-only", "localhost/brine")
	e.write(e.path("edge/etc/minion"), "id: edge\nmaster: 127.0.0.1\nacceptance_wait_time: 1\n")
	e.runs("edge", "localhost/brine-shell", "salt-minion")
	e.eventually("the key is accepted", func() error {
		_, err := e.podman("exec", "master", "brine", "salt-key", "-y", "-a", "edge")
		if gone := there(e.path("master/etc/pki/master/minions/edge")); gone != nil {
			return fmt.Errorf("not accepted: %v", err)
		}
		return nil
	})
	e.answered("True", "test.ping")
	e.answered("0", "cmd.run", "id -u")
	e.reaps()
	e.lives()
}

// reaps: process 1 reaps the processes that a job leaves behind at its end.
func (e *engine) reaps() {
	e.Helper()
	e.answered("begun", "cmd.run", "for i in 1 2 3 4 5; do (sleep 1 &) ; done; echo begun")
	e.eventually("nothing is left but the parent and the minion", func() error {
		out := e.does("exec", "edge", "sh", "-c",
			`for p in /proc/[0-9]*; do read -r line <$p/stat && echo "$line"; done`)
		var left []string
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); f[1] != "(sh)" || f[2] == "Z" { // the shell that asks
				left = append(left, strings.Join(f[:4], " "))
			}
		}
		if len(left) != 2 || !strings.HasPrefix(left[0], "1 (salt-keepalive)") {
			return fmt.Errorf("%q", left)
		}
		return nil
	})
}

// lives: the parent replaces its process after a death. The engine's request to stop ends the container in
// order. The next container finds the data in the volumes.
func (e *engine) lives() {
	e.Helper()
	e.does("exec", "edge", "sh", "-c", "kill -9 $(cat /proc/1/task/1/children)")
	e.answered("True", "test.ping")
	for _, name := range []string{"edge", "master"} {
		since := time.Now()
		e.does("stop", "--time", "30", name)
		if took := time.Since(since); took > 20*time.Second {
			e.Errorf("%s took %v to stop", name, took)
		}
		if code := e.does("inspect", "--format", "{{.State.ExitCode}}", name); code != "0\n" {
			e.Errorf("%s ends with %s", name, code)
		}
		if out, err := e.podman("logs", name); err != nil || !strings.Contains(out, "received a SIGTERM. Exited.") {
			e.Errorf("%s says %q, %v", name, out, err)
		}
		e.does("rm", name)
	}
	e.runs("master", "--user", "1234:1234", "--cap-drop", "all", "--read-only", "localhost/brine")
	e.runs("edge", "localhost/brine-shell", "salt-minion")
	e.answered("True", "test.ping")
}
