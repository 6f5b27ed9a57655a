package cmdmod

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/modules/text/shlex"
)

// runChroot runs a command in another root directory, with the kernel's file systems and the wanted directories
// mounted there as long as it runs. Processes left inside are ended before anything is unmounted.
func runChroot(c *loader.Call, a loader.Args) (any, error) {
	o := options{args: a}
	root := o.text("root")
	mounted := mountAll(c, root, o.get("binds"))
	line := chrootLine(o, root)
	// The user and group are those of the chroot: chroot(8) looks them up inside.
	run := o.with(map[string]any{"cmd": line, "runas": nil, "group": nil})
	r, err := perform(c, run, false)
	endProcesses(c, root)
	unmountAll(c, mounted)
	if err != nil {
		return nil, err
	}
	return hidden(o, r.Map), nil
}

func chrootLine(o options, root string) string {
	shell := "/bin/sh"
	if fi, err := os.Stat(filepath.Join(root, "bin/bash")); err == nil && fi.Mode().IsRegular() {
		shell = "/bin/bash"
	}
	text := pytext.Str(o.get("cmd"))
	if list, ok := o.get("cmd").([]any); ok {
		words := make([]string, len(list))
		for i := range list {
			words[i] = pytext.Str(list[i])
		}
		text = strings.Join(words, " ")
	}
	spec := ""
	if u := o.text("runas"); u != "" {
		spec = "--userspec " + u + ":" + o.text("group")
	}
	return fmt.Sprintf("chroot %s %s %s -c %s", spec, root, shell, shlex.Quote(text))
}

// mountAll mounts /dev, /proc, /sys and the binds below root and lists what it mounted. What does not mount is
// logged and left out, as in the reference.
func mountAll(c *loader.Call, root string, binds any) []string {
	type mount struct {
		source, target, kind string
		flags                uintptr
	}
	all := []mount{{"devtmpfs", "dev", "devtmpfs", 0}, {"proc", "proc", "proc", 0}, {"sysfs", "sys", "sysfs", 0}}
	list, _ := binds.([]any)
	for _, b := range list {
		path := pytext.Str(b)
		all = append(all, mount{path, path, "", unix.MS_BIND})
	}
	var done []string
	for _, m := range all {
		target := filepath.Join(root, m.target)
		if err := unix.Mount(m.source, target, m.kind, m.flags, ""); err != nil {
			c.Log(slog.LevelError, fmt.Sprintf("mount %s: %s", target, err))
			continue
		}
		done = append(done, target)
	}
	return done
}

func unmountAll(c *loader.Call, mounted []string) {
	for i := len(mounted) - 1; i >= 0; i-- {
		if err := unix.Unmount(mounted[i], 0); err != nil {
			c.Log(slog.LevelError, fmt.Sprintf("umount %s: %s", mounted[i], err))
		}
	}
}

// Attempts to end the processes of a chroot: the first ones by TERM, the rest by KILL.
const (
	endAttempts = 6
	endByTerm   = 3
	endPause    = 50 * time.Millisecond
)

func endProcesses(c *loader.Call, root string) {
	for i := range endAttempts {
		pids := chrootPIDs(root)
		if len(pids) == 0 {
			return
		}
		sig := unix.SIGTERM
		if i >= endByTerm {
			sig = unix.SIGKILL
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, sig) // gone in between is as good
		}
		pause(c, endPause)
	}
	if len(chrootPIDs(root)) > 0 {
		c.Log(slog.LevelError, "Processes running in chroot could not be killed, filesystem will remain mounted")
	}
}

func pause(c *loader.Call, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.Ctx.Done():
	}
}

// chrootPIDs lists the processes whose root directory is root or below it.
func chrootPIDs(root string) []int {
	real, err := filepath.EvalSymlinks(root)
	if err != nil || real == "/" {
		return nil
	}
	links, _ := filepath.Glob("/proc/[0-9]*/root")
	var out []int
	for _, l := range links {
		at, err := os.Readlink(l)
		if err != nil || at != real && !strings.HasPrefix(at, real+"/") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(l))); err == nil {
			out = append(out, pid)
		}
	}
	return out
}
