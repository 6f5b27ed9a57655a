package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"brine/cmd/brine/chaos/link"
)

// wire is a minion's connection to the master: a proxy for each of the two ports or, with network namespaces, a
// cable.
type wire struct {
	pub, ret *link.Proxy
	cable    *link.Host
}

// network makes the wires. With network namespaces the master and the last minion each have their own,
// connected by a cable. All other minions use proxies. Without network namespaces all minions do.
func (f *fleet) network(minions int) {
	f.t.Helper()
	f.wires = map[string]*wire{}
	n, err := link.NewNetwork()
	switch {
	case errors.Is(err, link.ErrUnavailable):
		f.t.Logf("no cables between namespaces: %v", err)
	case err != nil:
		f.t.Fatal(err)
	default:
		f.net = n
		f.t.Cleanup(func() { f.closed(n.Close()) })
	}
	f.asked = f.proxy(f.ret).Port()
	for i := range minions {
		id := brineID(i)
		if f.net != nil && i == minions-1 {
			host, err := f.net.Join()
			if err != nil {
				f.t.Fatal(err)
			}
			f.wires[id] = &wire{cable: host}
			continue
		}
		f.wires[id] = &wire{pub: f.proxy(f.pub), ret: f.proxy(f.ret)}
	}
}

func brineID(i int) string { return fmt.Sprintf("b%d", i) }

func (f *fleet) closed(err error) {
	if err != nil {
		f.t.Error(err)
	}
}

// proxy makes a port of this machine that leads to a port of the master.
func (f *fleet) proxy(port int) *link.Proxy {
	f.t.Helper()
	open := link.New
	if f.net != nil {
		open = f.net.Forward
	}
	p, err := open(fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { f.closed(p.Close()) })
	return p
}

// way is the master's address in a minion's configuration.
func (f *fleet) way(id string) (host string, pub, ret int) {
	w := f.wires[id]
	switch {
	case w == nil: // a Salt minion, whose network has no faults
		w = &wire{pub: f.proxy(f.pub), ret: f.proxy(f.ret)}
		f.wires[id] = w
	case w.cable != nil:
		return w.cable.Site, f.pub, f.ret
	}
	return "127.0.0.1", w.pub.Port(), w.ret.Port()
}

// linkFaults are the faults of the network.
func linkFaults() []fault {
	return []fault{
		{"connections reset", 8, false, onProxies(func(w *wire, r *rand.Rand) (done, error) {
			return done{what: fmt.Sprintf("%d", w.pub.Reset()+w.ret.Reset())}, nil
		})},
		{"link cut", 6, false, onProxies(func(w *wire, r *rand.Rand) (done, error) {
			way := []link.Direction{link.Both, link.ToTarget, link.FromTarget}[r.IntN(3)]
			w.pub.Cut(way)
			w.ret.Cut(way)
			return w.restored(r, 500*time.Millisecond), nil
		})},
		{"link trickles", 4, false, onProxies(func(w *wire, r *rand.Rand) (done, error) {
			size := 50 + r.IntN(200)
			w.pub.Trickle(link.Both, size, time.Millisecond)
			w.ret.Trickle(link.Both, size, time.Millisecond)
			return w.restored(r, time.Second), nil
		})},
		{"link delayed", 4, false, onProxies(func(w *wire, r *rand.Rand) (done, error) {
			late := time.Duration(r.IntN(200)) * time.Millisecond
			w.pub.Delay(link.Both, late, late/2)
			w.ret.Delay(link.Both, late, late/2)
			return w.restored(r, time.Second), nil
		})},
		{"port refused", 4, false, onProxies(func(w *wire, r *rand.Rand) (done, error) {
			err := errors.Join(w.pub.Refuse(), w.ret.Refuse())
			w.pub.Reset()
			w.ret.Reset()
			return w.restored(r, 500*time.Millisecond), err
		})},
		{"cable cut", 4, false, onCable(func(h *link.Host, _ *rand.Rand) error {
			return h.Cut()
		}, (*link.Host).Restore)},
		{"cable loses and delays", 4, false, onCable(
			func(h *link.Host, r *rand.Rand) error {
				late := time.Duration(1+r.IntN(50)) * time.Millisecond
				h.Seed = r.Uint64()
				return h.Shape(late, late/2, r.IntN(20))
			},
			func(h *link.Host) error { return h.Shape(0, 0, 0) })},
	}
}

// restored undoes all faults of a wire after a random time.
func (w *wire) restored(r *rand.Rand, most time.Duration) done {
	hold := time.Duration(r.Int64N(int64(most)))
	return done{what: fmt.Sprintf("for %v", hold), hold: hold, undo: func() error {
		return errors.Join(w.pub.Restore(), w.ret.Restore())
	}}
}

// onProxies makes a fault of the proxies of a brine minion.
func onProxies(do func(w *wire, r *rand.Rand) (done, error)) func(context.Context, *fleet, *rand.Rand) (done, error) {
	return func(_ context.Context, f *fleet, r *rand.Rand) (done, error) {
		near := slices.DeleteFunc(slices.Clone(f.minions), func(m *member) bool { return f.wires[m.id].pub == nil })
		if len(near) == 0 {
			return done{}, nil
		}
		id := near[r.IntN(len(near))].id
		d, err := do(f.wires[id], r)
		d.what = id + " " + d.what
		return d, err
	}
}

// onCable makes a fault of the cable, if there is one.
func onCable(do func(h *link.Host, r *rand.Rand) error, undo func(h *link.Host) error) func(context.Context, *fleet,
	*rand.Rand) (done, error) {
	return func(_ context.Context, f *fleet, r *rand.Rand) (done, error) {
		hold := time.Duration(r.Int64N(int64(500 * time.Millisecond)))
		for id, w := range f.wires {
			if w.cable == nil {
				continue
			}
			return done{what: fmt.Sprintf("%s for %v", id, hold), hold: hold, undo: func() error {
				return undo(w.cable)
			}}, do(w.cable, r)
		}
		return done{}, nil
	}
}
