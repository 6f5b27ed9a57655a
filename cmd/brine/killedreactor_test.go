package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// TestKilledReactorOfMinion kills a minion while its Reactor has events to handle. The next process continues
// with them. The Reactor reacts to no event twice. The log names each event without a reaction: its reaction
// was running when the minion was killed.
func TestKilledReactorOfMinion(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a fleet")
	}
	s := newGoldenSite(t)
	srv := filepath.Join(s.root, "tmp", "reactions")
	trace := filepath.Join(srv, "trace")
	s.write(t, filepath.Join(srv, "a.sls"), "note:\n  caller.cmd.run:\n    - arg: [\"echo event-{{ data.n }} >> "+trace+
		"\"]\n    - kwarg: {python_shell: true}\n")
	s.write(t, filepath.Join(srv, "mark.sls"), "mark:\n  caller.cmd.run:\n    - arg: [\"echo mark-{{ data.n }} >> "+
		trace+"\"]\n    - kwarg: {python_shell: true}\n")
	k := &killedFleet{t: t, s: s}
	k.configure("engines: [{reactor: {worker_threads: 2, worker_hwm: 10}}]\nreactor: [{my/event: " + srv +
		"/a.sls}, {my/mark: " + srv + "/mark.sls}]")
	if err := s.daemon(t, "master", "salt-master"); err != nil {
		t.Fatal(err)
	}
	k.start()
	t.Cleanup(func() { k.kill() })
	noted := func(what string) int {
		raw, _ := os.ReadFile(trace) // the file is missing before the first reaction
		return strings.Count("\n"+string(raw), "\n"+what)
	}
	const rounds, events, least = 3, 40, 5 // the minion is killed after at least so many reactions
	for round := range rounds {
		k.await()
		push, before := k.pusher(), noted("event-")
		for n := range events {
			push("my/event", payload.M("n", round*events+n))
		}
		push("my/mark", payload.M("n", round)) // its reaction shows that all events before it are on disk
		k.until("reactions", func() bool {
			return noted(fmt.Sprintf("mark-%d\n", round)) > 0 && noted("event-")-before >= least
		})
		k.kill()
		k.start()
	}
	k.await()
	k.until("the end of all reactions", func() bool { return k.waiting() == 0 })
	doubtful := strings.Count(s.logs(), "a reaction was under way when the process ended: it is not made again")
	missing := 0
	for n := range rounds * events {
		switch got := noted(fmt.Sprintf("event-%d\n", n)); got {
		case 0:
			missing++
		case 1:
		default:
			t.Errorf("event %d: reacted to %d times", n, got)
		}
	}
	if missing > doubtful {
		t.Errorf("%d events without a reaction, %d named as in doubt\n%s", missing, doubtful, s.logs())
	}
	t.Logf("%d events: %d without a reaction, %d in doubt", rounds*events, missing, doubtful)
}

// configure adds options to the configuration of the minion.
func (k *killedFleet) configure(text string) {
	k.t.Helper()
	conf := filepath.Join(k.s.root, "web1", "minion")
	raw, err := os.ReadFile(conf)
	if err != nil {
		k.t.Fatal(err)
	}
	k.s.write(k.t, conf, string(raw)+"\n"+text+"\n")
}

// waiting is the number of events that the minion's Reactor has not finished.
func (k *killedFleet) waiting() int {
	k.t.Helper()
	var got struct{ Waiting int }
	out, err := exec.Command("brine", "reactor", "--json", "-c", filepath.Join(k.s.root, "web1"), "-m").Output()
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		k.t.Fatalf("%v: %s\n%s", err, out, k.s.logs())
	}
	return got.Waiting
}

// pusher fires events on the bus of the minion, as its functions do.
func (k *killedFleet) pusher() func(tag string, data *payload.Map) {
	k.t.Helper()
	found, err := filepath.Glob(filepath.Join(k.s.root, "web1", "root", "var", "run", "salt", "minion",
		"minion_event_*_pull.ipc"))
	if err != nil || len(found) != 1 {
		k.t.Fatalf("sockets: %v, %v", found, err)
	}
	push := ipc.NewPusher(found[0], ipc.FramingPlain)
	k.t.Cleanup(func() { _ = push.Close() })
	return func(tag string, data *payload.Map) {
		k.t.Helper()
		body, err := event.Pack(tag, data, 0)
		if err == nil {
			err = push.Push(context.Background(), body)
		}
		if err != nil {
			k.t.Fatal(err)
		}
	}
}
