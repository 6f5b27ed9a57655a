package cmdmod_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// TestOutputIsCut: output beyond the limit is dropped while the program goes on to its end, and the return says so.
// Both outputs share the limit, and it is nobody's to say which of them is read first.
func TestOutputIsCut(t *testing.T) {
	const most, written, errors = 1000, 5500, len("done\n")
	e := env(t, payload.M("command_output_max_bytes", int64(most)))
	line := "yes 0123456789 | head -n 500; echo done >&2; exit 3"
	for _, tt := range []struct {
		fun string
		kw  *payload.Map
	}{{"cmd.run_all", nil}, {"cmd.run_all", payload.M("use_vt", true)}, {"cmd.run_stdout", nil}} {
		got, code, err := modtest.Call(t, e, tt.fun, []any{line}, tt.kw)
		if m, ok := got.(*payload.Map); ok {
			got = m.Value("stdout")
		}
		kept, note, _ := strings.Cut(fmt.Sprint(got), "\nThe output was cut here: ")
		lost := 0
		_, _ = fmt.Sscan(note, &lost)
		want := fmt.Sprintf("%d bytes more (command_output_max_bytes is %d)", lost, most)
		if err != nil || code != 3 || !strings.HasPrefix(kept, "0123456789") || note != want {
			t.Errorf("%s %v: exit code %d, %v, %d bytes and %q", tt.fun, tt.kw, code, err, len(kept), note)
		}
		wrong := len(kept)+lost != written || len(kept) > most || len(kept) < most-errors
		if tt.kw == nil && wrong || len(kept) > most+100 {
			t.Errorf("%s %v: %d bytes are kept, %d lost", tt.fun, tt.kw, len(kept), lost)
		}
	}
	if got, _, err := modtest.Call(t, e, "cmd.run", []any{"echo x"}, nil); got != "x" || err != nil {
		t.Errorf("within the limit: %q, %v", got, err)
	}
}

// TestRunaway: a program that writes without end takes no more memory than the limit.
func TestRunaway(t *testing.T) {
	const most = 1 << 20
	e := env(t, payload.M("command_output_max_bytes", int64(most)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, _, err := modtest.Call(t, e, "cmd.run", []any{"yes | head -c 300000000"}, nil)
	runtime.ReadMemStats(&after)
	text := fmt.Sprint(got)
	if err != nil || len(text) > most+200 || !strings.Contains(text, fmt.Sprintf("%d bytes more", 300000000-most)) {
		t.Errorf("%v, %d bytes that end %q", err, len(text), text[max(0, len(text)-100):])
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 30*most {
		t.Errorf("%d bytes were allocated", taken)
	}
}

// TestPromisesRefused: what Salt passes over without a word is refused by name where it promises something.
func TestPromisesRefused(t *testing.T) {
	for _, name := range []string{"tty", "pty", "log_callback", "encoded_cmd"} {
		_, _, failed := modtest.Call(t, env(t, nil), "cmd.run", []any{"echo x"}, payload.M(name, true))
		if failed == nil || !strings.Contains(failed.Error(), "'"+name+"'") {
			t.Errorf("%s: %v", name, failed)
		}
		got, _, err := modtest.Call(t, env(t, nil), "cmd.run", []any{"echo x"}, payload.M(name, false))
		if got != "x" || err != nil {
			t.Errorf("%s=False: %v, %v", name, got, err)
		}
	}
}

// TestOtherPillarRefused: a command that is a template is not rendered with the minion's pillar where another one is
// given.
func TestOtherPillarRefused(t *testing.T) {
	for name, v := range map[string]any{"pillar": payload.M("a", int64(1)), "pillarenv": "dev"} {
		other := payload.M("template", "jinja", name, v)
		_, _, failed := modtest.Call(t, env(t, nil), "cmd.run", []any{"echo x"}, other)
		if failed == nil || !strings.Contains(failed.Error(), "pillarenv") {
			t.Errorf("%s: %v", name, failed)
		}
		got, _, err := modtest.Call(t, env(t, nil), "cmd.run", []any{"echo x"}, payload.M(name, v))
		if got != "x" || err != nil {
			t.Errorf("%s without a template: %v, %v", name, got, err)
		}
	}
}

// TestNoFilesInherited: a command has its three standard files and none of this process, not even one that was opened
// without care while others were started.
func TestNoFilesInherited(t *testing.T) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0) // without close-on-exec, as a C library may open it
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	file, err := os.CreateTemp(t.TempDir(), "journal")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, kw := range []*payload.Map{
		nil, payload.M("use_vt", true), payload.M("umask", "077"), payload.M("python_shell", false),
	} {
		got, _, err := modtest.Call(t, env(t, nil), "cmd.run", []any{"ls -l /proc/self/fd"}, kw)
		text := fmt.Sprint(got)
		if err != nil || strings.Contains(text, "socket:") || strings.Contains(text, file.Name()) {
			t.Errorf("%v: %v\n%s", kw, err, text)
		}
		if n := strings.Count(text, " -> "); n != 4 { // ls has the directory open
			t.Errorf("%v: %d open files\n%s", kw, n, text)
		}
	}
}
