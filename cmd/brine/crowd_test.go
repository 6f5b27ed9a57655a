package main

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"brine/wire/payload"
)

// crowdSize is large enough to show costs that grow with its square: such a test would not end.
const crowdSize = 1000

// crowd is a master with many emulated minions. It notes the jobs that they get.
type crowd struct {
	*busySite

	mu   sync.Mutex
	tgts map[string]string // the last target of each job, by jid and target type
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{tgts: map[string]string{}}
	c.busySite = newSilentSite(t).beBusy(t, crowdSize, false, c.answer)
	return c
}

func (c *crowd) answer(_ string, load *payload.Map) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, _ := load.Value("tgt").(string)
	c.tgts[load.Str("jid")+" "+load.Str("tgt_type")] = text
	return true
}

func (c *crowd) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tgts)
}

// salt runs a command line on all minions. It checks that each of them appears in the output once, and that
// each got the given number of jobs.
func (c *crowd) salt(t *testing.T, jobs int64, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("salt")
	if err != nil {
		t.Fatal(err)
	}
	before := c.f.Counts()
	cmd := exec.Command(path, append([]string{"-c", c.path("etc/master"), "-t", "100"}, args...)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("salt %v: %v\n%s\n%s", args, err, errs.String(), c.logs())
	}
	text := string(out)
	for i := range crowdSize {
		if id := fmt.Sprintf("emu%04d:\n    True\n", i); strings.Count(text, id) != 1 {
			t.Fatalf("salt %v: %d times %q", args, strings.Count(text, id), id)
		}
	}
	now := c.f.Counts()
	if got := now.Jobs - before.Jobs; got != jobs*crowdSize {
		t.Errorf("salt %v: %d jobs for %d minions, want %d for each", args, got, crowdSize, jobs)
	}
	if now.Failures > 0 {
		t.Errorf("salt %v: %+v, %v", args, now, c.f.Troubles())
	}
	return text
}

// TestCrowd lets a thousand minions answer every form of salt that waits for returns. All of them answer, and
// none gets a find_job. A job for all of them keeps its target and does not become a list.
func TestCrowd(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	c := newCrowd(t)
	c.salt(t, 1, "*", "test.ping")
	c.salt(t, 1, "--summary", "-v", "emu*", "test.ping")
	c.salt(t, 2, "-b", "100", "*", "test.ping")
	c.forget() // the lists of the batch
	c.salt(t, 2, "--static", "*", "test.ping")
	c.salt(t, 2, "-b", "100%", "-C", "emu* or nobody", "test.ping")
	c.mu.Lock()
	defer c.mu.Unlock()
	for job, tgt := range c.tgts {
		if strings.HasSuffix(job, " list") || tgt == "" {
			t.Errorf("job %s was sent to a list", job)
		}
	}
}

// TestCrowdRestart restarts the master, which then has a new session key. All minions sign in again and answer
// the next job.
func TestCrowdRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	c := newCrowd(t)
	c.salt(t, 1, "*", "test.ping")
	c.stop("master", syscall.SIGTERM)
	c.until(t, "the crowd is down", func() bool { return c.f.Counts().Up == 0 })
	c.start("master", "salt-master")
	c.until(t, "the crowd is up again", func() bool { return c.f.Counts().Up == crowdSize })
	c.salt(t, 1, "*", "test.ping") // the job is sealed with the new key, with which no minion has signed in yet
}
