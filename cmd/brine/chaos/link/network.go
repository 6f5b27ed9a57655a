package link

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// ErrUnavailable means that this machine, or this user, cannot have what was asked for. The error that wraps it says
// exactly what is missing.
var ErrUnavailable = errors.New("link: not available")

// Network is a network of its own: a namespace for the master, called the site, and one for each minion, with a cable
// from each minion to the site. This process carries the frames of the cables, so they can be late and get lost; the
// kernel has nothing to know of that but TUN devices. Nothing of it is seen by the rest of the machine, and nothing can
// get out: there are no routes but those along the cables. When the process ends, in whatever way, the cables are gone
// at once and the rest as soon as the processes in it are.
type Network struct {
	site *Host
	all  []*Host // the site first
}

// Host is one namespace. Commands that are started in it see its interfaces only.
type Host struct {
	Addr string // its address; of the site 127.0.0.1
	Site string // the address of the site at the other end of its cable, where a minion finds its master
	Seed uint64 // of what Shape draws

	ns    *os.File
	cable *cable // nil at the site
}

// NewNetwork makes a Network that consists of the site. ErrUnavailable: without the right to make network namespaces or
// TUN devices, or without them in the kernel.
func NewNetwork() (*Network, error) {
	site, err := newHost()
	if err != nil {
		return nil, err
	}
	site.Addr = "127.0.0.1"
	n := &Network{site: site, all: []*Host{site}}
	probe, err := site.newInterface("probe", netip.Addr{})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	if err := probe.Close(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// newHost makes a namespace in which the loopback interface is up.
func newHost() (*Host, error) {
	ns, err := newNamespace()
	if err != nil {
		return nil, err
	}
	h := &Host{ns: ns}
	if err := h.within(func() error { return switchOn("lo", netip.Addr{}) }); err != nil {
		return nil, errors.Join(err, ns.Close())
	}
	return h, nil
}

// Site is the namespace of the master. It has an address at each cable; a master there listens on 0.0.0.0.
func (n *Network) Site() *Host { return n.site }

// Join makes a namespace for a minion and the cable from it to the site.
func (n *Network) Join() (*Host, error) {
	h, err := newHost()
	if err != nil {
		return nil, err
	}
	i := len(n.all)
	site, own := netip.AddrFrom4([4]byte{10, 77, byte(i), 1}), netip.AddrFrom4([4]byte{10, 77, byte(i), 2})
	h.Site, h.Addr = site.String(), own.String()
	n.all = append(n.all, h)
	near, err := n.site.newInterface(fmt.Sprintf("near%d", i), site)
	if err != nil {
		return nil, err
	}
	far, err := h.newInterface(fmt.Sprintf("far%d", i), own)
	if err != nil {
		return nil, errors.Join(err, near.Close())
	}
	h.cable = newCable(far, near)
	return h, nil
}

// Forward makes a Proxy on this machine's own loopback that leads to an address as the site sees it.
func (n *Network) Forward(target string) (*Proxy, error) {
	return newProxy(target, func(ctx context.Context) (c net.Conn, err error) {
		err = n.site.within(func() (err error) {
			c, err = resetting.DialContext(ctx, "tcp", target)
			return err
		})
		return c, err
	})
}

// Close kills what still runs in the namespaces and gives them up, and the cables with them. To close it twice is fine.
func (n *Network) Close() error {
	var errs []error
	for _, h := range n.all {
		errs = append(errs, h.killAll())
	}
	for _, h := range n.all {
		if h.cable != nil {
			h.cable.close()
		}
		errs = append(errs, h.ns.Close())
	}
	n.all = nil
	return errors.Join(errs...)
}

// Start starts a command in the namespace.
func (h *Host) Start(cmd *exec.Cmd) error { return h.within(cmd.Start) }

// errNoCable means that the site was asked to do what only the host of a minion can.
var errNoCable = errors.New("link: the site has no cable of its own")

// Cut takes the cable off: frames are lost in both directions, those that are under way, too, and nobody is told.
// Connections stand until one side gives them up. A frame that is being passed on at this moment still arrives.
func (h *Host) Cut() error { return h.CutWay(Both) }

// CutWay does so with what goes in one direction only.
func (h *Host) CutWay(d Direction) error {
	return h.each(func(way Direction, l *lane) {
		if d == Both || d == way {
			l.setCut(true)
		}
	})
}

// Shape lets each frame of both directions take delay, give or take jitter, in their order, and loses some percent of
// them. Zero values end that. Which frames are lost and how late the others are, counted from here on in each
// direction, follows from Seed.
func (h *Host) Shape(delay, jitter time.Duration, loss int) error {
	return h.each(func(way Direction, l *lane) { l.shape(delay, jitter, loss, rand.NewPCG(h.Seed, uint64(way))) })
}

// Restore puts the cable back, and ends what Shape has begun.
func (h *Host) Restore() error {
	return errors.Join(h.each(func(_ Direction, l *lane) { l.setCut(false) }), h.Shape(0, 0, 0))
}

// Frames counts what the cable has got from the minion and from the site since it was laid.
func (h *Host) Frames() (toTarget, fromTarget Frames) {
	count := map[Direction]Frames{}
	// the site has none
	_ = h.each(func(way Direction, l *lane) { count[way] = Frames{l.passed.Load(), l.lost.Load()} })
	return count[ToTarget], count[FromTarget]
}

// each calls f with both directions of the cable.
func (h *Host) each(f func(way Direction, l *lane)) error {
	if h.cable == nil {
		return errNoCable
	}
	f(ToTarget, h.cable.lanes[0])
	f(FromTarget, h.cable.lanes[1])
	return nil
}

// killPatience is how long the processes of a namespace may take to end once they are killed.
const killPatience = 10 * time.Second

// killAll kills every process in the namespace until there is none: all of them descend from commands that were started
// in it, and one that is about to be killed may start another.
func (h *Host) killAll() error {
	limit := time.Now().Add(killPatience)
	for {
		left, err := h.processes()
		if err != nil || len(left) == 0 {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("processes %v in the namespace do not end", left)
		}
		for _, pid := range left {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill() // one that has ended by itself is fine
			}
		}
		pause(time.Millisecond, nil)
	}
}

// processes are those that live in the namespace.
func (h *Host) processes() (pids []int, err error) {
	own, err := h.ns.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at namespace: %w", err)
	}
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for processes: %w", err)
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil || pid == os.Getpid() { // a thread of ours may be there
			continue
		}
		ns, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err == nil && os.SameFile(own, ns) { // one that has ended has none
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
