package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSecondSignal: a master with a hanging actor waits for stop_timeout after the first signal, and does not
// wait after the second.
func TestSecondSignal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a master")
	}
	s := newGoldenSite(t)
	conf := filepath.Join(s.root, "master", "master")
	raw, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, conf, string(raw)+"\nchaos: True\nstop_timeout: 36000\nworker_timeout: -1\n")
	cmd, err := s.command(t.Context(), "master", "salt-master")
	if err != nil {
		t.Fatal(err)
	}
	console := filepath.Join(s.root, "master.console")
	log, err := os.Create(console)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	until := func(what string, ok func() bool) {
		t.Helper()
		for limit := time.After(fleetPatience); !ok(); {
			select {
			case err := <-ended:
				t.Fatalf("%s: the master has ended: %v\n%s", what, err, s.logs())
			case <-limit:
				t.Fatalf("%s: waited in vain\n%s", what, s.logs())
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	until("a hanging actor", func() bool {
		return strings.Contains(s.output(t.Context(), "brine", "crash", "Maintenance", "--how", "hang", "--json"),
			"Maintenance")
	})
	until("the actor hangs", func() bool {
		return strings.Contains(s.output(t.Context(), "brine", "tree", "Maintenance", "--json"), "injected")
	})
	stop := func() {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	until("the first signal", func() bool { return strings.Contains(s.logs(), "Master received a SIGTERM. Exiting.") })
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the master ends with %v\n%s", err, s.logs())
		}
	case <-time.After(fleetPatience):
		t.Errorf("the second signal does not end the master\n%s", s.logs())
	}
	if !strings.Contains(s.logs(), "a second signal came") {
		t.Errorf("the log does not tell of the second signal:\n%s", s.logs())
	}
}
