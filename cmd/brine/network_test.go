package main

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"brine/cmd/brine/chaos/link"
	"brine/modules/fleet/ledger"
)

// flagNetwork is the length of each fault in TestNetwork. Taskfile.yml has a long run.
var flagNetwork = flag.Duration("network.fault", 500*time.Millisecond, "how long each fault of the network lasts")

// longFault is the length of faults from which on a run also does the slow checks.
const longFault = 2 * time.Second

// wire is the network between a minion and the master. It is a proxy for each port of the master, or a cable if
// both live in network namespaces.
type wire struct {
	pub, ret *link.Proxy
	cable    *link.Host
}

// newWire makes proxies for two ports of a master.
func newWire(t *testing.T, pub, ret int) *wire {
	t.Helper()
	w := &wire{}
	for port, p := range map[int]**link.Proxy{pub: &w.pub, ret: &w.ret} {
		var err error
		if *p, err = link.New(fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := (*p).Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return w
}

func (w *wire) both() []*link.Proxy {
	if w.cable != nil {
		return nil
	}
	return []*link.Proxy{w.pub, w.ret}
}

// lost is the number of frames that entered the cable and did not leave it.
func (w *wire) lost() uint64 {
	if w.cable == nil {
		return 0
	}
	to, from := w.cable.Frames()
	return to.Lost + from.Lost
}

// cut blocks all data. standing means that the connections stay open.
func (w *wire) cut(t *testing.T, standing bool) {
	t.Helper()
	for _, p := range w.both() {
		p.Cut(link.Both)
		if err := p.Refuse(); err != nil {
			t.Error(err)
		}
		if !standing {
			p.Reset()
		}
	}
}

func (w *wire) restore(t *testing.T) {
	t.Helper()
	for _, p := range w.both() {
		if err := p.Restore(); err != nil {
			t.Error(err)
		}
	}
	if w.cable != nil {
		if err := w.cable.Restore(); err != nil {
			t.Error(err)
		}
	}
}

// networkFault is a temporary fault in the network of both minions.
type networkFault struct {
	name  string
	begin func(w *wire) error // applied to the network of each minion
	again func(w *wire)       // repeated every 50 ms during the fault; may be nil
	lost  []ledger.Code       // permitted reasons why a job did not reach a minion; none: every job must arrive
	least time.Duration       // the fault lasts at least so long
	loses bool                // the fault lasts until each cable has lost a frame
}

// missed are the true reasons for a missed job if a connection was lost and restored.
func missed() []ledger.Code {
	return []ledger.Code{ledger.NotConnected, ledger.NeverReceived, ledger.ConnectionLost}
}

func networkFaults() []networkFault {
	always := func(f func(w *wire)) func(*wire) error {
		return func(w *wire) error { f(w); return nil }
	}
	nothing := always(func(*wire) {})
	return []networkFault{
		{name: "no fault", begin: nothing},
		{name: "resets of the request port", begin: nothing, again: func(w *wire) { w.ret.Reset() }},
		{name: "resets of the publish port", begin: nothing, again: func(w *wire) { w.pub.Reset() }, lost: missed()},
		{name: "resets of both", begin: nothing, again: func(w *wire) { w.pub.Reset(); w.ret.Reset() }, lost: missed()},
		{name: "cut", begin: always(func(w *wire) { w.pub.Cut(link.Both); w.ret.Cut(link.Both) }), least: longFault},
		{name: "requests cut", begin: always(func(w *wire) { w.ret.Cut(link.ToTarget) })},
		{name: "replies cut", begin: always(func(w *wire) { w.ret.Cut(link.FromTarget) })},
		{name: "publications cut", begin: always(func(w *wire) { w.pub.Cut(link.FromTarget) })},
		{name: "delay", begin: always(func(w *wire) {
			w.pub.Delay(link.Both, 200*time.Millisecond, 100*time.Millisecond)
			w.ret.Delay(link.Both, 200*time.Millisecond, 100*time.Millisecond)
		})},
		{name: "refused", begin: func(w *wire) error {
			for _, p := range w.both() {
				if err := p.Refuse(); err != nil {
					return err
				}
				p.Reset()
			}
			return nil
		}, lost: missed()},
		{name: "trickle", begin: always(func(w *wire) {
			w.pub.Trickle(link.Both, 100, time.Millisecond)
			w.ret.Trickle(link.Both, 100, time.Millisecond)
		})},
	}
}

// TestNetwork breaks the network between a master and two minions in every way while jobs are published
// continuously. Then it repairs the network. Every job that a minion began was begun once and has one return on
// the master. For every other job the master states a true reason.
func TestNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	n := newNet(t)
	for _, f := range networkFaults() {
		t.Run(f.name, func(t *testing.T) { n.suffer(t, f) })
	}
	t.Run("nothing is left over", func(t *testing.T) { n.nothingLeft(t, *flagNetwork >= longFault) })
}

func (n *netSite) suffer(t *testing.T, f networkFault) {
	jobs := n.publishing(t)
	before := n.lost()
	for _, w := range n.s.wires {
		if err := f.begin(w); err != nil {
			t.Fatal(err)
		}
	}
	n.lasts(t, f, before)
	n.restore(t)
	whole := time.Now()
	for _, id := range n.ids {
		n.s.alive(t, id)
		t.Logf("%s answers %v after the network is whole", id, time.Since(whole).Round(time.Millisecond))
	}
	n.check(t, jobs(), func(code ledger.Code) bool { return slices.Contains(f.lost, code) })
	t.Logf("checked %v after the network is whole", time.Since(whole).Round(time.Millisecond))
}

// restore repairs the network and slows down the load.
func (n *netSite) restore(t *testing.T) {
	t.Helper()
	for _, w := range n.s.wires {
		w.restore(t)
	}
	n.calm.Store(true)
}

// lasts waits while a fault is active.
func (n *netSite) lasts(t *testing.T, f networkFault, before map[string]uint64) {
	t.Helper()
	tick, over := time.NewTicker(50*time.Millisecond), time.Now().Add(max(*flagNetwork, f.least))
	defer tick.Stop()
	missing := func() bool {
		now := n.lost()
		return f.loses && slices.ContainsFunc(n.ids, func(id string) bool { return now[id] == before[id] })
	}
	for time.Now().Before(over) || missing() {
		if now := <-tick.C; now.After(over.Add(silentPatience)) {
			t.Fatal("nothing is lost on the cables")
		}
		for _, id := range n.ids { // a fixed order, so that the random numbers can be repeated
			if f.again != nil {
				f.again(n.s.wires[id])
			}
		}
	}
	for id, lost := range n.lost() {
		if f.loses {
			t.Logf("the cable of %s has lost %d frames", id, lost-before[id])
		}
	}
}

// lost is how many frames the cable of each minion has lost.
func (n *netSite) lost() map[string]uint64 {
	lost := map[string]uint64{}
	for id, w := range n.s.wires {
		lost[id] = w.lost()
	}
	return lost
}
