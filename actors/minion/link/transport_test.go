package link

import (
	"context"
	"errors"
	"net"
	"strconv"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/config"
	"brine/wire/loopback"
	"brine/wire/transport"
	"brine/wire/zmq"
)

func TestPick(t *testing.T) {
	ips := func(list ...string) (out []net.IPAddr) {
		for _, s := range list {
			out = append(out, net.IPAddr{IP: net.ParseIP(s)})
		}
		return out
	}
	for _, tt := range []struct {
		found []net.IPAddr
		ipv6  bool
		avoid string
		want  string
	}{
		{nil, false, "", ""},
		{ips("::1", "10.0.0.1"), false, "", "10.0.0.1"},
		{ips("10.0.0.1", "::1"), true, "", "::1"},
		{ips("::1"), false, "", "::1"},
		{ips("10.0.0.1"), true, "", "10.0.0.1"},
		{ips("10.0.0.1", "10.0.0.2"), false, "10.0.0.1", "10.0.0.2"},
		{ips("10.0.0.1"), false, "10.0.0.1", "10.0.0.1"},
		{ips("10.0.0.1", "::1"), false, "10.0.0.1", "10.0.0.1"},
	} {
		if got := pick(tt.found, tt.ipv6, tt.avoid); got != tt.want {
			t.Errorf("pick(%v, %v, %q) = %q, want %q", tt.found, tt.ipv6, tt.avoid, got, tt.want)
		}
	}
}

func TestResolve(t *testing.T) {
	names := map[string][]net.IPAddr{"a.test": {{IP: net.ParseIP("10.0.0.1")}}}
	for _, tt := range []struct {
		host     string
		retryDNS time.Duration
		fallback bool
		want     string
		err      error
	}{
		{"10.0.0.9", 0, true, "10.0.0.9", nil},
		{"::1", 0, true, "::1", nil},
		{"a.test", 0, true, "10.0.0.1", nil},
		{"b.test", 30, true, "", ErrUnresolved},
		{"b.test", 0, true, "127.0.0.1", nil},
		{"b.test", 0, false, "", ErrUnresolved},
	} {
		z := &network{opt: TransportOptions{ToThisHost: tt.retryDNS == 0 && tt.fallback},
			master: config.MasterAddr{Host: tt.host},
			lookup: func(_ context.Context, host string) ([]net.IPAddr, error) { return names[host], nil }}
		got, err := z.resolve(t.Context(), "")
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v; want %q, %v", tt.host, got, err, tt.want, tt.err)
		}
	}
}

// master is both ports of a master on an address of this machine.
type master struct {
	ret, pub int
	send     func(text string)
	stop     func()
}

// serveMaster answers each request with its own address, and publishes. Ports of 0 are chosen, so that another address
// of this machine can have the same.
func serveMaster(t *testing.T, host string, ret, pub int) *master {
	t.Helper()
	for _, port := range []*int{&ret, &pub} {
		if *port == 0 {
			*port = freePort(t)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	router := zmq.NewRouter(zmq.RouterOptions{Endpoint: zmq.BindEndpoint(host, ret)})
	p := zmq.NewPub(zmq.PubOptions{Endpoint: zmq.BindEndpoint(host, pub)})
	if err := router.Listen(); err != nil {
		t.Fatal(err)
	}
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = router.Serve(ctx, func(m transport.Request) { _ = m.Answer([]byte(host)) }) // ends by cancel
	}()
	m := &master{ret: ret, pub: pub}
	m.send = func(text string) {
		if err := p.Send([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	stopped := false
	m.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		<-done
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(m.stop)
	return m
}

// freePort is a port that nobody else gets until the test is over.
func freePort(t *testing.T) int {
	t.Helper()
	p, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Release() })
	return p.Number
}

// newTransport is a transport over real sockets whose master's name the test resolves.
func newTransport(t *testing.T, opt zmq.NetworkOptions, host string, port int, addr func() string) *network {
	t.Helper()
	zctx, err := zmq.NewContext(1)
	if err != nil {
		t.Fatal(err)
	}
	opt.Keepalive, opt.Context = &zmq.Keepalive{Idle: -1, Count: -1, Interval: -1}, zctx // as the system has it
	z := newNetwork(TransportOptions{Network: zmq.NewNetwork(opt), IPv6: opt.IPv6, Single: opt.RequestPort != 0},
		config.MasterAddr{Host: host, Port: port}, actortest.NewClock())
	z.lookup = func(context.Context, string) ([]net.IPAddr, error) {
		return []net.IPAddr{{IP: net.ParseIP(addr())}}, nil
	}
	t.Cleanup(func() {
		z.Close()
		if err := zctx.Close(); err != nil {
			t.Error(err)
		}
	})
	return z
}

func ask(t *testing.T, z *network, limit time.Duration) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	reply, err := z.Exchange(ctx, []byte("ping"), nil)
	return string(reply), err
}

// TestMasterMoves gives the master's name another address: requests and publications follow.
func TestMasterMoves(t *testing.T) {
	a := serveMaster(t, "127.0.0.1", 0, 0)
	b := serveMaster(t, "127.0.0.2", a.ret, a.pub)
	addr := make(chan string, 1)
	addr <- "127.0.0.1"
	where := func() string { now := <-addr; addr <- now; return now }
	z := newTransport(t, zmq.NetworkOptions{ReconnectIvl: time.Millisecond, ReconnectLonger: time.Millisecond},
		"master.test", a.ret, where)
	if got, err := ask(t, z, time.Minute); err != nil || got != "127.0.0.1" {
		t.Fatalf("%q, %v", got, err)
	}
	links, frames := make(chan bool, 16), make(chan string, 16)
	subscribe := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- z.Subscribe(ctx, a.pub, Publications{Link: func(up bool) {
				links <- up
			}, Payload: func(p []byte) { frames <- string(p) }})
		}()
		for !actortest.Wait(t, "connection", links) {
		}
		return func() {
			cancel()
			if err := actortest.Wait(t, "end of the subscription", done); err != nil {
				t.Error(err)
			}
		}
	}
	stop := subscribe()
	await(t, a, frames, "of a")
	if z.Moved(t.Context(), true) {
		t.Error("moved, to the one address there is")
	}
	<-addr
	addr <- "127.0.0.2"
	a.stop()
	if !z.Moved(t.Context(), true) {
		t.Error("the move was not noticed")
	}
	stop()
	defer subscribe()()
	await(t, b, frames, "of b")
	if got, err := ask(t, z, time.Minute); err != nil || got != "127.0.0.2" {
		t.Errorf("request after the move: %q, %v", got, err)
	}
}

// await publishes until a subscriber has it: a subscription takes its way to the master.
func await(t *testing.T, m *master, frames <-chan string, text string) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		m.send(text)
		select {
		case got := <-frames:
			if got == text {
				return
			}
		case <-time.After(10 * time.Millisecond):
		case <-limit:
			t.Fatalf("no publication %q", text)
		}
	}
}

// TestUnanswered asks for the address again after a request without an answer.
func TestUnanswered(t *testing.T) {
	b := serveMaster(t, "127.0.0.2", 0, 0)
	silent, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(b.ret)))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	addr := "127.0.0.1"
	z := newTransport(t, zmq.NetworkOptions{}, "master.test", b.ret, func() string { return addr })
	if _, err := ask(t, z, 50*time.Millisecond); !errors.Is(err, transport.ErrTimeout) {
		t.Errorf("a silent master: %v", err)
	}
	addr = "127.0.0.2"
	if got, err := ask(t, z, time.Minute); err != nil || got != addr {
		t.Errorf("%q, %v", got, err)
	}
}

// TestListening: a transport knows a master that is away from one that is silent, and sees at once when a port listens
// again.
func TestListening(t *testing.T) {
	port := freePort(t)
	silent := zmq.NewRouter(zmq.RouterOptions{Endpoint: zmq.BindEndpoint("127.0.0.1", port)})
	if err := silent.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- silent.Serve(ctx, func(transport.Request) {}) }()
	z := newTransport(t, zmq.NetworkOptions{}, "master.test", port, func() string { return "127.0.0.1" })
	if _, err := ask(t, z, 300*time.Millisecond); !errors.Is(err, transport.ErrTimeout) ||
		errors.Is(err, transport.ErrUnconnected) {
		t.Errorf("a silent master: %v", err)
	}
	cancel()
	if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := ask(t, z, 300*time.Millisecond); !errors.Is(err, transport.ErrUnconnected) ||
		!errors.Is(err, transport.ErrTimeout) {
		t.Errorf("a master that is away: %v", err)
	}
	short, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer end()
	if err := z.Listening(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody listens: %v", err)
	}
	seen := make(chan error, 1)
	go func() { seen <- z.Listening(t.Context()) }()
	serveMaster(t, "127.0.0.1", port, 0)
	select {
	case err := <-seen:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the port listens and nobody sees it")
	}
}

// TestIPv6 reaches a master by an IPv6 address.
func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip(err)
	}
	l.Close()
	m := serveMaster(t, "::1", 0, 0)
	for _, host := range []string{"::1", "master.test"} {
		z := newTransport(t, zmq.NetworkOptions{IPv6: true}, host, m.ret, func() string {
			return "::1"
		})
		if got, err := ask(t, z, time.Minute); err != nil || got != "::1" {
			t.Errorf("%s: %q, %v", host, got, err)
		}
	}
}

// TestSourcePort uses one request socket where a port is fixed.
func TestSourcePort(t *testing.T) {
	m := serveMaster(t, "127.0.0.1", 0, 0)
	source, err := SourceAddress("lo", "", false)
	if err != nil {
		t.Fatal(err)
	}
	z := newTransport(t, zmq.NetworkOptions{RequestPort: freePort(t), Source: source}, "127.0.0.1", m.ret, nil)
	for range 3 {
		if got, err := ask(t, z, time.Minute); err != nil || got != "127.0.0.1" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := SourceAddress("nosuch0", "", false); err == nil {
		t.Error("an interface that is not there has an address")
	}
}
