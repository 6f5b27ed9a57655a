package master

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/master/reqserver"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// TestDeadlyRequestIsSetAside: what two workers died of reaches no third one, and the bus hears of it.
func TestDeadlyRequestIsSetAside(t *testing.T) {
	r := newRig(t)
	r.faulty = true
	ear := r.hear()
	r.noLogins() // what asks for them panics
	deadly := cmd("mk_token", "eauth", "auto")
	for range 5 {
		equal(t, "answer", r.clear(deadly), handlerFailed)
	}
	equal(t, "another request", r.clear(cmd("ping")), cmd("ping"))
	data := ear.await(tagQuarantine)
	frame := packed(t, payload.M("enc", "clear", "load", deadly, "version", 3))
	sum := sha256.Sum256(frame)
	if data.Str("hash") != hex.EncodeToString(sum[:]) || data.Str("message") != "*reqserver.Work" ||
		!strings.HasPrefix(data.Str("actor"), "master/ReqServer/MWorker-") {
		t.Errorf("got %v", data)
	}
	r.eventually("two deaths", func() error {
		deaths, apart := 0, 0
		r.tree(func(c stats.Child) {
			deaths += c.Restarts
			if strings.HasPrefix(c.Name, "MWorker-") {
				apart = c.Quarantined
			}
		})
		if deaths != 2 || apart != 1 {
			return fmt.Errorf("%d deaths, %d set aside", deaths, apart)
		}
		return nil
	})
}

// TestWorkerTimeout: a handler that hangs is left behind, with a reason, and its worker replaced.
func TestWorkerTimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chaos: true", "worker_threads: 1", "worker_timeout: 5")
	r.faulty = true
	equal(t, "answer", r.clear(cmd("ping")), cmd("ping"))
	if err := r.m.Supervisor().Inject("ReqServer/MWorker-fast-0", supervisor.FaultHang); err != nil {
		t.Fatal(err)
	}
	equal(t, "answer of the next", r.clear(cmd("ping")), cmd("ping"))
	r.log.Await(t, "WARN handler ran for too long and is left behind")
	c, err := r.m.Supervisor().Look("ReqServer/MWorker-fast-0")
	if err != nil || c.Incarnation != 2 || c.LastDeath == nil || c.LastDeath.Reason != "a handler ran longer than 5s" ||
		!strings.Contains(c.LastDeath.Stack, "suffer") {
		t.Errorf("got %+v, %v", c.LastDeath, err)
	}
}

func TestWorkerTimeoutOfTheConfiguration(t *testing.T) {
	for _, tt := range []struct{ own, request, want time.Duration }{
		{0, time.Minute, time.Minute + reqserver.WorkerGrace},
		{time.Second, time.Minute, time.Second},
		{-time.Second, time.Minute, -time.Second},
	} {
		if got := reqserver.WorkerTimeout(tt.own, tt.request); got != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.own, tt.request, got, tt.want)
		}
	}
	for conf, want := range map[string]time.Duration{"": 0, "worker_timeout: 7": 7 * time.Second,
		"worker_timeout: -1": -time.Second} {
		r := newSite(t, conf)
		if r.cfg.WorkerTimeout != want {
			t.Errorf("%q: got %s, want %s", conf, r.cfg.WorkerTimeout, want)
		}
	}
}

// TestDeathsSurviveTheMaster: who starts a master again still sees what killed the actors of the one before.
func TestDeathsSurviveTheMaster(t *testing.T) {
	r := newRig(t, "chaos: true")
	r.faulty = true
	if err := r.m.Supervisor().Inject("Publisher", supervisor.FaultPanic); err != nil {
		t.Fatal(err)
	}
	r.eventually("the death", func() error {
		if len(r.m.Supervisor().History()) == 0 {
			return errors.New("nobody died")
		}
		return nil
	})
	before := r.m.Supervisor().History()
	r.stop()
	r.start()
	after := r.m.Supervisor().History()
	if len(after) < len(before) || after[0].Path != "master/Publisher" || !after[0].Time.Equal(before[0].Time) {
		t.Errorf("got %+v, was %+v", after, before)
	}
}

// TestStopInPhases: the port is closed to new requests, what is in hand is answered, what is to be stored is stored.
func TestStopInPhases(t *testing.T) {
	r := newRig(t)
	equal(t, "answer", r.clear(cmd("ping")), cmd("ping"))
	report, err := r.m.Stop(patience)
	r.m = nil
	if err != nil || len(report.Phases) != 3 || len(report.Abandoned) != 0 {
		t.Fatalf("got %+v, %v", report, err)
	}
	for _, p := range report.Phases {
		if len(p.Late) != 0 {
			t.Errorf("%s: late are %v", p.Name, p.Late)
		}
	}
}

// TestReqServerDiesWithARequestFromInside: nobody's connection ends, so who waits is told.
func TestReqServerDiesWithARequestFromInside(t *testing.T) {
	r := newRig(t, "chaos: true", "worker_threads: 1", "stop_timeout: 1")
	r.faulty = true
	equal(t, "answer", r.clear(cmd("ping")), cmd("ping"))
	tree := r.m.Supervisor()
	if err := tree.Inject("ReqServer/MWorker-fast-0", supervisor.FaultHang); err != nil {
		t.Fatal(err)
	}
	server, _ := tree.Lookup(nameReqServer)
	replies := make(chan []byte, 2)
	for range 2 { // one goes to the worker that hangs, one waits
		server.Send(&reqserver.HandleRequest{Frame: packed(t, clearEnvelope(cmd("ping"))), At: time.Now(), Inside: true,
			Reply: func(frame []byte) { replies <- frame }})
	}
	r.eventually("both requests", func() error {
		if c, err := tree.Look(nameReqServer); err != nil || c.Mailbox > 0 || c.InHand != "" {
			return fmt.Errorf("%d wait: %w", c.Mailbox, err)
		}
		return nil
	})
	if err := tree.Inject(nameReqServer, supervisor.FaultPanic); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if reply := actortest.Wait(t, "answer", replies); string(reply) != string(reqserver.TextFailed) {
			t.Errorf("got %q", reply)
		}
	}
	r.eventually("the next ReqServer", func() error {
		if c, err := tree.Look(nameReqServer); err != nil || c.Incarnation != 2 || c.State != stats.StateRunning {
			return fmt.Errorf("%s#%d: %w", c.State, c.Incarnation, err)
		}
		return nil
	})
}
