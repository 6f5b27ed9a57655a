package returners

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/modules/execution/config"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"
)

// withConfig is an environment whose functions are those of the module config.
func withConfig(t testing.TB, opts *payload.Map) *loader.Env {
	env := modtest.Env(t, opts)
	env.Registry.Offer(loader.Listed{config.Module()})
	return env
}

// call is a call in which returners find their options.
func call(t testing.TB, env *loader.Env) *loader.Call {
	return loader.NewCall(t.Context(), env, "test.ping", nil)
}

// registry holds all returners and, as fails.returner, one that never succeeds.
func registry(t testing.TB, opt Options) *loader.Registry {
	t.Helper()
	reg := loader.NewRegistry()
	if err := errors.Join(Register(reg, opt), reg.Register(taker("fails", "", func(*loader.Call, *payload.Map) error {
		return errors.New("no")
	}))); err != nil {
		t.Fatal(err)
	}
	return reg
}

// ret is a return.
func ret() *payload.Map {
	return payload.M("id", "web1", "jid", "1", "fun", "test.ping", "return", payload.M("a", "ü", "b",
		[]any{int64(1), 2.5, nil, true}), "line", "one\ntwo")
}

// retJSON is how Salt 3008.3 writes it, to files and to the system's log.
const retJSON = `{"id": "web1", "jid": "1", "fun": "test.ping", "return": {"a": "ü", "b": [1, 2.5, null, true]}, "line": "one\ntwo"}`

func TestRawfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	env, reg := withConfig(t, payload.M("rawfile_json.filename", file)), registry(t, Options{})
	if err := Return(call(t, env), reg, "rawfile_json", ret()); err != nil {
		t.Fatal(err)
	}
	events := []any{payload.M("tag", "a", "data", payload.M("x", int64(1))), payload.M("tag", "b", "data",
		payload.NewMap(0))}
	if err := Events(call(t, env), reg, "rawfile_json", events); err != nil {
		t.Fatal(err)
	}
	bad := payload.NewMap(0)
	bad.Set([]byte{1}, "no key of JSON")
	if err := Events(call(t, env), reg, "rawfile_json", []any{events[0], bad}); !Hopeless(err) {
		t.Errorf("a key of bytes: got %v, want a hopeless error", err)
	}
	want := retJSON + "\n" + `{"tag": "a", "data": {"x": 1}}` + "\n" + `{"tag": "b", "data": {}}` + "\n"
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Errorf("the file holds\n%s\nwant\n%s", got, want)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
}

// A full disk leaves no part of a line behind, and the error is worth another try.
func TestRawfileFull(t *testing.T) {
	if err := Return(call(t, withConfig(t, payload.M("rawfile_json.filename", "/dev/full"))), registry(t, Options{}),
		"rawfile_json", ret()); err == nil || Hopeless(err) {
		t.Errorf("/dev/full: %v", err)
	}
	file := filepath.Join(t.TempDir(), "events")
	if err := appendLines(file, []any{"kept"}); err != nil {
		t.Fatal(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	err := appendLines(file, []any{strings.Repeat("x", 10000)})
	if resetErr := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); resetErr != nil {
		t.Fatal(resetErr)
	}
	if err == nil {
		t.Error("10,000 bytes went into a file of at most 4,096")
	}
	if got, _ := os.ReadFile(file); string(got) != "\"kept\"\n" {
		t.Errorf("the file holds %d bytes: %.40q", len(got), got)
	}
}

// Lines of writers at the same time do not mix.
func TestRawfileTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 20 {
				if err := appendLines(file, []any{strings.Repeat(string(rune('a'+i)), 5000)}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	b, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 160 {
		t.Fatalf("%d lines, want 160", len(lines))
	}
	for _, line := range lines {
		if line != `"`+strings.Repeat(line[1:2], 5000)+`"` {
			t.Fatalf("a line is mixed: %.60q", line)
		}
	}
}

// What arrives at the system's log is what 3008.3 sends there.
func TestSyslog(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "log")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	reg := registry(t, Options{Syslog: socket})
	for _, tt := range []struct {
		conf *payload.Map
		head string // around the time
		tag  string
	}{
		{payload.M("syslog", payload.M("tag", "x y")), "<14>", "x y: "},
		{payload.M("syslog.tag", "brine", "syslog.level", "LOG_ERR", "syslog.facility", "LOG_LOCAL3", "syslog.options",
			[]any{"LOG_CONS"}), "<155>", "brine: "},
		{payload.M("syslog.tag", "brine", "syslog.options", []any{"LOG_NDELAY", "LOG_PID"}), "<14>",
			fmt.Sprintf("brine[%d]: ", os.Getpid())},
	} {
		if err := Return(call(t, withConfig(t, tt.conf)), reg, "syslog", ret()); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4096)
		n, err := l.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got := string(buf[:n])
		stamp := got[len(tt.head) : len(tt.head)+len(time.Stamp)]
		if _, err := time.Parse(time.Stamp, stamp); err != nil {
			t.Errorf("time %q: %v", stamp, err)
		}
		if want := tt.head + stamp + " " + tt.tag + retJSON; got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// Options of the returner syslog that make no sense are hopeless; a log that is away, or takes no more, is not.
func TestSyslogRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		conf *payload.Map
	}{
		{"level", payload.M("syslog.level", "LOG_LOUD")},
		{"facility", payload.M("syslog.facility", "LOG_INFO")},
		{"option", payload.M("syslog.options", []any{"LOG_ALL"})},
		{"no list", payload.M("syslog.options", "LOG_PID")},
		{"long tag", payload.M("syslog.tag", strings.Repeat("ü", 33))},
		{"two lines", payload.M("syslog.tag", "a\nb")},
		{"number", payload.M("syslog.tag", int64(5))},
	} {
		if err := Return(call(t, withConfig(t, tt.conf)), registry(t, Options{}), "syslog", ret()); !Hopeless(err) {
			t.Errorf("%s: got %v, want a hopeless error", tt.name, err)
		}
	}
	gone := registry(t, Options{Syslog: filepath.Join(t.TempDir(), "log")})
	if err := Return(call(t, withConfig(t, nil)), gone, "syslog", ret()); err == nil || Hopeless(err) {
		t.Errorf("no logger: %v", err)
	}
}

// A logger that reads nothing holds nobody up beyond the deadline of the call.
func TestSyslogStuck(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "log")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	env, reg := withConfig(t, nil), registry(t, Options{Syslog: socket})
	for i := 0; ; i++ {
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := Return(loader.NewCall(ctx, env, "test.ping", nil), reg, "syslog", ret())
		stop()
		if err != nil {
			if Hopeless(err) {
				t.Errorf("a full socket is hopeless: %v", err)
			}
			return
		}
		if i > 10000 {
			t.Fatal("the socket never fills")
		}
	}
}

func TestLocal(t *testing.T) {
	var out bytes.Buffer
	reg := registry(t, Options{Stdout: &out})
	c := call(t, modtest.Env(t, nil))
	if err := errors.Join(Return(c, reg, "local", payload.M("id", "web1", "return", true)),
		Events(c, reg, "local", []any{payload.M("tag", "a")})); err != nil {
		t.Fatal(err)
	}
	if want := "{'id': 'web1', 'return': True}\n[{'tag': 'a'}]\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// multi_returner calls each of its returners, also after one that fails.
func TestMulti(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	env := withConfig(t, payload.M("multi_returner", []any{"fails", "rawfile_json"}, "rawfile_json.filename", file))
	if err := Return(call(t, env), registry(t, Options{}), "multi_returner", ret()); err == nil ||
		!strings.Contains(err.Error(), "fails: no") {
		t.Errorf("got %v, want that fails failed", err)
	}
	if got, _ := os.ReadFile(file); string(got) != retJSON+"\n" {
		t.Errorf("the second returner wrote %q", got)
	}
	if err := Return(call(t, withConfig(t, nil)), registry(t, Options{}), "multi_returner", ret()); !Hopeless(err) {
		t.Errorf("no option multi_returner: %v", err)
	}
}

func TestExpand(t *testing.T) {
	opts := payload.M("multi_returner", []any{"a", "b", "multi_returner"})
	for _, tt := range []struct {
		opts       *payload.Map
		names, out []string
	}{
		{opts, []string{"c", "multi_returner", "a"}, []string{"c", "a", "b"}},
		{opts, []string{"a", "b", "multi_returner"}, []string{"a", "b"}},
		{nil, []string{"c", "multi_returner"}, []string{"c", "multi_returner"}},
		{payload.M("multi_returner", []any{"multi_returner"}), []string{"multi_returner"}, []string{"multi_returner"}},
		{nil, []string{"a", "a"}, []string{"a"}},
	} {
		if got := Expand(tt.names, tt.opts); !slices.Equal(got, tt.out) {
			t.Errorf("Expand(%v, %v) = %v, want %v", tt.names, tt.opts, got, tt.out)
		}
	}
}

func TestMissingReturner(t *testing.T) {
	c, reg := call(t, modtest.Env(t, nil)), registry(t, Options{})
	if Has(reg, "nosuch") || !Has(reg, "syslog") {
		t.Error("Has is wrong")
	}
	if err := Return(c, reg, "nosuch", ret()); !Hopeless(err) {
		t.Errorf("nosuch: %v", err)
	}
	if err := Events(c, reg, "syslog", []any{"x"}); !Hopeless(err) {
		t.Errorf("syslog has no event_return: %v", err)
	}
}
