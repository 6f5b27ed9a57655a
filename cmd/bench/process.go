package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a daemon in its own process group.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when the first process of the group has ended
}

// startProcess starts a program. Its output goes to a file.
func startProcess(name, log string, env []string, path string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer out.Close()
	p := &process{name: name, cmd: exec.Command(path, args...), log: log, done: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // cmd.ProcessState holds the result
		close(p.done)
	}()
	return p, nil
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// err returns an error with the end of the log if a process is not running that should be.
func (p *process) err() error {
	if !p.ended() {
		return nil
	}
	b, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Errorf("%s ended: %v", p.name, p.cmd.ProcessState)
	}
	b = bytes.TrimSpace(b)
	return fmt.Errorf("%s ended: %v: %s", p.name, p.cmd.ProcessState, b[max(0, len(b)-600):])
}

// stop sends SIGTERM to the first process, as a service manager does, and returns the time until it ended.
// After half a minute it kills the rest of the group.
func (p *process) stop() (time.Duration, error) {
	start := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, errors.Join(fmt.Errorf("stop %s: %w", p.name, err), p.kill())
	}
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		return 0, errors.Join(fmt.Errorf("%s did not end in 30 s", p.name), p.kill())
	}
	took := time.Since(start)
	return took, p.kill()
}

// kill ends the whole group and waits for it.
func (p *process) kill() error {
	err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
	if err != nil && !errors.Is(err, syscall.ESRCH) { // no process is left
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	return nil
}

// members lists the processes of the group.
func (p *process) members() []int {
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var pids []int
	for _, path := range entries {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		// pid (name) state ppid pgrp ...: the name may contain anything, so count from its end.
		rest := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(rest) < 3 || rest[2] != strconv.Itoa(p.cmd.Process.Pid) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// memory returns the sums of the resident and the proportional set sizes of the group, in MB.
func (p *process) memory() (rss, pss float64) {
	for _, pid := range p.members() {
		rss += kilobytes(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:") / 1024
		pss += kilobytes(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:") / 1024
	}
	return rss, pss
}

// peak adds the largest resident set sizes of the processes since their start, in MB (VmHWM,
// proc_pid_status(5)).
func (p *process) peak() (rss float64) {
	for _, pid := range p.members() {
		rss += kilobytes(fmt.Sprintf("/proc/%d/status", pid), "VmHWM:") / 1024
	}
	return rss
}

// forgetPeak resets the peak, if the kernel permits it (proc_pid_clear_refs(5)).
func (p *process) forgetPeak() {
	for _, pid := range p.members() {
		// on an error the peak in the row is too high
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
	}
}

// kilobytes reads a line "NAME 123 kB" of a file. It returns 0 without such a line.
func kilobytes(path, name string) float64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			v, _ := strconv.ParseFloat(f[1], 64) // the kernel writes numbers
			return v
		}
	}
	return 0
}

// ownCPU is the processor time of this process so far.
func ownCPU() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// busyCPU is the processor time that everything on this machine has used so far, or 0 if the system does not
// count it.
func busyCPU() (sum time.Duration) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(b), "\n")
	const tick, idle, wait = 10 * time.Millisecond, 4, 5 // USER_HZ is 100 wherever Linux runs; proc_stat(5)
	for i, f := range strings.Fields(line) {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && i != idle && i != wait && i < 9 {
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

// runTool runs a command to its end and returns its duration and its output.
func runTool(ctx context.Context, env []string, path string, args ...string) (time.Duration, string, error) {
	return runLong(ctx, time.Minute, env, path, args...)
}

// runLong is runTool with another time limit.
func runLong(ctx context.Context, limit time.Duration, env []string, path string, args ...string) (time.Duration,
	string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out, errOut bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, &out, &errOut, time.Second
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		text := strings.TrimSpace(errOut.String() + out.String())
		return took, out.String(), fmt.Errorf("%s %s: %w: %.300s", filepath.Base(path), strings.Join(args, " "), err,
			text)
	}
	return took, out.String(), nil
}

// raiseOpenFiles raises the limit of open files as far as this user may, because an emulated fleet needs many.
func raiseOpenFiles() {
	var lim syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim) == nil && lim.Cur < lim.Max {
		lim.Cur = lim.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim) // a small fleet works without it
	}
}

func numCPU() int { return runtime.NumCPU() }

// profilePatience bounds the wait for the file of a profile.
const profilePatience = 30 * time.Second

// profile starts or ends a CPU profile of a brine daemon. It waits until the daemon has opened or closed the
// file.
func (p *process) profile(on bool) {
	_ = p.cmd.Process.Signal(syscall.SIGUSR2) // the end of the process is noticed below
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(profilePatience)
	for p.profiling() != on {
		select {
		case <-tick.C:
		case <-p.done:
			return
		case <-limit:
			return
		}
	}
}

// profiling tells whether the file of a profile is open. It is open until all data is written.
func (p *process) profiling() bool {
	return slices.ContainsFunc(p.members(), func(pid int) bool {
		// the working process may be a child of its parent process
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		return err == nil && slices.ContainsFunc(files, func(path string) bool {
			to, err := os.Readlink(path)
			return err == nil && strings.HasSuffix(to, ".pprof")
		})
	})
}

// cpu is the processor time of the group so far.
func (p *process) cpu() time.Duration {
	var sum time.Duration
	for _, pid := range p.members() {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil {
			continue
		}
		for _, path := range tasks {
			b, err := os.ReadFile(path)
			if f := strings.Fields(string(b)); err == nil && len(f) > 0 {
				v, _ := strconv.ParseInt(f[0], 10, 64)
				sum += time.Duration(v)
			}
		}
	}
	return sum
}
