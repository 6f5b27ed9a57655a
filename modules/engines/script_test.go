package engines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// shell writes a shell script.
func shell(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// scripted is the configuration of a script.
func scripted(path, more string) string {
	return fmt.Sprintf("[{script: {cmd: %q, interval: 0.01%s}}]", path, more)
}

// TestScript: lines with a tag become events, with the id of the daemon unless they have one; the script is run again
// and again.
func TestScript(t *testing.T) {
	r := begin(t, newFake(t), scripted(shell(t, `echo '{"tag": "a/b", "data": {"n": 1, "id": "x"}}'
echo '{"tag": "a/c", "data": {"l": [1.5, null, "é"]}}'
echo '{"data": {"n": 1}}'
echo '{"tag": "empty"}' >&2
exit 3
`), ""))
	for i := range 9 {
		want := []string{`a/b {"n": 1, "id": "x"}`, `a/c {"l": [1.5, null, "é"], "id": "m1"}`, `empty {}`}[i%3]
		if got := r.next().String(); got != want {
			t.Errorf("event %d: got %s, want %s", i, got, want)
		}
	}
	r.logs("returned non-zero exit status 3.")
}

// TestScriptYAML: one value a line.
func TestScriptYAML(t *testing.T) {
	r := begin(t, newFake(t), scripted(shell(t, `echo '{tag: y, data: {a: yes, b: 1}}'`), ", output: yaml"))
	if got := r.next().String(); got != `y {"a": true, "b": 1, "id": "m1"}` {
		t.Errorf("got %s", got)
	}
}

// TestScriptOnChange: the same data of a tag are fired once.
func TestScriptOnChange(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	r := begin(t, newFake(t), scripted(shell(t, `echo x >> `+count+`
echo '{"tag": "same", "data": {"n": 1}}'
echo '{"tag": "other", "data": {"n": '$(($(wc -l < `+count+`) / 3))'}}'
`), ", onchange: true"))
	for _, want := range []string{`same {"n": 1, "id": "m1"}`, `other {"n": 0, "id": "m1"}`,
		`other {"n": 1, "id": "m1"}`, `other {"n": 2, "id": "m1"}`} {
		if got := r.next().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestScriptEnds: a line that is no event ends the engine, and with it whatever the script has started.
func TestScriptEnds(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no JSON", "echo nonsense", "a line of "},
		{"no map", "echo '[1]'", "no map with a tag"},
		{"tag is a number", `echo '{"tag": 5}'`, "a tag that is no text"},
		{"data are a text", `echo '{"tag": "a", "data": "b"}'`, "data that are no map"},
		{"a line without end", "exec tr '\\0' x < /dev/zero", errLongLine.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pids")
			r := begin(t, newFake(t), scripted(shell(t, "sleep 1000 &\necho $! > "+file+"\n"+tt.text+"\nsleep 1000\n"),
				""))
			if err := r.ended(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			r.gone(file)
		})
	}
	r := begin(t, newFake(t), scripted("/nowhere/at/all", ""))
	if err := r.ended(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a script that is not there: %v", err)
	}
}

// gone waits until no process of a file of numbers lives.
func (d *fakeDaemon) gone(file string) {
	d.t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(b)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			d.t.Fatal(err)
		}
		d.eventually("process "+word+" ends", func() error { return alive(pid) })
	}
}

func alive(pid int) error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || strings.Contains(string(stat), ") Z ") {
		return nil
	}
	if err := syscall.Kill(pid, 0); err != nil {
		return nil
	}
	return fmt.Errorf("it lives: %s", stat)
}

// TestScriptStops: a script that does not end, one that is deaf to SIGTERM, and what has left it in the background end
// with the engine.
func TestScriptStops(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	r := begin(t, newFake(t), scripted(shell(t, `trap '' TERM
(trap '' TERM; while :; do sleep 1000; done) &
echo $! $$ > `+file+`
echo '{"tag": "here"}'
while :; do sleep 1000; done
`), ""))
	r.next()
	r.stop()
	_ = r.ended()
	r.gone(file)
}

// TestScriptFlood: a gigabyte of lines goes no faster than events are taken, and costs no memory.
func TestScriptFlood(t *testing.T) {
	r := begin(t, newFake(t), scripted(shell(t, `exec yes '{"tag": "flood"}'`), ""))
	for range 20_000 {
		if got := r.next().tag; got != "flood" {
			t.Fatalf("got %s", got)
		}
	}
}
