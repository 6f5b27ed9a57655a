package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"brine/cmd/brine/chaos/link"
	"brine/modules/fleet/ledger"
)

// cable is a case in which the cables of the minions, or one direction of them, are disconnected until the
// given daemons have noticed it.
type cable struct {
	name           string
	way            link.Direction
	master, minion []string // configuration
	least          time.Duration
	masterNotices  bool
	minionNotices  bool
}

// quick makes a daemon give up a connection after two seconds.
func quick() []string { return []string{"zmq_heartbeat_ivl: 300", "zmq_heartbeat_timeout: 1700"} }

func cables() []cable {
	const never = "zmq_heartbeat_ivl: 0"
	return []cable{
		{"both notice", link.Both, quick(), quick(), 0, true, true},
		{"both notice that minions are not heard", link.ToTarget, quick(), quick(), longFault, true, true},
		{"both notice that the master is not heard", link.FromTarget, quick(), quick(), longFault, true, true},
		{"master notices", link.Both, []string{"zmq_heartbeat_ivl: 300", "zmq_heartbeat_timeout: 2700"},
			[]string{never}, longFault, true, false},
		{"minions notice", link.Both, []string{never}, quick(), longFault, false, true},
		{"nobody notices", link.Both, []string{never}, []string{never}, longFault, false, false},
		{"both notice by default", link.Both, nil, nil, longFault, true, true},
	}
}

// TestNetworkCable disconnects the cables of the minions while jobs are published. Packets are lost, and no
// daemon gets an error. The test connects the cables again when the daemons that must notice the loss have
// noticed it.
func TestNetworkCable(t *testing.T) {
	for _, c := range cables() {
		t.Run(c.name, func(t *testing.T) {
			if c.least > *flagNetwork {
				t.Skipf("it takes long: -network.fault=%v", c.least)
			}
			newCableSite(t, c.master, c.minion).takeOff(t, c)
		})
	}
}

// newCableSite makes a site whose daemons live in network namespaces. It skips the test if that is impossible.
func newCableSite(t *testing.T, master, minion []string) *netSite {
	t.Helper()
	network, err := link.NewNetwork()
	if errors.Is(err, link.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := network.Close(); err != nil {
			t.Error(err)
		}
	})
	n := &netSite{s: newSilentSite(t), ids: []string{"n1", "n2"}, returns: map[string]int{}, before: map[string]usage{}}
	n.s.hosts = map[string]*link.Host{"master": network.Site()}
	door, err := network.Forward(fmt.Sprintf("127.0.0.1:%d", n.s.ret))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := door.Close(); err != nil {
			t.Error(err)
		}
	})
	n.s.door = door.Port()
	n.s.config(master...)
	for _, id := range n.ids {
		if n.s.hosts[id], err = network.Join(); err != nil {
			t.Fatal(err)
		}
		n.s.minion(id, false, minion...)
		n.s.wires[id] = &wire{cable: n.s.hosts[id]}
	}
	n.start(t)
	return n
}

func (n *netSite) takeOff(t *testing.T, c cable) {
	jobs := n.publishing(t)
	for _, w := range n.s.wires {
		if err := w.cable.CutWay(c.way); err != nil {
			t.Fatal(err)
		}
	}
	off := time.Now()
	if c.masterNotices {
		n.noticed(t, "the master notices", func(id string) bool {
			_, _, facts := n.s.why("x", id)
			return facts.Str("connected") == "no"
		})
		t.Logf("the master notices after %v", time.Since(off).Round(time.Millisecond))
	}
	if c.minionNotices {
		n.noticed(t, "the minion notices", func(id string) bool {
			log, err := os.ReadFile(n.s.path(id + "/var/log/salt/minion"))
			return err == nil && bytes.Contains(log, []byte(" lost"))
		})
		t.Logf("the minions notice after %v", time.Since(off).Round(time.Millisecond))
	}
	if rest := time.Until(off.Add(*flagNetwork)); rest > 0 {
		<-time.After(rest)
	}
	n.restore(t)
	whole := time.Now()
	for _, id := range n.ids {
		n.s.alive(t, id)
		t.Logf("%s answers %v after its cable is back", id, time.Since(whole).Round(time.Millisecond))
	}
	may := missed()
	if !c.masterNotices && !c.minionNotices {
		may = nil // the connections stay open, and TCP delivers everything
	}
	n.check(t, jobs(), func(code ledger.Code) bool { return slices.Contains(may, code) })
	t.Logf("checked %v after", time.Since(whole).Round(time.Millisecond))
	n.nothingLeft(t, false)
}

// noticePatience is longer than four times the sum of the defaults of zmq_heartbeat_ivl and
// zmq_heartbeat_timeout.
const noticePatience = 5 * time.Minute

func (n *netSite) noticed(t *testing.T, what string, has func(id string) bool) {
	t.Helper()
	for _, id := range n.ids {
		n.s.within(t, noticePatience, what+" that "+id+" is cut off", func() bool { return has(id) })
	}
}
