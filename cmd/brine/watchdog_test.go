package main

import (
	"context"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestWatchdog: both daemons, with and without a parent, send their reports to a service manager that asks for
// them.
func TestWatchdog(t *testing.T) {
	if testing.Short() {
		t.Skip("starts daemons")
	}
	s := newGoldenSite(t)
	for _, argv := range [][]string{{"master", "salt-master"}, {"web1", "salt-minion"}} {
		for _, more := range [][]string{nil, {"--disable-keepalive"}} {
			path := filepath.Join(t.TempDir(), "notify")
			conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: path})
			if err != nil {
				t.Fatal(err)
			}
			cmd, err := s.command(context.Background(), argv[0], append(argv[1:2:2], more...)...)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(cmd.Environ(), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=300000")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(fleetPatience)); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"} {
				var b [64]byte
				if n, err := conn.Read(b[:]); err != nil || string(b[:n]) != want {
					t.Errorf("%v %v: %q %v, want %q\n%s", argv, more, b[:n], err, want, s.logs())
				}
			}
			heard := make(chan struct{})
			go func() { // goes on reading, because a full socket would block the daemon
				defer close(heard)
				_ = conn.SetReadDeadline(time.Time{})
				for b := make([]byte, 64); ; {
					if _, err := conn.Read(b); err != nil {
						return
					}
				}
			}()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			late := time.AfterFunc(stopPatience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v %v: %v", argv, more, err)
			}
			late.Stop()
			_ = conn.Close()
			<-heard
		}
	}
}
