package syslog_return

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// What arrives at the system's log is what 3008.3 sends there.
func TestSyslog(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "log")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	reg := returnertest.Registry(Module(returners.Options{Syslog: socket}))
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
		if err := returners.Return(returnertest.Call(t, returnertest.Config(t, tt.conf)), reg, "syslog",
			returnertest.Ret()); err != nil {
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
		if want := tt.head + stamp + " " + tt.tag + returnertest.RetJSON; got != want {
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
		if err := returners.Return(returnertest.Call(t, returnertest.Config(t, tt.conf)),
			returnertest.Registry(Module(returners.Options{})), "syslog", returnertest.Ret()); !returners.Hopeless(err) {
			t.Errorf("%s: got %v, want a hopeless error", tt.name, err)
		}
	}
	gone := returnertest.Registry(Module(returners.Options{Syslog: filepath.Join(t.TempDir(), "log")}))
	if err := returners.Return(returnertest.Call(t, returnertest.Config(t, nil)), gone, "syslog",
		returnertest.Ret()); err == nil || returners.Hopeless(err) {
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
	env, reg := returnertest.Config(t, nil), returnertest.Registry(Module(returners.Options{Syslog: socket}))
	for i := 0; ; i++ {
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := returners.Return(loader.NewCall(ctx, env, "test.ping", nil), reg, "syslog", returnertest.Ret())
		stop()
		if err != nil {
			if returners.Hopeless(err) {
				t.Errorf("a full socket is hopeless: %v", err)
			}
			return
		}
		if i > 10000 {
			t.Fatal("the socket never fills")
		}
	}
}
