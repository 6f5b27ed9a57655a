package zmq

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"brine/wire/transport"
)

// deafRelay relays to an endpoint. It passes on what the endpoint sends until the channel is closed; after that it does
// not even read. The connections stay open until the test ends.
func deafRelay(t *testing.T, endpoint string) (addr string, deaf chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	deaf = make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		in, err := l.Accept()
		if err != nil {
			return
		}
		defer in.Close()
		out, err := net.Dial("tcp", strings.TrimPrefix(endpoint, "tcp://"))
		if err != nil {
			t.Error(err)
			return
		}
		defer out.Close()
		_ = out.(*net.TCPConn).SetReadBuffer(1 << 12) // so that the path buffers little
		questions := make(chan struct{})
		go func() {
			defer close(questions)
			_, _ = io.Copy(out, in)
		}()
		_, _ = io.Copy(in, &untilDeaf{out, deaf})
		_, _ = l.Accept() // ends with the test
		_ = in.Close()
		<-questions
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return "tcp://" + l.Addr().String(), deaf
}

// untilDeaf reads until a channel is closed.
type untilDeaf struct {
	net.Conn
	deaf chan struct{}
}

func (u *untilDeaf) Read(b []byte) (int, error) {
	for {
		select {
		case <-u.deaf:
			return 0, io.EOF
		default:
		}
		_ = u.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		n, err := u.Conn.Read(b)
		if n > 0 {
			return n, nil
		}
		if ne, ok := err.(net.Error); !ok || !ne.Timeout() {
			return 0, err
		}
	}
}

// TestDeafSubscriber: a peer that no longer reads is dropped after some heartbeats, even if so much data waits for it
// that no heartbeat can be sent.
func TestDeafSubscriber(t *testing.T) {
	gone := make(chan transport.Connection, 10)
	p, subs := openPub(t, PubOptions{Endpoint: anyPort, HeartbeatIvl: 2 * time.Second,
		HeartbeatTimeout: 2 * time.Second,
		Audience: transport.Audience{Connection: func(c transport.Connection) {
			if !c.Up {
				gone <- c
			}
		}}})
	addr, deaf := deafRelay(t, p.Addr())
	startSub(t, SubOptions{Endpoint: addr, ReconnectIvl: time.Hour}, func([][]byte) {})
	receive(t, "subscription", subs)
	close(deaf)
	if err := p.Send(make([]byte, 32<<20)); err != nil { // more than the kernel buffers
		t.Fatal(err)
	}
	receive(t, "end of the connection", gone)
}
