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
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

type chrootArgs struct {
	Root string `arg:"root"`
	Cmd  any    `arg:"cmd"`
	where
	PythonShell any `arg:"python_shell=True"`
	Binds       any `arg:"binds=None"`
	made
	Encoding    string `arg:"output_encoding=None"`
	Loglevel    any    `arg:"output_loglevel=quiet"`
	LogCallback bool   `arg:"log_callback=None"`
	HideOutput  bool   `arg:"hide_output=False"`
	Timeout     any    `arg:"timeout=None"`
	kept
	BG bool `arg:"bg=False"`
	rules
	KW *payload.Map `arg:"**kwargs"`
}

// runChroot runs a command in another root directory, with the kernel's file systems and the wanted directories
// mounted there as long as it runs. Processes left inside are ended before anything is unmounted.
func runChroot(c *loader.Call, a chrootArgs) (any, error) {
	o := common(a.KW)
	o.where, o.PythonShell, o.made, o.kept, o.rules, o.BG = a.where, a.PythonShell, a.made, a.kept, a.rules, a.BG
	o.told = told{a.Encoding, a.Loglevel, a.LogCallback, a.HideOutput, a.Timeout}
	mounted := mountAll(c, a.Root, a.Binds)
	o.Cmd = chrootLine(a.Cmd, a.RunAs, a.Group, a.Root)
	o.RunAs, o.Group = "", "" // they are those of the chroot: chroot(8) looks them up inside
	r, err := perform(c, o, false)
	endProcesses(c, a.Root)
	unmountAll(c, mounted)
	if err != nil {
		return nil, err
	}
	return hidden(o, r.Map), nil
}

func chrootLine(command any, runas, group, root string) string {
	shell := "/bin/sh"
	if fi, err := os.Stat(filepath.Join(root, "bin/bash")); err == nil && fi.Mode().IsRegular() {
		shell = "/bin/bash"
	}
	text := python.Str(command)
	if list, ok := command.([]any); ok {
		words := make([]string, len(list))
		for i := range list {
			words[i] = python.Str(list[i])
		}
		text = strings.Join(words, " ")
	}
	spec := ""
	if runas != "" {
		spec = "--userspec " + runas + ":" + group
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
		path := python.Str(b)
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
