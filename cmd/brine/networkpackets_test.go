package main

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"brine/cmd/brine/chaos/link"
	"brine/modules/fleet/ledger"
)

// flagNetworkSeed is the seed of the losses and delays in TestNetworkPackets.
var flagNetworkSeed = flag.Uint64("network.seed", 0, "seed of the frames that cables lose and delay; 0: a drawn one")

// packetFaults are faults of single packets. Only the kernels of both sides notice them.
func packetFaults() []networkFault {
	shape := func(delay, jitter time.Duration, loss int) func(*wire) error {
		return func(w *wire) error { return w.cable.Shape(delay, jitter, loss) }
	}
	cut := func(d link.Direction) func(*wire) error {
		return func(w *wire) error { return w.cable.CutWay(d) }
	}
	return []networkFault{
		{name: "no fault", begin: shape(0, 0, 0)},
		{name: "delay", begin: shape(50*time.Millisecond, 20*time.Millisecond, 0)},
		{name: "loss", begin: shape(0, 0, 5), loses: true},
		{name: "delay and loss", begin: shape(50*time.Millisecond, 20*time.Millisecond, 5), loses: true},
		{name: "much loss", begin: shape(5*time.Millisecond, 5*time.Millisecond, 25), loses: true},
		{name: "cut", begin: cut(link.Both), loses: true},
		{name: "what minions send is cut", begin: cut(link.ToTarget), loses: true},
		{name: "what the master sends is cut", begin: cut(link.FromTarget), loses: true},
		{name: "loose plug", begin: shape(0, 0, 0), again: flicker(), loses: true},
	}
}

// flicker disconnects a cable, or one direction of it, or connects it again.
func flicker() func(*wire) {
	r := rand.New(rand.NewPCG(*flagNetworkSeed, 0))
	return func(w *wire) {
		_ = w.cable.Restore() // never fails, because the cable belongs to a minion
		if r.IntN(2) == 0 {
			_ = w.cable.CutWay(link.Direction(r.IntN(3)))
		}
	}
}

// TestNetworkPackets loses and delays packets between a master and two minions while jobs are published. With
// Salt's heartbeats no daemon gives up a connection meanwhile, so every job must arrive. With quick heartbeats,
// in a long run, daemons give up connections, and jobs may miss a minion.
func TestNetworkPackets(t *testing.T) {
	if *flagNetworkSeed == 0 {
		*flagNetworkSeed = rand.Uint64()
	}
	t.Logf("the same losses again: -network.seed=%d", *flagNetworkSeed)
	for _, site := range []struct {
		name string
		conf []string
		lost []ledger.Code
	}{{"patient", nil, nil}, {"quick to give up", quick(), missed()}} {
		t.Run(site.name, func(t *testing.T) {
			if site.conf != nil && *flagNetwork < longFault {
				t.Skipf("it takes long: -network.fault=%v", longFault)
			}
			n := newCableSite(t, site.conf, site.conf)
			for i, id := range n.ids {
				n.s.hosts[id].Seed = *flagNetworkSeed + uint64(i)
			}
			for _, f := range packetFaults() {
				f.lost = site.lost
				t.Run(f.name, func(t *testing.T) { n.suffer(t, f) })
			}
			if *flagNetwork >= longFault { // otherwise TestNetwork checks this: idle sockets stay for half a minute
				t.Run("nothing is left over", func(t *testing.T) { n.nothingLeft(t, true) })
			}
		})
	}
}
