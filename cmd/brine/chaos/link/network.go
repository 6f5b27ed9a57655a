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

// ErrUnavailable means that this machine or this user lacks something. The error that wraps it says exactly
// what is missing.
var ErrUnavailable = errors.New("link: not available")

// Network is a separate network: a namespace for the master, called the site, one for each minion, and a cable
// from each minion to the site. This process carries the frames of the cables, so it can delay and lose them.
// The kernel only needs TUN devices. The rest of the machine does not see the network, and nothing can leave
// it, because its only routes are the cables. When the process ends in any way, the cables end at once. The
// namespaces end with their last processes.
type Network struct {
	site *Host
	all  []*Host // the site first
}

// Host is one namespace. Commands started in it see only its interfaces.
type Host struct {
	Addr string // its address; 127.0.0.1 for the site
	Site string // the site's address at the other end of its cable, where a minion finds its master
	Seed uint64 // seed of the random numbers in Shape

	ns    *os.File
	cable *cable // nil for the site
}

// NewNetwork makes a Network with only the site. ErrUnavailable means that network namespaces or TUN devices
// are not permitted, or missing in the kernel.
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

// newHost makes a namespace with an active loopback interface.
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

// Site returns the namespace of the master. It has an address at each cable. A master in it listens on 0.0.0.0.
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

// Forward makes a Proxy on this machine's own loopback that leads to an address inside the site.
func (n *Network) Forward(target string) (*Proxy, error) {
	return newProxy(target, func(ctx context.Context) (c net.Conn, err error) {
		err = n.site.within(func() (err error) {
			c, err = resetting.DialContext(ctx, "tcp", target)
			return err
		})
		return c, err
	})
}

// Close kills all processes in the namespaces and removes the namespaces and cables. A second Close does
// nothing.
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

// errNoCable means that an operation needs the host of a minion and got the site.
var errNoCable = errors.New("link: the site has no cable of its own")

// Cut disconnects the cable. Frames in both directions are lost, including those in the cable, and no side gets
// an error. Connections stay open until one side gives them up. A frame whose delivery has begun still arrives.
func (h *Host) Cut() error { return h.CutWay(Both) }

// CutWay does so in one direction only.
func (h *Host) CutWay(d Direction) error {
	return h.each(func(way Direction, l *lane) {
		if d == Both || d == way {
			l.setCut(true)
		}
	})
}

// Shape delays each frame in both directions by delay, plus or minus jitter, keeps their order, and loses the
// given percentage. Zero values end that. The lost frames and the delays of the others, counted from now on in
// each direction, depend only on Seed.
func (h *Host) Shape(delay, jitter time.Duration, loss int) error {
	return h.each(func(way Direction, l *lane) { l.shape(delay, jitter, loss, rand.NewPCG(h.Seed, uint64(way))) })
}

// Restore connects the cable again, and ends the effects of Shape.
func (h *Host) Restore() error {
	return errors.Join(h.each(func(_ Direction, l *lane) { l.setCut(false) }), h.Shape(0, 0, 0))
}

// Frames returns the numbers of frames that the cable has got from the minion and from the site since it
// exists.
func (h *Host) Frames() (toTarget, fromTarget Frames) {
	count := map[Direction]Frames{}
	// the site has no cable
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

// killPatience bounds the time in which killed processes of a namespace must end.
const killPatience = 10 * time.Second

// killAll kills the processes in the namespace until there is none left, because a process may start another
// before it is killed.
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
				_ = p.Kill() // it may have ended already
			}
		}
		pause(time.Millisecond, nil)
	}
}

// processes lists the processes in the namespace.
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
		if err != nil || pid == os.Getpid() { // a thread of this process may be in it
			continue
		}
		ns, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err == nil && os.SameFile(own, ns) { // an ended process has no namespace
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
