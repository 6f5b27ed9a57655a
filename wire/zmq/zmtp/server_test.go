package zmtp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Second

// note is what a callback was told.
type note struct {
	what   string
	conn   *Conn
	frames []string
	err    error
}

// rig is a Server at work.
type rig struct {
	t     *testing.T
	addr  string
	notes chan note
	stop  func()
}

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, notes: make(chan note, 10000)}
	opt := Options{
		Addr: "127.0.0.1:0", Backlog: 10, SocketType: "ROUTER", PeerTypes: []string{"REQ", "SUB"},
		MaxFrame: 1 << 24, MaxFrames: 3, HWM: 10, Handshake: patience, Linger: patience,
		OnOpen: func(c *Conn) { r.notes <- note{what: "open", conn: c} },
		OnMessage: func(c *Conn, frames [][]byte) {
			n := note{what: "message", conn: c}
			for _, f := range frames {
				n.frames = append(n.frames, string(f))
			}
			r.notes <- n
		},
		OnClose:  func(c *Conn, err error) { r.notes <- note{what: "close", conn: c, err: err} },
		OnRefuse: func(c *Conn, err error) { r.notes <- note{what: "refuse", conn: c, err: err} },
	}
	if change != nil {
		change(&opt)
	}
	s, err := Listen(opt)
	if err != nil {
		t.Fatal(err)
	}
	r.addr = s.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: got %v, want context.Canceled", err)
		}
	}
	t.Cleanup(r.stop)
	return r
}

// expect takes the next note, which must be of the kind.
func (r *rig) expect(what string) note {
	r.t.Helper()
	select {
	case n := <-r.notes:
		if n.what != what {
			r.t.Fatalf("got %s (%v), want %s", n.what, n.err, what)
		}
		return n
	case <-time.After(patience):
		r.t.Fatalf("no %s", what)
		return note{}
	}
}

// dial connects without a word.
func (r *rig) dial() *peer {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return &peer{r.t, conn}
}

// join connects and introduces itself.
func (r *rig) join(socketType, identity string) (*peer, *Conn) {
	r.t.Helper()
	p := r.dial()
	p.write(greeting(), command(cmdReady, property("Socket-Type", socketType), property("Identity", identity)))
	p.expect(greeting(), command(cmdReady, property("Socket-Type", "ROUTER")))
	return p, r.expect("open").conn
}

type peer struct {
	t *testing.T
	net.Conn
}

func (p *peer) write(parts ...[]byte) {
	p.t.Helper()
	if _, err := p.Write(bytes.Join(parts, nil)); err != nil {
		p.t.Fatal(err)
	}
}

// expect reads exactly these bytes.
func (p *peer) expect(parts ...[]byte) {
	p.t.Helper()
	want := bytes.Join(parts, nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(p, got); err != nil {
		p.t.Fatalf("after %q: %v", got, err)
	}
	if !bytes.Equal(got, want) {
		p.t.Fatalf("got %q, want %q", got, want)
	}
}

// expectEnd reads until the connection is closed.
func (p *peer) expectEnd() {
	p.t.Helper()
	if _, err := io.Copy(io.Discard, p); err != nil && !strings.Contains(err.Error(), "reset") {
		p.t.Errorf("got %v, want the end", err)
	}
}

func TestExchange(t *testing.T) {
	r := newRig(t, nil)
	p, c := r.join("REQ", "me")
	if c.Identity != "me" || c.Type != "REQ" || c.Peer.String() != p.LocalAddr().String() {
		t.Errorf("got %q, %q, %v", c.Identity, c.Type, c.Peer)
	}
	big := bytes.Repeat([]byte("b"), 5<<20)
	p.write(AppendMessage(nil, nil, []byte("hello")), AppendMessage(nil, big))
	if d := cmp.Diff([]string{"", "hello"}, r.expect("message").frames); d != "" {
		t.Error(d)
	}
	if got := r.expect("message").frames; len(got) != 1 || got[0] != string(big) {
		t.Error("the big message came damaged")
	}
	reply := AppendMessage(nil, nil, big)
	if err := c.Send(reply); err != nil { // more than the system takes at once
		t.Fatal(err)
	}
	p.expect(reply)
	p.Close()
	if n := r.expect("close"); !errors.Is(n.err, io.EOF) {
		t.Errorf("close: got %v, want io.EOF", n.err)
	}
	if err := c.Send(reply); !errors.Is(err, ErrGone) {
		t.Errorf("Send after the end: got %v, want ErrGone", err)
	}
}

// The greeting may come byte by byte, and the first message together with READY.
func TestHandshakeInPieces(t *testing.T) {
	r := newRig(t, nil)
	p := r.dial()
	hello := append(greeting(), command(cmdReady, property("socket-type", "REQ"))...)
	hello = AppendMessage(hello, []byte("first"))
	for _, b := range hello {
		p.write([]byte{b})
	}
	r.expect("open")
	if got := r.expect("message").frames; len(got) != 1 || got[0] != "first" {
		t.Errorf("got %q", got)
	}
}

func TestRefusals(t *testing.T) {
	change := func(at int, b byte) []byte {
		g := greeting()
		g[at] = b
		return g
	}
	hello := string(greeting())
	req := string(command(cmdReady, property("Socket-Type", "REQ")))
	for name, stream := range map[string]string{
		"another protocol":     "GET / HTTP/1.1\r\n\r\n",
		"no signature":         string(change(9, 0)),
		"old version":          string(change(10, 1)),
		"another mechanism":    string(change(12, 'X')),
		"no READY":             hello + string(command(cmdPing, []byte{0, 0})),
		"message before READY": hello + "\x00\x01x",
		"nameless command":     hello + "\x04\x00",
		"command cut short":    hello + "\x04\x02\x05R",
		"wrong socket type":    hello + string(command(cmdReady, property("Socket-Type", "PUSH"))),
		"no socket type":       hello + string(command(cmdReady)),
		"metadata cut short":   hello + string(command(cmdReady, []byte("\x0bSocket-Type\x00\x00\x00\x09REQ"))),
		"identity too long":    hello + string(command(cmdReady, property("Socket-Type", "REQ"), property("Identity", strings.Repeat("i", 256)))),
		"bad frame":            hello + "\x80\x00",
		"READY, then bad":      hello + req + "\x80\x00",
		"ERROR":                hello + req + string(command(cmdError, []byte("\x02no"))),
		"PING cut short":       hello + req + string(command(cmdPing, []byte{0})),
		"message too big":      hello + req + "\x03\x00\x00\x00\x00\x01\x00\x00\x01",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			p := r.dial()
			p.write([]byte(stream))
			p.expectEnd()
			n := <-r.notes
			if n.what == "open" {
				n = r.expect("close")
			}
			if !errors.Is(n.err, ErrProtocol) {
				t.Errorf("%s with %v, want ErrProtocol", n.what, n.err)
			}
		})
	}
}

// The sum of a message's frames is limited as well, and so is their number.
func TestManyFrames(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxFrame = 1000 })
	p, _ := r.join("REQ", "")
	p.write(AppendMessage(nil, make([][]byte, 10)...))
	if got := r.expect("message").frames; len(got) != 3 {
		t.Errorf("%d frames kept, want 3", len(got))
	}
	frames := make([][]byte, 11)
	for i := range frames {
		frames[i] = make([]byte, 100)
	}
	p.write(AppendMessage(nil, frames...))
	if n := r.expect("close"); !errors.Is(n.err, ErrProtocol) {
		t.Errorf("got %v, want ErrProtocol", n.err)
	}
}

// Subscriptions come as commands (ZMTP 3.1) or as messages (3.0).
func TestSubscriptions(t *testing.T) {
	r := newRig(t, nil)
	p, _ := r.join("SUB", "")
	p.write(command(cmdSubscribe, []byte("topic")), command(cmdCancel, []byte("topic")), AppendMessage(nil, []byte("\x01old")), command("FUTURE"))
	for _, want := range []string{"\x01topic", "\x00topic", "\x01old"} {
		if d := cmp.Diff([]string{want}, r.expect("message").frames); d != "" {
			t.Error(d)
		}
	}
}

func TestPong(t *testing.T) {
	r := newRig(t, nil)
	p, _ := r.join("REQ", "")
	p.write(command(cmdPing, []byte("\x00\x00context")))
	p.expect(command(cmdPong, []byte("context")))
	p.write(command(cmdPing, []byte("\x00\x00a context of over 16 bytes")))
	p.expect(command(cmdPong, []byte("a context of ove")))
}

func TestHeartbeat(t *testing.T) {
	r := newRig(t, func(o *Options) { o.HeartbeatIvl, o.HeartbeatTimeout = 20*time.Millisecond, 50*time.Millisecond })
	ping := command(cmdPing, []byte{0, 0})
	quiet, _ := r.join("REQ", "quiet") // has never answered a PING: may be too old to know it
	p, c := r.join("REQ", "answers")
	for range 5 {
		p.expect(ping)
		p.write(command(cmdPong))
	}
	n := r.expect("close") // now it does not answer any more
	if n.conn != c || !errors.Is(n.err, errSilent) {
		t.Errorf("closed %q: %v", n.conn.Identity, n.err)
	}
	p.expectEnd()
	for range 3 {
		quiet.expect(ping)
	}
}

// A peer may say how long it will be silent at most.
func TestAnnouncedPatience(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Handshake = 50 * time.Millisecond }) // sets the pace
	p, _ := r.join("REQ", "")
	p.write(command(cmdPing, []byte{0, 1}))
	if n := r.expect("close"); !errors.Is(n.err, errSilent) {
		t.Errorf("got %v, want errSilent", n.err)
	}
}

func TestHandshakeTimeout(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Handshake = 20 * time.Millisecond })
	p := r.dial()
	p.write(greeting()[:20])
	if n := r.expect("refuse"); !errors.Is(n.err, errSilent) {
		t.Errorf("got %v, want errSilent", n.err)
	}
	p.expectEnd()
}

// A peer that does not read gets as many messages as the high-water mark allows, whole and in order.
func TestSlowPeer(t *testing.T) {
	r := newRig(t, nil)
	p, c := r.join("SUB", "")
	msg := func(i int) []byte { return AppendMessage(nil, bytes.Repeat([]byte{byte(i)}, 1<<20)) }
	sent := 0
	for ; ; sent++ {
		send := c.Send
		if sent%2 == 1 {
			send = c.Queue
		}
		if err := send(msg(sent)); errors.Is(err, ErrFull) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if sent < 10 {
		t.Errorf("%d messages taken, want at least the high-water mark", sent)
	}
	for i := range sent {
		p.expect(msg(i))
	}
	if err := c.Send(msg(0)); err != nil {
		t.Errorf("after it has read: %v", err)
	}
	p.expect(msg(0))
}

func TestQueueAndFlush(t *testing.T) {
	r := newRig(t, func(o *Options) { o.HWM = 1000 })
	p, c := r.join("SUB", "")
	var want []byte
	for i := range 500 {
		msg := AppendMessage(nil, bytes.Repeat([]byte{byte(i)}, i))
		want = append(want, msg...)
		if err := c.Queue(msg); err != nil {
			t.Fatal(err)
		}
	}
	c.srv.Flush()
	p.expect(want)
}

// What was taken for a peer is still written when the Server ends.
func TestLinger(t *testing.T) {
	r := newRig(t, nil)
	p, c := r.join("REQ", "")
	msg := AppendMessage(nil, bytes.Repeat([]byte("x"), 8<<20))
	if err := c.Send(msg); err != nil {
		t.Fatal(err)
	}
	read := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(io.Discard, p)
		read <- n
	}()
	r.stop()
	if n := <-read; n != int64(len(msg)) {
		t.Errorf("%d bytes came, want %d", n, len(msg))
	}
	if n := r.expect("close"); !errors.Is(n.err, ErrGone) {
		t.Errorf("close: got %v, want ErrGone", n.err)
	}
}

func TestLingerEnds(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Linger = 50 * time.Millisecond })
	_, c := r.join("REQ", "")
	if err := c.Send(make([]byte, 64<<20)); err != nil { // nobody reads it
		t.Fatal(err)
	}
	start := time.Now()
	r.stop()
	if took := time.Since(start); took < 40*time.Millisecond || took > time.Second {
		t.Errorf("the end took %v, want the linger time", took)
	}
}

func TestCloseConn(t *testing.T) {
	r := newRig(t, nil)
	p, c := r.join("REQ", "")
	c.Close()
	p.expectEnd()
	r.expect("close")
	c.Close()
}

func TestListenErrors(t *testing.T) {
	r := newRig(t, nil)
	for _, addr := range []string{r.addr, "nowhere", "127.0.0.1:x", "192.0.2.1:0"} {
		if s, err := Listen(Options{Addr: addr}); err == nil {
			t.Errorf("Listen on %s: no error", addr)
			s.Close()
		}
	}
	s, err := Listen(Options{Addr: "*:0", Backlog: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
