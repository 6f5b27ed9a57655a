package link

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds a wait. A correct run never reaches it.
const patience = 30 * time.Second

// ends are the two ends of a connection through a Proxy: the minion's and the master's.
type ends struct {
	t              *testing.T
	proxy          *Proxy
	target         *net.TCPListener
	minion, master net.Conn
}

// newEnds makes a target and a Proxy for it, without a connection.
func newEnds(t *testing.T) *ends {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	p, err := New(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return &ends{t: t, proxy: p, target: l}
}

// connected makes a connection through a Proxy.
func connected(t *testing.T) *ends {
	t.Helper()
	e := newEnds(t)
	e.minion, e.master = e.connect(), e.accept()
	return e
}

func (e *ends) connect() net.Conn {
	e.t.Helper()
	c, err := net.DialTimeout("tcp", e.proxy.Addr(), patience)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (e *ends) accept() net.Conn {
	e.t.Helper()
	_ = e.target.SetDeadline(time.Now().Add(patience))
	c, err := e.target.Accept()
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (e *ends) write(c net.Conn, text string) {
	e.t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		e.t.Fatal(err)
	}
}

func (e *ends) read(c net.Conn, want string) {
	e.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		e.t.Fatalf("read: got %q, %v, want %q", got, err, want)
	}
}

// nothing checks that a connection is silent for a moment.
func (e *ends) nothing(c net.Conn) {
	e.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	n, err := c.Read(make([]byte, 100))
	var timeout net.Error
	if n > 0 || !errors.As(err, &timeout) || !timeout.Timeout() {
		e.t.Fatalf("read: got %d bytes, %v, want none", n, err)
	}
}

// ended waits for the end of a connection, and ignores earlier data.
func (e *ends) ended(c net.Conn, want error) {
	e.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	_, err := io.Copy(io.Discard, c)
	if err == nil {
		err = io.EOF
	}
	if !errors.Is(err, want) {
		e.t.Fatalf("read: got %v, want %v", err, want)
	}
}

func (e *ends) restore() {
	e.t.Helper()
	if err := e.proxy.Restore(); err != nil {
		e.t.Fatal(err)
	}
}

func TestProxyPasses(t *testing.T) {
	e := connected(t)
	e.write(e.minion, "question")
	e.read(e.master, "question")
	e.write(e.master, "answer")
	e.read(e.minion, "answer")
	if err := e.minion.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	e.ended(e.master, io.EOF)
	e.write(e.master, "late") // one direction has ended, the other has not
	e.read(e.minion, "late")
	_ = e.master.Close()
	e.ended(e.minion, io.EOF)
	got := e.proxy.Stats()
	got.Open = 0 // the end may not have been noticed yet
	if want := (Stats{Accepted: 1, ToTarget: 8, FromTarget: 10}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestProxyPassesAll(t *testing.T) {
	e := connected(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // more than all buffers on the way hold
	go func() {
		_, _ = e.minion.Write(big)
		_ = e.minion.Close()
	}()
	_ = e.master.SetReadDeadline(time.Now().Add(patience))
	if got, err := io.ReadAll(e.master); err != nil || !bytes.Equal(got, big) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(big))
	}
}

func TestCut(t *testing.T) {
	for _, d := range []Direction{Both, ToTarget, FromTarget} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			e := connected(t)
			e.proxy.Cut(d)
			e.proxy.Cut(d)
			e.write(e.minion, "to")
			e.write(e.master, "from")
			if d == FromTarget {
				e.read(e.master, "to")
			} else {
				e.nothing(e.master)
			}
			if d == ToTarget {
				e.read(e.minion, "from")
			} else {
				e.nothing(e.minion)
			}
			e.restore()
			e.restore()
			if d != FromTarget {
				e.read(e.master, "to")
			}
			if d != ToTarget {
				e.read(e.minion, "from")
			}
		})
	}
}

func TestCutHidesTheEnd(t *testing.T) {
	e := connected(t)
	e.proxy.Cut(ToTarget)
	e.write(e.minion, "last words")
	_ = e.minion.Close()
	e.nothing(e.master)
	e.restore()
	e.read(e.master, "last words")
	e.ended(e.master, io.EOF)
}

func TestCutHidesNewConnections(t *testing.T) {
	e := newEnds(t)
	e.proxy.Cut(FromTarget)
	minion := e.connect()
	e.write(minion, "hello")
	_ = e.target.SetDeadline(time.Now().Add(100 * time.Millisecond))
	if c, err := e.target.Accept(); err == nil {
		_ = c.Close()
		t.Fatal("the target has a connection through a cut link")
	}
	e.restore()
	e.read(e.accept(), "hello")
}

func TestReset(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(*Proxy)
	}{
		{"whole", func(*Proxy) {}},
		{"cut", func(p *Proxy) { p.Cut(Both) }},
		{"refusing", func(p *Proxy) { _ = p.Refuse() }},
		{"slow", func(p *Proxy) { p.Delay(Both, time.Hour, 0) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := connected(t)
			tt.fault(e.proxy)
			e.write(e.minion, "a")
			if n := e.proxy.Reset(); n != 1 {
				t.Errorf("Reset ended %d connections", n)
			}
			e.ended(e.minion, syscall.ECONNRESET)
			e.ended(e.master, syscall.ECONNRESET)
			e.restore()
			again := e.connect()
			e.write(again, "b")
			e.read(e.accept(), "b")
			if got := e.proxy.Stats(); got.Reset != 1 || got.Accepted != 2 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestResetPasses(t *testing.T) {
	e := connected(t)
	_ = e.master.(*net.TCPConn).SetLinger(0)
	_ = e.master.Close()
	e.ended(e.minion, syscall.ECONNRESET)
}

func TestRefuse(t *testing.T) {
	e := connected(t)
	for range 2 {
		if err := e.proxy.Refuse(); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := net.Dial("tcp", e.proxy.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		if err == nil {
			_ = c.Close()
		}
		t.Errorf("connect: got %v", err)
	}
	e.write(e.minion, "still here")
	e.read(e.master, "still here")
	before := e.proxy.Port()
	e.restore()
	e.write(e.connect(), "back")
	e.read(e.accept(), "back")
	if now := e.proxy.Port(); now != before {
		t.Errorf("port %d has become %d", before, now)
	}
}

func TestNoTarget(t *testing.T) {
	e := newEnds(t)
	_ = e.target.Close()
	e.proxy.Cut(Both) // the cut lasts until it is connected
	c := e.connect()
	e.restore()
	e.ended(c, syscall.ECONNRESET)
	if got := e.proxy.Stats(); got.Failed != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestDelay(t *testing.T) {
	e := connected(t)
	const delay = 200 * time.Millisecond
	e.proxy.Delay(ToTarget, delay, delay)
	began := time.Now()
	for i := range 20 {
		e.write(e.minion, fmt.Sprintf("%02d", i))
	}
	e.write(e.master, "at once")
	e.read(e.minion, "at once")
	for i := range 20 {
		e.read(e.master, fmt.Sprintf("%02d", i)) // in order
	}
	if took := time.Since(began); took < delay {
		t.Errorf("it took %v", took)
	}
	e.restore()
	e.write(e.minion, "quick")
	e.read(e.master, "quick")
}

func TestTrickle(t *testing.T) {
	e := connected(t)
	e.proxy.Trickle(FromTarget, 3, 20*time.Millisecond)
	began := time.Now()
	e.write(e.master, "0123456789")
	e.read(e.minion, "0123456789")
	if took := time.Since(began); took < 60*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	e.proxy.Trickle(FromTarget, 1, time.Hour)
	e.write(e.master, "abc")
	e.read(e.minion, "a")
	e.nothing(e.minion)
	e.proxy.Reset()
	e.ended(e.minion, syscall.ECONNRESET)
}

func TestClose(t *testing.T) {
	e := connected(t)
	e.proxy.Cut(Both)
	waiting := e.connect()
	e.write(e.minion, "lost")
	for range 2 {
		if err := e.proxy.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_ = waiting.SetReadDeadline(time.Now().Add(patience))
	if _, err := waiting.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlived the proxy")
	}
	if err := e.proxy.Restore(); !errors.Is(err, ErrClosed) {
		t.Errorf("Restore: got %v", err)
	}
	if err := e.proxy.Refuse(); err != nil {
		t.Error(err)
	}
	if got := e.proxy.Stats(); got.Open != 0 {
		t.Errorf("got %+v", got)
	}
}

// TestFaultsAtOnce serves the race detector: all methods run concurrently, under traffic, and leave a working
// link.
func TestFaultsAtOnce(t *testing.T) {
	e := newEnds(t)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := e.target.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	done := make(chan struct{})
	faults := []func(){
		func() {
			e.proxy.Cut(Both)
		}, func() { e.proxy.Cut(ToTarget) }, func() { _ = e.proxy.Restore() }, func() { e.proxy.Reset() },
		func() { _ = e.proxy.Refuse() }, func() { e.proxy.Delay(Both, time.Millisecond, time.Millisecond) },
		func() { e.proxy.Trickle(FromTarget, 2, time.Millisecond) }, func() { e.proxy.Stats() },
		func() {
			c, err := net.Dial("tcp", e.proxy.Addr())
			if err == nil {
				_, _ = c.Write([]byte("some words"))
				_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
				_, _ = c.Read(make([]byte, 5))
				_ = c.Close()
			}
		},
	}
	for _, fault := range faults {
		go func() {
			for range 100 {
				fault()
			}
			done <- struct{}{}
		}()
	}
	for range faults {
		<-done
	}
	e.restore()
	c := e.connect()
	e.write(c, "works")
	e.read(c, "works")
	_ = c.Close()
	_ = e.target.Close()
	<-served
}
