package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// ErrUnavailable means that this machine, or this user, cannot have what was asked for. The error that wraps it says
// exactly what is missing.
var ErrUnavailable = errors.New("link: not available")

// Network is a network of its own: a namespace for the master, called the site, and one for each minion, with a cable
// (a veth pair) from each minion to the site. Nothing of it is seen by the rest of the machine, and nothing can get out:
// there are no routes but those along the cables. When the process ends, in whatever way, all of it is gone as soon as
// the processes in it are.
type Network struct {
	site *Host
	all  []*Host // the site first
}

// Host is one namespace. Commands that are started in it see its interfaces only.
type Host struct {
	Addr string // its address; of the site 127.0.0.1
	Site string // the address of the site at the other end of its cable, where a minion finds its master
	ns   *os.File
	site *Host
	near string // the end of its cable at the site, far is its own
	far  string
}

// NewNetwork makes a Network that consists of the site. ErrUnavailable: without the right to make network namespaces,
// without the command ip, or without veth in the kernel.
func NewNetwork() (*Network, error) {
	if _, err := exec.LookPath("ip"); err != nil {
		return nil, fmt.Errorf("%w: the command ip is missing", ErrUnavailable)
	}
	site, err := newHost()
	if err != nil {
		return nil, err
	}
	site.Addr = "127.0.0.1"
	n := &Network{site: site, all: []*Host{site}}
	for _, try := range []string{"link add probe type veth peer name other", "link del probe"} {
		if err := site.ip(try); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: no veth pairs: %w", ErrUnavailable, err), n.Close())
		}
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
	if err := h.ip("link set lo up"); err != nil {
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
	h.site, h.near, h.far = n.site, fmt.Sprintf("near%d", i), fmt.Sprintf("far%d", i)
	h.Site, h.Addr = fmt.Sprintf("10.77.%d.1", i), fmt.Sprintf("10.77.%d.2", i)
	n.all = append(n.all, h)
	if err := n.site.ip("link add "+h.near+" type veth peer name "+h.far, "address add "+h.Site+"/24 dev "+h.near, "link set "+h.near+" up"); err != nil {
		return nil, err
	}
	move := exec.Command("ip", "link", "set", h.far, "netns", "/proc/self/fd/3")
	move.ExtraFiles = []*os.File{h.ns}
	if err := n.site.run(move); err != nil {
		return nil, err
	}
	return h, h.ip("address add "+h.Addr+"/24 dev "+h.far, "link set "+h.far+" up")
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
		errs = append(errs, h.ns.Close())
	}
	n.all = nil
	return errors.Join(errs...)
}

// Start starts a command in the namespace.
func (h *Host) Start(cmd *exec.Cmd) error { return h.within(cmd.Start) }

// Cut takes the cable off: packets are lost in both directions, and nobody is told. Connections stand until one side
// gives them up.
func (h *Host) Cut() error { return h.site.ip("link set " + h.near + " down") }

// Restore puts the cable back.
func (h *Host) Restore() error { return h.site.ip("link set " + h.near + " up") }

// Shape lets each packet of both directions take delay, give or take jitter, and loses some percent of them. Zero
// values end that. ErrUnavailable: without the command tc, or without netem in the kernel.
func (h *Host) Shape(delay, jitter time.Duration, loss int) error {
	if _, err := exec.LookPath("tc"); err != nil {
		return fmt.Errorf("%w: the command tc is missing", ErrUnavailable)
	}
	args := []string{"qdisc", "replace", "dev", "", "root", "netem", "limit", "10000", "delay", delay.String(), jitter.String(),
		"loss", strconv.Itoa(loss) + "%"}
	for _, end := range []struct {
		host *Host
		dev  string
	}{{h.site, h.near}, {h, h.far}} {
		args[3] = end.dev
		if err := end.host.run(exec.Command("tc", args...)); err != nil {
			return fmt.Errorf("%w: no netem in the kernel: %w", ErrUnavailable, err)
		}
	}
	return nil
}

// ip runs the command ip with each row of words.
func (h *Host) ip(rows ...string) error {
	for _, words := range rows {
		if err := h.run(exec.Command("ip", strings.Fields(words)...)); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command in the namespace. The error tells what it said.
func (h *Host) run(cmd *exec.Cmd) error {
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := h.Start(cmd); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said.String()))
	}
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
