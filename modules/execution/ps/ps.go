// Package ps is the execution module ps: the processes of the machine, and figures of its processors, its memory, its
// file systems and its network, read from /proc. It answers to salt/modules/ps.py, for Linux.
package ps

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/re"
)

// Module is the module ps.
func Module() loader.Module {
	return loader.Module{File: "ps", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(processes(), figures(), programs())
	}}
}

func processes() []loader.Func {
	return []loader.Func{
		loader.Fn("get_pid_list", pidList, "List the numbers of all processes.", "ps.get_pid_list"),
		loader.Fn("kill_pid", killPID, "Send a signal to a process.", "ps.kill_pid 2000 signal=9"),
		loader.Fn("pkill", pkill, "Send a signal to the processes whose names have a text.",
			"ps.pkill httpd user=apache signal=9"),
		loader.Fn("pgrep", pgrep, "List the processes whose names have a text.", "ps.pgrep httpd"),
		loader.Fn("status", status, "List the processes in a state: running, sleeping, zombie.", "ps.status zombie"),
	}
}

func pidList(*loader.Call, struct{}) ([]any, error) {
	pids, err := numbers()
	return payload.AnyList(pids), err
}

type killed struct {
	PID    int64 `arg:"pid"`
	Signal int64 `arg:"signal=15"`
}

// killPID takes no number that means other processes than one.
func killPID(_ *loader.Call, a killed) (bool, error) {
	if a.PID <= 0 {
		return false, loader.Raise("ValueError", "pid must be a positive integer (got %d)", a.PID)
	}
	return signal(a.PID, a.Signal)
}

// signal sends a signal; false when there is no such process.
func signal(pid, number int64) (bool, error) {
	err := syscall.Kill(int(pid), syscall.Signal(number))
	switch {
	case errors.Is(err, syscall.ESRCH):
		return false, nil
	case errors.Is(err, syscall.EPERM):
		return false, loader.Raise("psutil.AccessDenied", "(pid=%d)", pid)
	}
	return err == nil, err
}

type wanted struct {
	Pattern any   `arg:"pattern"`
	User    any   `arg:"user=None"`
	Signal  int64 `arg:"signal=15"`
	Full    bool  `arg:"full=False"`
}

// pkill leaves out this process and the one that started it. Unlike Salt, which ends itself where its own command line
// has the text; nor may the text be empty, which every process has.
func pkill(c *loader.Call, a wanted) (any, error) {
	pattern, ok := a.Pattern.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "'in <string>' requires string as left operand, not " +
			python.Type(a.Pattern)}
	}
	if pattern == "" {
		return nil, loader.InvocErr("The pattern is empty: it would end all processes")
	}
	isOf, err := ownedBy(c.Ctx, a.User)
	if err != nil {
		return nil, err
	}
	all, err := list()
	if err != nil {
		return nil, err
	}
	own := []int64{int64(syscall.Getpid()), int64(syscall.Getppid())}
	var done []any
	for _, p := range all {
		if slices.Contains(own, p.pid) || !strings.Contains(p.line(a.Full), pattern) || !isOf(p) {
			continue
		}
		sent, err := signal(p.pid, a.Signal)
		if err != nil {
			return nil, err
		}
		if sent {
			done = append(done, p.pid)
		}
	}
	if len(done) == 0 {
		return nil, nil
	}
	return payload.M("killed", done), nil
}

type sought struct {
	Pattern any  `arg:"pattern"`
	User    any  `arg:"user=None"`
	Full    bool `arg:"full=False"`
	IsRegex bool `arg:"pattern_is_regex=False"`
}

func pgrep(c *loader.Call, a sought) (any, error) {
	matches := func(line string) (bool, error) { return strings.Contains(line, python.Str(a.Pattern)), nil }
	if a.IsRegex {
		pattern, err := re.CompileSearch(python.Str(a.Pattern))
		if err != nil {
			return nil, loader.Raise("re.error", "%s", err)
		}
		matches = pattern.Match
	} else if _, ok := a.Pattern.(string); !ok {
		return nil, &loader.ArgumentError{Message: "'in <string>' requires string as left operand, not " +
			python.Type(a.Pattern)}
	}
	isOf, err := ownedBy(c.Ctx, a.User)
	if err != nil {
		return nil, err
	}
	all, err := list()
	if err != nil {
		return nil, err
	}
	var found []any
	for _, p := range all {
		ok, err := matches(p.line(a.Full))
		if err != nil {
			return nil, err
		}
		if ok && isOf(p) {
			found = append(found, p.pid)
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	return found, nil
}

type inState struct {
	Status any `arg:"status"`
}

func status(_ *loader.Call, a inState) (any, error) {
	if !python.Truth(a.Status) {
		return nil, loader.InvocErr("Filter is required for ps.status")
	}
	all, err := list()
	out := []any{}
	for _, p := range all {
		if p.status == a.Status {
			out = append(out, payload.M("pid", p.pid, "name", p.name))
		}
	}
	return out, err
}

func programs() []loader.Func {
	return []loader.Func{
		loader.Fn("lsof", lsof, "Show the files that processes of a name have open.", "ps.lsof apache2"),
		loader.Fn("netstat", netstat, "Show the lines of netstat that have a text.", "ps.netstat apache2"),
		loader.Fn("ss", ss, "Show the lines of ss that have a text.", "ps.ss apache2"),
		loader.Fn("psaux", psaux, "Show the lines of ps aux that match a pattern.", "ps.psaux www-data.+apache2"),
	}
}

type named struct {
	Name any `arg:"name"`
}

// output is what a program writes. Its words are no line for a shell.
func output(c *loader.Call, words ...any) (string, error) {
	v, err := c.Call("cmd.run", []any{words}, payload.M("python_shell", false))
	return loader.Text(v), err
}

func lsof(c *loader.Call, a named) (any, error) {
	text, err := output(c, "lsof", "-c", python.Str(a.Name))
	return []any{python.Str(a.Name), text}, err
}

func netstat(c *loader.Call, a named) (any, error) { return linesWith(c, a, "netstat", "-nap") }

func ss(c *loader.Call, a named) (any, error) { return linesWith(c, a, "ss", "-neap") }

func linesWith(c *loader.Call, a named, words ...any) (any, error) {
	if name := words[0].(string); program.Which(name) == "" {
		return nil, &loader.CommandNotFoundError{Message: "'" + name + "' is not installed, which ps." + name +
			" needs"}
	}
	text, err := output(c, words...)
	found := []any{}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, python.Str(a.Name)) {
			found = append(found, line)
		}
	}
	return []any{python.Str(a.Name), found}, err
}

func psaux(c *loader.Call, a named) (any, error) {
	pattern, err := re.CompileSearch(python.Str(a.Name))
	if err != nil {
		return nil, loader.Raise("re.error", "%s", err)
	}
	text, err := output(c, "ps", "aux")
	if err != nil {
		return nil, err
	}
	found := []any{}
	for _, line := range strings.Split(text, "\n") {
		ok, err := pattern.Match(line)
		if err != nil {
			return nil, err
		}
		_, after, own := strings.Cut(line, "salt")
		if ok && !(own && strings.Contains(after, "ps.psaux")) {
			found = append(found, line)
		}
	}
	return []any{python.Str(a.Name), found, fmt.Sprintf("%d occurrence(s).", len(found))}, nil
}
