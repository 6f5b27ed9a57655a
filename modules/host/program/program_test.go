package program_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/modules/host/program"
)

// run runs a line of the shell.
func run(t *testing.T, line string, s program.Spec) program.Result {
	t.Helper()
	s.Argv = []string{"/bin/sh", "-c", line}
	r, err := program.Run(t.Context(), s)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return r
}

func TestRun(t *testing.T) {
	dir, input := t.TempDir(), "given"
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line           string
		spec           program.Spec
		stdout, stderr string
		code           int64
	}{
		{"echo out; echo err >&2; exit 3", program.Spec{}, "out\n", "err\n", 3},
		{"echo out; echo err >&2", program.Spec{Merge: true}, "out\nerr\n", "", 0},
		{"kill -KILL $$", program.Spec{}, "", "", -9},
		{"kill -TERM $$", program.Spec{}, "", "", -15},
		{"cat", program.Spec{Input: &input}, "given", "", 0},
		{"cat", program.Spec{}, "", "", 0}, // it does not wait for this process's input
		{"pwd", program.Spec{Dir: real}, real + "\n", "", 0},
		{"umask", program.Spec{Umask: 0o27}, "0027\n", "", 0},
		{"echo $A", program.Spec{Env: []string{"A=1"}}, "1\n", "", 0},
		{"printf 0123456789; printf 0123456789 >&2", program.Spec{Merge: true, Output: program.NewBudget(15)},
			"012345678901234", "", 0},
	} {
		r := run(t, tt.line, tt.spec)
		if string(r.Stdout) != tt.stdout || string(r.Stderr) != tt.stderr || r.Code != tt.code || r.TimedOut {
			t.Errorf("%s: %q %q %d, want %q %q %d", tt.line, r.Stdout, r.Stderr, r.Code, tt.stdout, tt.stderr, tt.code)
		}
	}
	if r := run(t, "echo 0123456789", program.Spec{Output: program.NewBudget(4)}); r.Lost != 7 {
		t.Errorf("%d bytes were lost, want 7", r.Lost)
	}
}

// TestEnded: a job that was killed starts nothing more.
func TestEnded(t *testing.T) {
	stop, trace := errors.New("the job was killed"), filepath.Join(t.TempDir(), "trace")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	r, err := program.Run(ctx, program.Spec{Argv: []string{"/bin/sh", "-c", "echo > " + trace}})
	if _, there := os.Stat(trace); !errors.Is(err, stop) || r.PID != 0 || there == nil {
		t.Errorf("%+v, %v, it ran: %v", r, err, there == nil)
	}
}

// TestNice: the program is nicer than this process, which stays as it is.
func TestNice(t *testing.T) {
	const line = "nice"
	before := strings.TrimSpace(string(run(t, line, program.Spec{}).Stdout))
	if before != "0" {
		t.Skip("this process runs with niceness ", before)
	}
	if got := strings.TrimSpace(string(run(t, line, program.Spec{Nice: 7}).Stdout)); got != "7" {
		t.Errorf("niceness %s, want 7", got)
	}
	if got := strings.TrimSpace(string(run(t, line, program.Spec{}).Stdout)); got != before {
		t.Errorf("this process has niceness %s now", got)
	}
}

// TestNotFromHere: a name is sought on the PATH alone. What lies in the directory of the process is not started,
// whoever put it there.
func TestNotFromHere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "brine-trap"), []byte("#!/bin/sh\necho trapped\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	r, err := program.Run(t.Context(), program.Spec{Argv: []string{"brine-trap"}})
	if no, ok := program.Errno(err); !ok || no != syscall.ENOENT || r.PID != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := program.Start(program.Spec{Argv: []string{"brine-trap"}}); err == nil {
		t.Error("it was started in the background")
	}
}

// TestEnvironment: what a program finds comes from this process, the login of its account and the caller, in this
// order.
func TestEnvironment(t *testing.T) {
	t.Setenv("A", "process")
	t.Setenv("NOTIFY_SOCKET", "/run/x")
	t.Setenv("BRINE_MINION__PROXY_PASSWORD", "secret")
	login, given := program.NewVars([]string{"A=login", "B=login", "LANGUAGE=de"}), program.NewVars([]string{"B=given"})
	who := &program.Account{Name: "web", Home: "/srv/web"}
	for _, tt := range []struct {
		name      string
		env       program.Environment
		has, lack []string
	}{
		{"process", program.Environment{}, []string{"A=process", "BRINE_MINION__PROXY_PASSWORD=secret"},
			[]string{"NOTIFY_SOCKET=", "LC_TIME=C"}},
		{"account", program.Environment{Account: who, Login: login, Given: given, English: true},
			[]string{"A=login", "B=given", "USER=web", "HOME=/srv/web", "LANGUAGE=de", "LC_TIME=C"},
			[]string{"BRINE_MINION__PROXY_PASSWORD="}},
		{"clean", program.Environment{Given: given, Clean: true, Prepend: "/opt/bin"},
			[]string{"B=given", "PATH=/opt/bin:"}, []string{"A="}},
	} {
		lines := tt.env.List()
		text := "\n" + strings.Join(lines, "\n") + "\n"
		for _, want := range tt.has {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("%s: no %s in %q", tt.name, want, lines)
			}
		}
		for _, name := range tt.lack {
			if strings.Contains(text, "\n"+name) {
				t.Errorf("%s: %s in %q", tt.name, name, lines)
			}
		}
	}
}
