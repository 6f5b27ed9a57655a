package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/cmd/tooltest"
	"brine/wire/payload"
	"brine/wire/transport"
	"brine/wire/zmq"
)

// keptMaster is a master with a parent, and emulated minions that keep it busy.
type keptMaster struct {
	*busySite

	mu   sync.Mutex
	made map[string]map[string]bool // ids of the minions that have run a job, by jid
}

const keptMinions = 20

func newKeptMaster(t *testing.T) *keptMaster {
	t.Helper()
	k, site := &keptMaster{made: map[string]map[string]bool{}}, newSilentSite(t)
	site.kept = true
	k.busySite = site.beBusy(t, keptMinions, true, k.answer) // a killed master causes errors at the minions
	return k
}

// said returns the whole log of the master.
func (k *keptMaster) said() string {
	raw, _ := os.ReadFile(k.path("master.log")) // a missing log is empty
	return string(raw)
}

func (k *keptMaster) answer(id string, load *payload.Map) any {
	k.mu.Lock()
	defer k.mu.Unlock()
	jid := load.Str("jid")
	if k.made[jid] == nil {
		k.made[jid] = map[string]bool{}
	}
	k.made[jid][id] = true
	return true
}

// publish publishes jobs until ctx ends.
func (k *keptMaster) publish(ctx context.Context) {
	path, err := exec.LookPath("salt")
	if err != nil {
		k.t.Error(err)
		return
	}
	for ctx.Err() == nil {
		_ = exec.Command(path, "-c", k.path("etc/master"), "--async", "*", "test.ping").Run() // the master may be dead
	}
}

// missing counts the returns that the minions made, and those of them that the master lacks.
func (k *keptMaster) missing(t *testing.T) (made, missing int64) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for jid, ids := range k.made {
		out, err := exec.Command("salt-run", "-c", k.path("etc/master"), "--out=json", "jobs.lookup_jid", jid).Output()
		if err != nil {
			t.Fatalf("job %s: %v\n%s", jid, err, k.logs())
		}
		var returns map[string]any
		if err := json.Unmarshal(out, &returns); err != nil {
			t.Fatalf("job %s: %v: %s", jid, err, out)
		}
		for id := range ids {
			made++
			if _, ok := returns[id]; !ok {
				missing++
			}
		}
	}
	return made, missing
}

// answered asks until a master answers. Each attempt uses a new connection.
func (k *keptMaster) answered(t *testing.T) {
	t.Helper()
	ping, err := payload.Marshal(payload.M("enc", "clear", "load", payload.M("cmd", "ping")))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, ping []byte) ([]byte, error) {
		req := zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", k.ret, "", 0), Context: k.zctx,
			FailFast: true})
		defer req.Close()
		return req.Do(ctx, ping)
	}
	ctx, cancel := context.WithTimeout(t.Context(), silentPatience)
	defer cancel()
	for {
		reply, err := ask(ctx, ping)
		if err == nil && len(reply) > 0 {
			return
		}
		if !errors.Is(err, transport.ErrLost) {
			t.Fatalf("the next master answers %q, %v\n%s", reply, err, k.logs())
		}
	}
}

// inHistory waits until brine history shows the deaths of whole processes in the given order.
func (k *keptMaster) inHistory(t *testing.T, deaths []string) {
	t.Helper()
	k.until(t, "the history of killed processes", func() bool {
		out, err := exec.Command("brine", "history", "-c", k.path("etc/master"), "master").Output()
		if err != nil {
			return false // the master has only just started
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != len(deaths) {
			return false
		}
		for i, want := range deaths {
			if !strings.Contains(lines[i], want) || !strings.Contains(lines[i], "; lost: ") {
				t.Fatalf("line %d is %q, want %q", i, lines[i], want)
			}
		}
		return true
	})
}

// keptWithin is the time from the death of a master to its first answer. On a busy machine some restarts may
// take longer, but not all.
const keptWithin = 500 * time.Millisecond

// TestKeptMaster kills the process of a master under load in two ways. A successor starts at once and has every
// acknowledged return.
func TestKeptMaster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a fleet")
	}
	k := newKeptMaster(t)
	parent := k.proc("master").Process.Pid
	if childOf(parent) == 0 {
		t.Skip("the kernel does not list children")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var load sync.WaitGroup
	for range 3 {
		load.Go(func() { k.publish(ctx) })
	}
	var deaths []string
	quickest := silentPatience
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGKILL} {
		acknowledged := k.f.Counts().Returns
		k.until(t, "returns", func() bool { return k.f.Counts().Returns > acknowledged+3*keptMinions })
		pid := childOf(parent)
		since := time.Now()
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
		k.until(t, "the end of the process", func() bool { return !runs(pid) })
		gone := k.f.Counts().Returns
		k.answered(t)
		took := time.Since(since)
		quickest = min(quickest, took)
		k.until(t, "the first acknowledged return", func() bool { return k.f.Counts().Returns > gone })
		t.Logf("%v: the first answer after %v, the first acknowledged return was seen after %v", sig, took,
			time.Since(since))
		if text := k.said(); !strings.Contains(text, fmt.Sprintf("Process MasterKeepAlive (%d) died with exit status",
			pid)) {
			t.Errorf("the log does not tell of process %d\n%s", pid, text)
		}
		how := "signal 9 (killed); "
		if sig == syscall.SIGSEGV {
			// Go's runtime catches the signal and reports it
			how = "exit code 2, see " + k.path("m/var/cache/salt/master/crashes")
		}
		deaths = append(deaths, fmt.Sprintf("process %d of this daemon ended with %s", pid, how))
		if sig == syscall.SIGSEGV {
			k.until(t, "a report", func() bool { return strings.Contains(k.said(), "has crashed, see the report") })
		}
	}
	if list, err := filepath.Glob(k.path("m/var/cache/salt/master/crashes/*.txt")); err != nil || len(list) != 1 {
		t.Errorf("reports: %v, %v, want that of SIGSEGV", list, err)
	}
	if quickest > keptWithin && !tooltest.Race { // under the race detector a start alone takes longer
		t.Errorf("the first answer took %v at best, want %v", quickest, keptWithin)
	}
	k.inHistory(t, deaths)
	cancel()
	load.Wait()
	k.until(t, "all returns", func() bool {
		now := k.f.Counts()
		return now.Jobs <= now.Returns+now.Failures
	})
	now := k.f.Counts()
	made, missing := k.missing(t)
	t.Logf("%d returns were made, %d acknowledged, %d are missing", made, now.Returns, missing)
	if missing > made-now.Returns {
		t.Errorf("%d of %d returns are missing, although %d were acknowledged", missing, made, now.Returns)
	}
}
