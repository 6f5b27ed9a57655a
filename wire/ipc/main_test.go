package ipc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errStop = errors.New("the test is over")

// within is a context that ends after the time limit of these tests.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// serve runs a server until the test ends. It checks that the server returns the cause and leaves no socket.
func serve(t *testing.T, addr string, run func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		cancel(errStop)
		if err := <-ended; !errors.Is(err, errStop) {
			t.Errorf("server of %s ended with %v", addr, err)
		}
		if _, err := os.Lstat(addr); err == nil {
			t.Errorf("%s is still there", addr)
		}
	})
}

func sock(t *testing.T) string { return filepath.Join(t.TempDir(), "s") }

func receive[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-within(t).Done():
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := Dial(within(t), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func body(i int) []byte { return fmt.Appendf(nil, "tag/%d\n\n\x80", i) }
