package ipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/wire/payload"
)

// newControl serves a handler that knows a few commands.
func newControl(t *testing.T, allow func(Peer) bool) (client *ControlClient, cancelled chan error) {
	t.Helper()
	cancelled = make(chan error, 16)
	s := NewControlServer(ControlOptions{Path: sock(t), Allow: allow})
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	handler := func(ctx context.Context, peer Peer, req *payload.Map) (*payload.Map, error) {
		switch req.Str("cmd") {
		case "echo":
			return req, nil
		case "who":
			return payload.M("uid", peer.UID, "pid", peer.PID), nil
		case "nothing":
			return nil, nil
		case "fail":
			return nil, errors.New("no such actor")
		case "die":
			var none *payload.Map
			none.Set("x", 1) // a nil map panics
		case "unpackable":
			return payload.M("f", func() {}), nil
		}
		<-ctx.Done() // hang
		cancelled <- ctx.Err()
		return nil, ctx.Err()
	}
	serve(t, s.opt.Path, func(ctx context.Context) error { return s.Serve(ctx, handler) })
	return NewControlClient(s.opt.Path), cancelled
}

func TestControl(t *testing.T) {
	c, _ := newControl(t, nil)
	ctx := within(t)
	req := payload.M("cmd", "echo", "text", "grün", "bytes", []byte("abc"), "list", []any{1, nil, true, 1.5})
	if got, err := c.Do(ctx, req); err != nil || !got.Equal(req) {
		t.Errorf("echo: %v, %v", got, err)
	}
	got, err := c.Do(ctx, payload.M("cmd", "who"))
	if uid, ok := got.Int("uid"); err != nil || !ok || int(uid) != os.Getuid() {
		t.Errorf("who: %v, %v", got, err)
	}
	if pid, _ := got.Int("pid"); int(pid) != os.Getpid() {
		t.Errorf("pid %d", pid)
	}
	if got, err := c.Do(ctx, payload.M("cmd", "nothing")); err != nil || got.Len() != 0 {
		t.Errorf("nothing: %v, %v", got, err)
	}
	for cmd, want := range map[string]string{
		"fail": "no such actor", "die": "internal error: runtime error: invalid memory address",
		"unpackable": "cannot be packed",
	} {
		var remote *RemoteError
		if _, err := c.Do(ctx, payload.M("cmd", cmd)); !errors.As(err, &remote) || !strings.Contains(remote.Text,
			want) {
			t.Errorf("%s: %v", cmd, err)
		}
	}
	big := payload.M("cmd", "echo", "b", make([]byte, 5<<20))
	if got, err := c.Do(ctx, big); err != nil || len(got.Bytes("b")) != 5<<20 {
		t.Errorf("5 MiB: %v", err)
	}
	var remote *RemoteError
	if _, err := c.Do(ctx, payload.M("b", make([]byte, maxRequest+1))); !errors.As(err, &remote) {
		t.Errorf("a request that is too big: %v", err)
	}
}

func TestControlParallel(t *testing.T) {
	c, cancelled := newControl(t, nil)
	ctx, cancel := context.WithCancelCause(within(t))
	var wg sync.WaitGroup
	for range 4 { // these hang and delay no other request
		wg.Go(func() {
			if _, err := c.Do(ctx, payload.M("cmd", "hang")); !errors.Is(err, errStop) {
				t.Errorf("hang: %v", err)
			}
		})
	}
	for i := range 50 {
		wg.Go(func() {
			got, err := c.Do(within(t), payload.M("cmd", "echo", "i", i))
			if n, _ := got.Int("i"); err != nil || int(n) != i {
				t.Errorf("echo %d: %v, %v", i, got, err)
			}
		})
	}
	// a hanging handler's context ends when its caller has gone; the request must have arrived before
	cancelAfterEcho(t, c, cancel)
	wg.Wait()
	for len(cancelled) > 0 {
		if err := <-cancelled; !errors.Is(err, context.Canceled) {
			t.Errorf("handler: %v", err)
		}
	}
}

func cancelAfterEcho(t *testing.T, c *ControlClient, cancel context.CancelCauseFunc) {
	t.Helper()
	if _, err := c.Do(within(t), payload.M("cmd", "echo")); err != nil {
		t.Errorf("echo: %v", err)
	}
	cancel(errStop)
}

// TestControlHangup: the handler's context ends when its caller has gone.
func TestControlHangup(t *testing.T) {
	c, cancelled := newControl(t, nil)
	conn := dial(t, c.addr)
	if err := writeMessage(conn, payload.M("cmd", "hang")); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := receive(t, "cancellation", cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("handler: %v", err)
	}
}

// TestControlConversation sends two requests on one connection, the second one before the first answer is read.
func TestControlConversation(t *testing.T) {
	c, _ := newControl(t, nil)
	conn := dial(t, c.addr)
	for i := range 2 {
		if err := writeMessage(conn, payload.M("cmd", "echo", "i", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		m, err := readMessage(conn, MaxFrame)
		if n, _ := m.Map("reply").Int("i"); err != nil || int(n) != i {
			t.Errorf("answer %d: %v, %v", i, m, err)
		}
	}
}

func TestControlRefuses(t *testing.T) {
	c, _ := newControl(t, func(p Peer) bool { return p.UID != os.Getuid() })
	var remote *RemoteError
	want := fmt.Sprintf("user %d may not use the control socket", os.Getuid())
	if _, err := c.Do(within(t), payload.M("cmd", "echo")); !errors.As(err, &remote) || remote.Text != want {
		t.Errorf("refused user: %v", err)
	}
	if _, err := NewControlClient(sock(t)).Do(within(t), payload.M()); err == nil {
		t.Error("nobody answers, and that is no error")
	}
}

func TestControlMalformed(t *testing.T) {
	c, _ := newControl(t, nil)
	dial(t, c.addr) // sends nothing
	for name, b := range map[string]string{
		"no map": "\x00\x00\x00\x01\x05", "no msgpack": "\x00\x00\x00\x01\xc1", "too long": "\xff\xff\xff\xff",
		"http": "GET / HTTP/1.1\r\n\r\n",
	} {
		conn := dial(t, c.addr)
		if _, err := conn.Write([]byte(b)); err != nil {
			t.Fatal(err)
		}
		m, err := readMessage(conn, MaxFrame)
		if err != nil || !strings.Contains(m.Str("error"), "malformed") {
			t.Errorf("%s: %v, %v", name, m, err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection lives on: %v", name, err)
		}
	}
	cut := dial(t, c.addr)
	if _, err := io.WriteString(cut, "\x00\x00\x00\x09\x81"); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Do(within(t), payload.M("cmd", "echo")); err != nil || got.Len() != 1 {
		t.Errorf("an honest caller: %v, %v", got, err)
	}
}

// TestControlAnswersWhoStopsIt: a request that makes the server stop still gets its reply.
func TestControlAnswersWhoStopsIt(t *testing.T) {
	for range 50 {
		s := NewControlServer(ControlOptions{Path: sock(t)})
		if err := s.Listen(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(within(t))
		served := make(chan error, 1)
		go func() {
			served <- s.Serve(ctx, func(ctx context.Context, _ Peer, req *payload.Map) (*payload.Map, error) {
				cancel(errStop)
				<-ctx.Done()
				return req, nil
			})
		}()
		req := payload.M("cmd", "stop")
		if got, err := NewControlClient(s.opt.Path).Do(within(t), req); err != nil || !got.Equal(req) {
			t.Errorf("got %v, %v", got, err)
		}
		if err := <-served; !errors.Is(err, errStop) {
			t.Errorf("the server ended with %v", err)
		}
	}
}
