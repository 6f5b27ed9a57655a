package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killedFleet is a brine master and one minion that is killed repeatedly.
type killedFleet struct {
	t      *testing.T
	s      *goldenSite
	minion *exec.Cmd
}

func (k *killedFleet) start() {
	k.t.Helper()
	cmd, err := k.s.command(context.Background(), "web1", "salt-minion")
	if err != nil {
		k.t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.minion = cmd
}

// kill ends the minion with SIGKILL, together with the commands of its jobs.
func (k *killedFleet) kill() {
	_ = syscall.Kill(-k.minion.Process.Pid, syscall.SIGKILL)
	_ = k.minion.Wait()
}

// await waits until the minion answers.
func (k *killedFleet) await() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), fleetPatience)
	defer cancel()
	for !strings.Contains(k.s.output(ctx, "salt", "-t", "1", "--out=json", "web1", "test.ping"), "true") {
		if ctx.Err() != nil {
			k.t.Fatalf("the minion does not answer\n%s", k.s.logs())
		}
	}
}

// publish starts a job that leaves a line in a file when it begins, and returns its jid and the file.
func (k *killedFleet) publish(name, then string) (jid, trace string) {
	k.t.Helper()
	trace = filepath.Join(k.s.root, "tmp", name)
	out := k.s.output(k.t.Context(), "salt", "--async", "web1", "cmd.run", fmt.Sprintf("echo begun >> %s; %s", trace,
		then))
	if jid = twentyDigits.FindString(out); jid == "" {
		k.t.Fatalf("no jid: %s\n%s", out, k.s.logs())
	}
	return jid, trace
}

// begun tells how often a job has begun.
func begun(trace string) int {
	raw, _ := os.ReadFile(trace)
	return strings.Count(string(raw), "begun")
}

// until waits for a condition.
func (k *killedFleet) until(what string, ok func() bool) {
	k.t.Helper()
	for limit := time.After(fleetPatience); !ok(); {
		select {
		case <-limit:
			k.t.Fatalf("%s: waited in vain\n%s", what, k.s.logs())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// answer returns the master's data about a job's return.
func (k *killedFleet) answer(jid string) string {
	return k.s.output(k.t.Context(), "salt-run", "--out=json", "jobs.lookup_jid", jid)
}

// TestKilledMinion kills a minion at random moments while jobs run. Every job that had begun gets a return,
// with its result or with its fate. No job runs twice.
func TestKilledMinion(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	for _, option := range []string{"multiprocessing: False", "multiprocessing: True"} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			killMinions(t, option)
		})
	}
}

// newKilledFleet starts a master, and a minion with one further option.
func newKilledFleet(t *testing.T, option string) *killedFleet {
	t.Helper()
	s := newGoldenSite(t)
	conf := filepath.Join(s.root, "web1", "minion")
	raw, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, conf, string(raw)+"\n"+option+"\n")
	if err := s.daemon(t, "master", "salt-master"); err != nil {
		t.Fatal(err)
	}
	k := &killedFleet{t: t, s: s}
	k.start()
	t.Cleanup(func() { k.kill() })
	k.await()
	return k
}

func killMinions(t *testing.T, option string) {
	k := newKilledFleet(t, option)
	s := k.s
	traces := map[string]string{} // the file of each job, by jid
	var cut []string              // jobs that cannot have finished
	for round := range 3 {
		run := filepath.Join(s.root, "tmp", fmt.Sprintf("run-%d", round))
		if err := os.WriteFile(run, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		long, longTrace := k.publish(fmt.Sprintf("long-%d", round), fmt.Sprintf("while test -e %s; do sleep 0.1; done",
			run))
		traces[long], cut = longTrace, append(cut, long)
		for i := range 6 {
			jid, trace := k.publish(fmt.Sprintf("trace-%d-%d", round, i), fmt.Sprintf("sleep %.2f; echo done",
				rand.Float64()/3))
			traces[jid] = trace
		}
		k.until("a job that begins", func() bool { return begun(longTrace) > 0 })
		s.pause(t, time.Duration(rand.IntN(200))*time.Millisecond)
		k.kill()
		if err := os.Remove(run); err != nil {
			t.Fatal(err)
		}
		k.start()
		k.await()
	}
	for jid, trace := range traces {
		if begun(trace) > 0 {
			k.until("the answer of job "+jid, func() bool { return strings.Contains(k.answer(jid), "web1") })
		}
		if n := begun(trace); n > 1 {
			t.Errorf("job %s ran %d times", jid, n)
		}
	}
	for _, jid := range cut {
		if text := k.answer(jid); !strings.Contains(text, "process ended while the job was running") {
			t.Errorf("job %s was cut off, its answer is %s", jid, text)
		}
	}
}
