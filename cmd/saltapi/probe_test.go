package saltapi

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	reserved "brine/wire/loopback"
)

// portOfOnesOwn returns a port that no other process takes until the test ends.
func portOfOnesOwn(t *testing.T) int {
	t.Helper()
	p, err := reserved.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Release(); err != nil {
			t.Error(err)
		}
	})
	return p.Number
}

// hasIPv6 tells whether the machine has an IPv6 loopback. Containers often have none.
func hasIPv6(t *testing.T) bool {
	t.Helper()
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Logf("no IPv6 here: %v", err)
		return false
	}
	return ln.Close() == nil
}

// TestProbe: probe reports an address in use under each of its names. The clients of that server notice
// nothing.
func TestProbe(t *testing.T) {
	for _, tt := range []struct{ serves, asked string }{
		{"127.0.0.1", "127.0.0.1"}, {"127.0.0.1", "0.0.0.0"}, {"127.0.0.1", ""}, {"", "127.0.0.1"},
		{"0.0.0.0", "0.0.0.0"}, {"127.0.0.1", "localhost"}, {"::1", "::1"}, {"::1", ""}, {"::1", "::"}, {"", "::1"},
	} {
		if strings.Contains(tt.serves+tt.asked, ":") && !hasIPv6(t) {
			continue
		}
		port := portOfOnesOwn(t)
		ln, err := net.Listen("tcp", net.JoinHostPort(tt.serves, strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		err = free(tt.asked, port)
		if !errors.Is(err, syscall.EADDRINUSE) || !strings.HasPrefix(err.Error(), "listen tcp ") ||
			!strings.Contains(err.Error(), "bind: address already in use") {
			t.Errorf("%q while %q is served: %v", tt.asked, tt.serves, err)
		}
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		if err := free(tt.asked, port); err != nil {
			t.Errorf("%q when nobody serves: %v", tt.asked, err)
		}
	}
	if err := free("256.0.0.1", 1); err == nil {
		t.Error("no address is free")
	}
}

// TestProbeResetsNobody: a client that connects during a probe is refused, as if no process listened. An
// accepted client would be reset at the end of the probe.
func TestProbeResetsNobody(t *testing.T) {
	port := portOfOnesOwn(t)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		for ctx.Err() == nil {
			if err := free("127.0.0.1", port); err != nil {
				t.Error(err)
				return
			}
		}
	})
	// The client uses another address, because a client that connects to its own port connects to itself.
	client := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: time.Minute}
	for range 500 {
		conn, err := client.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			_ = conn.Close()
			t.Fatal("a client was let in")
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatal(err)
		}
	}
}
