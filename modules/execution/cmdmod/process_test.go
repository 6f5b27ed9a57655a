package cmdmod_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/execution/cmdmod"
	"brine/modules/execution/cp"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

func env(t testing.TB, opts *payload.Map) *loader.Env {
	t.Helper()
	t.Setenv("SHELL", "/bin/sh")
	e := modtest.Env(t, opts)
	e.Registry.Offer(loader.Listed{cmdmod.Module(), cp.Module()})
	return e
}

// patience is how long a test waits for what must happen.
const patience = time.Minute

// timeouts are those that a command is given until it has come to the point where it waits: how long that takes is not
// known.
var timeouts = []float64{0.5, 2.5, 12.5, 62.5}

// waitGone waits until a process is no more, or a zombie nobody reaps.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(b), ") Z ") {
			return
		}
		if err := syscall.Kill(pid, 0); err != nil {
			return
		}
	}
	t.Errorf("process %d is still there", pid)
}

// grandchild runs a line that starts a second process, which writes its pid to a file and stays.
func grandchild(t *testing.T) (line, pidFile string) {
	t.Helper()
	pidFile = filepath.Join(t.TempDir(), "pid")
	return fmt.Sprintf("(echo $BASHPID$(exec sh -c 'echo $PPID') > %[1]s.new; mv %[1]s.new %[1]s; exec sleep 600) & "+
		"sleep 600", pidFile), pidFile
}

func readPID(t *testing.T, path string) int {
	t.Helper()
	for deadline := time.Now().Add(patience); ; <-time.After(time.Millisecond) {
		b, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(string(b), "\n") {
			pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		if time.Now().After(deadline) {
			t.Fatalf("no pid in %s: %q, %v", path, b, err)
		}
	}
}

func TestTimeoutKillsGroup(t *testing.T) {
	line, pidFile := grandchild(t)
	for _, seconds := range timeouts {
		got, code, err := modtest.Call(t, env(t, nil), "cmd.run", []any{line}, payload.M("timeout", seconds))
		if err != nil || got != fmt.Sprintf("%s : Timed out after %v seconds", line, seconds) || code != 0 {
			t.Errorf("got %v %d %v", got, code, err)
		}
		if _, err := os.Stat(pidFile); err == nil {
			break
		}
	}
	waitGone(t, readPID(t, pidFile))
}

func TestContextKillsGroup(t *testing.T) {
	line, pidFile := grandchild(t)
	stop := errors.New("the job was killed")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for ; ; <-time.After(time.Millisecond) {
			if _, err := os.Stat(pidFile); err == nil || ctx.Err() != nil {
				cancel(stop)
				return
			}
		}
	}()
	_, _, err := modtest.CallContext(ctx, t, env(t, nil), "cmd.run", []any{line}, nil)
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	waitGone(t, readPID(t, pidFile))
}

// TestHolder shows that a process that left the group cannot hold up a timeout by its copy of the pipe.
func TestHolder(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	line := fmt.Sprintf("setsid sh -c 'echo $$ > %s; exec sleep 600' & sleep 600", pidFile)
	for _, seconds := range timeouts { // it may be ended before it has left the group
		began := time.Now()
		_, _, err := modtest.Call(t, env(t, nil), "cmd.run", []any{line}, payload.M("timeout", seconds))
		if took := time.Since(began); err != nil || took > patience+time.Duration(seconds*float64(time.Second)) {
			t.Errorf("%v after %s", err, took)
		}
		if _, err := os.Stat(pidFile); err == nil {
			break
		}
	}
	_ = syscall.Kill(readPID(t, pidFile), syscall.SIGKILL)
}

func TestBackgroundStays(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	got, _, err := modtest.CallContext(ctx, t, env(t, nil), "cmd.run_bg", []any{"sleep 600"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := got.(*payload.Map).Int("pid")
	cancel()
	if err := syscall.Kill(int(pid), 0); err != nil {
		t.Errorf("it ended with its job: %v", err)
	}
	_ = syscall.Kill(-int(pid), syscall.SIGKILL)
	waitGone(t, int(pid))
}

func TestUmaskStaysInside(t *testing.T) {
	e := env(t, nil)
	before := syscall.Umask(0o022)
	syscall.Umask(before)
	for _, tt := range []struct {
		umask any
		want  string
	}{{"077", "0077"}, {int64(27), "0027"}, {"0o0077", ""}, {nil, fmt.Sprintf("%04o", before)}} {
		got, _, err := modtest.Call(t, e, "cmd.run", []any{"umask"}, payload.M("umask", tt.umask))
		if tt.want == "" {
			if err == nil {
				t.Errorf("umask %v was accepted", tt.umask)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("umask %v: got %v %v, want %s", tt.umask, got, err, tt.want)
		}
	}
}

func TestRunas(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip(err)
	}
	e := env(t, nil)
	got, _, err := modtest.Call(t, e, "cmd.run", []any{"id -u; id -g; echo $USER $HOME"},
		payload.M("runas", "nobody", "output_loglevel", "quiet"))
	want := nobody.Uid + "\n" + nobody.Gid + "\nnobody " + nobody.HomeDir
	if err != nil || got != want {
		t.Errorf("runas: got %q %v, want %q", got, err, want)
	}
	group, err := user.LookupGroupId(nobody.Gid)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err = modtest.Call(t, e, "cmd.run", []any{"id -u; id -gn"}, payload.M("group", group.Name))
	if err != nil || got != "0\n"+group.Name {
		t.Errorf("group: got %q %v", got, err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, _, err = modtest.Call(t, e, "cmd.run", []any{"true"}, payload.M("runas", "nobody", "cwd", dir))
	if err == nil || !strings.HasSuffix(err.Error(), "[Errno 13] Permission denied: '"+dir+"'") {
		t.Errorf("a directory nobody may enter: %v", err)
	}
	script := filepath.Join(dir, "s.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nid -u; stat -c '%a %u' \"$0\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, _, err = modtest.Call(t, e, "cmd.script", []any{script}, payload.M("runas", "nobody", "cwd", "/tmp"))
	if out, ok := got.(*payload.Map); err != nil || !ok || out.Str("stdout") != nobody.Uid+"\n500 "+nobody.Uid {
		t.Errorf("script: %v %v", got, err)
	}
}

func TestTerminal(t *testing.T) {
	if _, err := os.Stat("/dev/ptmx"); err != nil {
		t.Skip(err)
	}
	e := env(t, nil)
	line := "test -t 1 && test -t 2 && echo out; echo err >&2; exit 4"
	got, code, err := modtest.Call(t, e, "cmd.run_all", []any{line}, payload.M("use_vt", true))
	m, _ := got.(*payload.Map)
	if err != nil || m.Str("stdout") != "out\n" || m.Str("stderr") != "err\n" ||
		m.Value("retcode") != int64(4) || code != 4 {
		t.Errorf("got %v %d %v", got, code, err)
	}
	for _, seconds := range timeouts {
		got, _, err = modtest.Call(t, e, "cmd.run_all", []any{"echo before; sleep 600"},
			payload.M("use_vt", true, "timeout", seconds))
		m, _ = got.(*payload.Map)
		want := fmt.Sprintf("SALT: Timeout after %vs\n", seconds)
		if err != nil || m.Str("stderr") != want || m.Value("retcode") != nil {
			t.Errorf("timeout: %v %v", got, err)
		}
		if m.Str("stdout") != "" {
			break
		}
	}
	if m.Str("stdout") != "before\n" {
		t.Errorf("timeout: %v", got)
	}
}

func TestPermitted(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts *payload.Map
		ok   bool
	}{
		{"no lists", nil, true},
		{"black", payload.M("cmd_blacklist_glob", []any{"rm *", "echo *"}), false},
		{"not black", payload.M("cmd_blacklist_glob", []any{"rm *"}), true},
		{"white", payload.M("cmd_whitelist_glob", []any{"echo *"}), true},
		{"not white", payload.M("cmd_whitelist_glob", []any{"ls*"}), false},
		{"white and black", payload.M("cmd_whitelist_glob", []any{"*"}, "cmd_blacklist_glob", []any{"echo a*"}), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := modtest.Call(t, env(t, tt.opts), "cmd.run", []any{"echo a b"}, nil)
			if (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
			if !tt.ok && err.Error() != `The shell command "echo a b" is not permitted` {
				t.Errorf("text %s", err)
			}
		})
	}
}

// TestNestedCall shows that a command of another function is split into words, not given to a shell.
func TestNestedCall(t *testing.T) {
	nested := loader.Fn("x.y", func(c *loader.Call, _ struct{}) (any, error) {
		return c.Call("cmd.run", []any{"echo $HOME ; pwd"}, nil)
	}, "")
	for safe, want := range map[bool]string{true: "$HOME ; pwd", false: "/x\n/"} {
		t.Setenv("HOME", "/x")
		e := env(t, payload.M("cmd_safe", safe))
		e.Registry.Offer(modtest.Source(nested))
		if got, _, err := modtest.Call(t, e, "x.y", nil, nil); err != nil || got != want {
			t.Errorf("cmd_safe %v: got %q %v, want %q", safe, got, err, want)
		}
	}
}

// TestLargeOutput reads what does not fit into any pipe, from both streams at once.
func TestLargeOutput(t *testing.T) {
	line := "head -c 3000000 /dev/zero | tr '\\0' a; head -c 2000000 /dev/zero | tr '\\0' b >&2"
	got, _, err := modtest.Call(t, env(t, nil), "cmd.run_all", []any{line}, nil)
	m, _ := got.(*payload.Map)
	if err != nil || len(m.Str("stdout")) != 3000000 || len(m.Str("stderr")) != 2000000 {
		t.Errorf("%d %d %v", len(m.Str("stdout")), len(m.Str("stderr")), err)
	}
}

func TestStdinRaw(t *testing.T) {
	for raw, want := range map[bool]string{true: `a\nb`, false: "a\nb"} {
		given := payload.M("stdin", `a\nb`, "stdin_raw_newlines", raw)
		if got, _, err := modtest.Call(t, env(t, nil), "cmd.run", []any{"cat"}, given); err != nil || got != want {
			t.Errorf("raw %v: got %q %v", raw, got, err)
		}
	}
}

func TestNoInput(t *testing.T) {
	got, _, err := modtest.Call(t, env(t, nil), "cmd.run", []any{"cat"}, payload.M("timeout", int64(60)))
	if err != nil || got != "" {
		t.Errorf("a command without stdin reads %q %v", got, err)
	}
}

func BenchmarkRun(b *testing.B) {
	e := env(b, nil)
	for b.Loop() {
		if _, _, err := modtest.Call(b, e, "cmd.run", []any{"true"}, payload.M("python_shell", false)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLargeOutput(b *testing.B) {
	e := env(b, nil)
	const size = 64 << 20
	b.SetBytes(size)
	for b.Loop() {
		line := fmt.Sprintf("head -c %d /dev/zero | tr '\\0' a", size)
		if _, _, err := modtest.Call(b, e, "cmd.run", []any{line}, payload.M("output_loglevel", "quiet")); err != nil {
			b.Fatal(err)
		}
	}
}
