package link

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// newNetwork makes a Network, or skips the test and gives the reason.
func newNetwork(t *testing.T) *Network {
	t.Helper()
	n, err := NewNetwork()
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func join(t *testing.T, n *Network) *Host {
	t.Helper()
	h, err := n.Join()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// listenAt accepts connections in a namespace.
func listenAt(t *testing.T, h *Host, addr string) *net.TCPListener {
	t.Helper()
	var l net.Listener
	if err := h.within(func() (err error) {
		l, err = net.Listen("tcp", net.JoinHostPort(addr, "0"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.(*net.TCPListener)
}

func dialAt(t *testing.T, h *Host, addr string) net.Conn {
	t.Helper()
	var c net.Conn
	if err := h.within(func() (err error) { c, err = net.DialTimeout("tcp", addr, patience); return err }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func interfaces(t *testing.T) []string {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range all {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return names
}

func TestNetwork(t *testing.T) {
	n := newNetwork(t)
	before := interfaces(t)
	a, b := join(t, n), join(t, n)
	if a.Addr == b.Addr || a.Site == b.Site {
		t.Fatalf("got %+v and %+v", a, b)
	}
	l := listenAt(t, n.Site(), a.Site)
	minion := dialAt(t, a, l.Addr().String())
	_ = l.SetDeadline(time.Now().Add(patience))
	master, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if host, _, _ := net.SplitHostPort(master.RemoteAddr().String()); host != a.Addr {
		t.Errorf("the minion comes from %s", host)
	}
	e := &ends{t: t}
	e.write(minion, "hello")
	e.read(master, "hello")
	if err := a.Cut(); err != nil {
		t.Fatal(err)
	}
	e.write(minion, "question")
	e.write(master, "answer")
	e.nothing(master)
	e.nothing(minion)
	if err := a.Restore(); err != nil {
		t.Fatal(err)
	}
	e.read(master, "question") // at the kernel's next attempt
	e.read(minion, "answer")
	if now := interfaces(t); !slices.Equal(before, now) {
		t.Errorf("interfaces of this machine: %v, before %v", now, before)
	}
}

func TestNetworkHidesTheMachine(t *testing.T) {
	n := newNetwork(t)
	h := join(t, n)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = h.within(func() error {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		return err
	})
	if err == nil {
		t.Error("a port of this machine is reached from the namespace")
	}
	var out strings.Builder
	cmd := exec.Command("cat", "/proc/net/dev")
	cmd.Stdout = &out
	if err := h.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.Count(out.String(), ":") != 2 || !strings.Contains(out.String(),
		"far1:") {
		t.Errorf("%v: a command in it sees\n%s", err, out.String())
	}
}

func TestForward(t *testing.T) {
	n := newNetwork(t)
	l := listenAt(t, n.Site(), "127.0.0.1")
	p, err := n.Forward(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = l.SetDeadline(time.Now().Add(patience))
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	e := &ends{t: t}
	e.write(c, "in")
	e.read(in, "in")
	e.write(in, "out")
	e.read(c, "out")
}

func TestNetworkCloseKills(t *testing.T) {
	n := newNetwork(t)
	h := join(t, n)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("sh", "-c", "sleep 1000 & wait")
	cmd.Stdout = w // both processes hold it open
	if err := h.Start(cmd); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	for range 2 {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the command was not killed")
	}
	_ = r.SetReadDeadline(time.Now().Add(patience))
	if _, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a process outlived the network: %v", err)
	}
}

// connectAt makes a connection from the host of a minion to the site.
func connectAt(t *testing.T, n *Network, h *Host) (minion, site net.Conn) {
	t.Helper()
	l := listenAt(t, n.Site(), h.Site)
	minion = dialAt(t, h, l.Addr().String())
	_ = l.SetDeadline(time.Now().Add(patience))
	site, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = site.Close() })
	return minion, site
}

func TestShape(t *testing.T) {
	n := newNetwork(t)
	h := join(t, n)
	minion, site := connectAt(t, n, h)
	h.Seed = 1
	if err := h.Shape(5*time.Millisecond, 3*time.Millisecond, 20); err != nil {
		t.Fatal(err)
	}
	e := &ends{t: t}
	text := strings.Repeat("all of it comes, and in its order;", 1500)
	e.write(minion, text)
	e.read(site, text)
	e.write(site, text)
	e.read(minion, text)
	to, from := h.Frames()
	if to.Lost == 0 || from.Lost == 0 {
		t.Errorf("frames of the minion: %+v, of the site: %+v", to, from)
	}
	if err := h.Restore(); err != nil {
		t.Fatal(err)
	}
	e.write(minion, text)
	e.read(site, text)
	if now, _ := h.Frames(); now.Passed == to.Passed || now.Lost != to.Lost {
		t.Errorf("frames of the minion when all is well: %+v, before %+v", now, to)
	}
}

func TestCutWay(t *testing.T) {
	n := newNetwork(t)
	h := join(t, n)
	minion, site := connectAt(t, n, h)
	e := &ends{t: t}
	for _, tt := range []struct {
		way            Direction
		sender, listen net.Conn
	}{{ToTarget, minion, site}, {FromTarget, site, minion}} {
		other := map[Direction]func() Frames{
			ToTarget:   func() Frames { _, from := h.Frames(); return from },
			FromTarget: func() Frames { to, _ := h.Frames(); return to },
		}[tt.way]
		if err := h.CutWay(tt.way); err != nil {
			t.Fatal(err)
		}
		before := other()
		e.write(tt.sender, "lost")
		e.write(tt.listen, "passes, but for its acknowledgement")
		e.read(tt.sender, "passes, but for its acknowledgement")
		e.nothing(tt.listen)
		if now := other(); now.Lost != before.Lost {
			t.Errorf("cut of direction %d: the other one loses, %+v, before %+v", tt.way, now, before)
		}
		if err := h.Restore(); err != nil {
			t.Fatal(err)
		}
		e.read(tt.listen, "lost") // at the kernel's next attempt
	}
	if err := n.Site().Cut(); err == nil {
		t.Error("the site has a cable")
	}
}
