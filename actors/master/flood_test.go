package master

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"brine/actors/daemon"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// TestBusFlood: a tool fires far more than the bus can send out. It is held up, no event of anybody is lost, and the
// master's own come through.
func TestBusFlood(t *testing.T) {
	r := newRig(t, "event_bus_max: 50", "event_queue_max: 100000")
	ear := r.hear()
	held := make(chan struct{})
	open := sync.OnceFunc(func() { close(held) })
	t.Cleanup(open)
	unsubscribe, err := r.m.core.events.Listen(t.Context(), "slow", func(string, []byte) { <-held })
	if err != nil {
		t.Fatal(err)
	}
	const events = 20_000
	body, err := event.Pack("test/flood", payload.M("text", fmt.Sprint(make([]int, 100))), 0)
	if err != nil {
		t.Fatal(err)
	}
	push := ipc.NewPusher(filepath.Join(r.cfg.SockDir, event.MasterPullSocket), ipc.FramingLength)
	defer push.Close()
	sent := make(chan error, 1)
	go func() {
		for range events {
			if err := push.Push(testContext(t), body); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	r.log.Await(t, "too much waits: who sends more has to wait, too")
	began := time.Now()
	r.m.Fire("test/own", payload.M("n", 1)) // it waits, and goes in all the same
	if took := time.Since(began); took < 2*time.Second || took > patience/2 {
		t.Errorf("an event of the master waited for %v", took)
	}
	if n := r.m.core.events.Way.Ref().Depth(); n > 60 {
		t.Errorf("%d messages wait at the bus", n)
	}
	select {
	case err := <-sent:
		t.Errorf("all has been taken, %v", err)
	default:
	}
	open()
	flood, own := 0, 0
	for flood < events || own < 1 {
		switch tag, _ := ear.next(); tag {
		case "test/flood":
			flood++
		case "test/own":
			own++
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	r.eventually("an empty bus", func() error {
		if n, b := r.m.core.events.Way.Room().Waiting(); n != 0 || b != 0 {
			return fmt.Errorf("%d events of %d bytes are counted", n, b)
		}
		return nil
	})
	unsubscribe()
}

// TestReturnsWait: when too many returns wait for the disk, a return is refused before anybody hears of it; its minion
// keeps it. Loads are taken.
func TestReturnsWait(t *testing.T) {
	r := newRig(t, "job_store_queue_max: 2")
	m, room := r.minion("m1"), r.m.core.jobs.Room
	ear := r.hear()
	var first, second daemon.Place
	first.Enter(room, 0)
	second.Enter(room, 0)
	if v, err := m.try(cmd("_return", "id", "m1", "jid", someJID, "fun", "test.ping", "fun_args", []any{},
		"return", true, "retcode", 0, "success", true)); err != nil || v != "" {
		t.Errorf("a return that is too much: got %v, %v", v, err)
	}
	first.Leave()
	second.Leave()
	m.giveBack(someJID, "test.ping", true)
	n := 0
	r.m.Fire("test/end", payload.M())
	for _, tag := range ear.until("test/end") {
		if tag == event.TagJobReturn(someJID, "m1") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the return was told of %d times", n)
	}
	if left, _ := room.Waiting(); left != 0 {
		t.Errorf("%d returns are counted when none wait", left)
	}
}
