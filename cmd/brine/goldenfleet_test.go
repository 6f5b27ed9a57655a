package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/wire/payload"
)

const (
	fleetPatience = 3 * time.Minute  // from the start of a fleet to its first complete answer
	tryPatience   = 30 * time.Second // one attempt at that answer
	stopPatience  = time.Minute
)

// startFleet starts the fixture's master and its minions web1, web2 and db1, and waits until all of them
// answer. They end with the test. daemons is the bin directory of a Salt, or "" for brine's own daemons.
func startFleet(t *testing.T, daemons string) (*goldenSite, error) {
	s := newGoldenSite(t)
	s.daemons = daemons
	if err := s.daemon(t, "master", "salt-master"); err != nil {
		return nil, err
	}
	for _, id := range []string{"web1", "web2", "db1"} {
		if err := s.daemon(t, id, "salt-minion"); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), fleetPatience)
	defer cancel()
	for {
		try, stop := context.WithTimeout(ctx, tryPatience)
		out := s.output(try, "salt", "--static", "--out=json", "--out-indent=-1", "*", "test.ping")
		stop()
		if strings.Count(out, "true") == 3 {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the fleet does not answer; last: %s\n%s", out, s.logs())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// daemon starts a daemon of the site and ends it with the test.
func (s *goldenSite) daemon(t *testing.T, config, tool string) error {
	if s.daemons != "" {
		tool = filepath.Join(s.daemons, tool)
	}
	cmd, err := s.command(context.Background(), config, tool)
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.root, config+".console"))
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	t.Cleanup(func() {
		defer log.Close()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(stopPatience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		defer late.Stop()
		_ = cmd.Wait()
	})
	return nil
}

// output runs a tool with the master's configuration and returns its stdout.
func (s *goldenSite) output(ctx context.Context, argv ...string) string {
	cmd, err := s.command(ctx, "master", argv...)
	if err != nil {
		return err.Error()
	}
	out, err := cmd.Output()
	if err != nil {
		return fmt.Sprintf("%s%v", out, err)
	}
	return string(out)
}

func (s *goldenSite) logs() string {
	var b strings.Builder
	consoles, _ := filepath.Glob(filepath.Join(s.root, "*.console"))
	logs, _ := filepath.Glob(filepath.Join(s.root, "*/*/var/log/salt/*"))
	for _, f := range append(consoles, logs...) {
		raw, _ := os.ReadFile(f)
		fmt.Fprintf(&b, "== %s\n%s", filepath.Base(f), raw)
	}
	return b.String()
}

var twentyDigits = regexp.MustCompile(`\d{20}`)

// setUp prepares a case. undo reverts that.
func (s *goldenSite) setUp(t *testing.T, c *goldenCase) (undo func()) {
	t.Helper()
	none := func() {}
	delete(s.vars, "{LASTJID}")
	before, command, _ := strings.Cut(c.Setup, ": ")
	command, rest, _ := strings.Cut(command, ";")
	command, _, _ = strings.Cut(command, ", wait")
	switch {
	case c.Setup == "":
		return none
	case strings.Contains(c.Setup, "{TMP}/salt-golden-file"):
		_ = os.Remove(s.fill("{TMP}/salt-golden-file")) // it may not exist
		return none
	case strings.HasPrefix(c.Setup, "accept one more key named "):
		return s.acceptKey(t, strings.Fields(c.Setup)[5])
	case strings.HasPrefix(before, "3 s after the start"):
		return s.again(t, command)
	}
	if strings.HasPrefix(before, "empty the job cache") {
		s.emptyJobs(t)
	}
	if strings.HasPrefix(before, "start first") {
		s.quiet(t)
	}
	undo = none
	if s.slower = strings.HasPrefix(before, "start first"); s.slower {
		command = strings.ReplaceAll(command, shortSleep, longSleep)
		undo = func() { s.shell(t, "salt web1 saltutil.kill_all_jobs") }
	}
	out := s.shell(t, command)
	if strings.Contains(rest, "{LASTJID}") {
		s.vars["{LASTJID}"] = twentyDigits.FindString(out)
	}
	switch {
	case strings.HasPrefix(before, "start first"):
		s.pause(t, time.Second)
	case s.daemons != "": // a Salt master announces a return before it stores it
		s.pause(t, 300*time.Millisecond)
	}
	return undo
}

// These are two lengths of a job that a case observes while it runs. The observer may be too late for the short
// one, and its output shows the length.
const (
	shortSleep, shortArg = "test.sleep 4", "- 4\n"
	longSleep, longArg   = "test.sleep 400", "- 400\n"
)

// again runs a command line 3 s after the start of a case, and repeats it until the case ends, because the time
// until a tool listens is not known.
func (s *goldenSite) again(t *testing.T, command string) (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-time.After(3 * time.Second):
				s.shell(t, command)
			case <-over:
				return
			}
		}
	}()
	return func() { close(over); <-ended }
}

// emptyJobs removes the job cache. The master may be writing to it meanwhile.
func (s *goldenSite) emptyJobs(t *testing.T) {
	t.Helper()
	for limit := time.Now().Add(fleetPatience); ; {
		err := os.RemoveAll(filepath.Join(s.root, "m/var/cache/salt/master/jobs"))
		switch {
		case err == nil:
			return
		case !errors.Is(err, syscall.ENOTEMPTY) || time.Now().After(limit):
			t.Fatal(err)
		}
	}
}

// quiet waits until no job of an earlier case runs.
func (s *goldenSite) quiet(t *testing.T) {
	t.Helper()
	for range 60 {
		if out := s.shell(t, "salt --out=json web1 saltutil.running"); strings.Contains(out, `"web1": []`) {
			return
		}
		s.pause(t, 300*time.Millisecond)
	}
	t.Errorf("a job of an earlier case does not end: %s", s.shell(t, "salt --out=json web1 saltutil.running"))
}

func (s *goldenSite) pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// shell runs a command line of the fixture with the master's configuration.
func (s *goldenSite) shell(t *testing.T, line string) string {
	t.Helper()
	return s.output(t.Context(), "sh", "-c", line)
}

// acceptKey puts the key of a minion that does not exist among the accepted ones. dead2 also has cached grains
// with an address that no minion is connected from.
func (s *goldenSite) acceptKey(t *testing.T, id string) (undo func()) {
	t.Helper()
	pub, err := os.ReadFile(filepath.Join(s.root, "keys/m/etc/salt/pki/master/minions/web1"))
	if err != nil {
		t.Fatal(err)
	}
	made := []string{filepath.Join(s.root, "m/etc/salt/pki/master/minions", id)}
	s.write(t, made[0], string(pub))
	if id == "dead2" {
		grains, err := payload.Marshal(payload.M("ipv4", []any{"10.9.9.9"}, "ipv6", []any{}))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, filepath.Join(s.root, "m/var/cache/salt/master/grains", id+".p"))
		s.write(t, made[1], string(grains))
	}
	return func() {
		for _, name := range made {
			if err := os.Remove(name); err != nil {
				t.Error(err)
			}
		}
	}
}
