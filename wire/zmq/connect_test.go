package zmq

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fullPort is a port whose queue is full: the kernel drops requests for a connection.
func fullPort(t *testing.T) (addr string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
		unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr = fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	for range 100 {
		c, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if err != nil { // or the machine is slow
			c, err = net.DialTimeout("tcp", addr, 3*time.Second)
		}
		if err != nil {
			return addr
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Skip("the kernel takes connections that nobody accepts")
	return ""
}

// TestConnectAgain: an attempt without an answer is given up, and the next one begins.
func TestConnectAgain(t *testing.T) {
	addr := "tcp://" + fullPort(t)
	again := make(chan Event, 1000)
	onEvent := func(e Event) {
		if e.Kind == Retrying {
			again <- e
		}
	}
	startSub(t, SubOptions{Endpoint: addr, ConnectTimeout: 50 * time.Millisecond, ReconnectIvl: time.Millisecond,
		OnEvent: onEvent}, func([][]byte) {})
	receive(t, "first attempt to be given up", again)
	receive(t, "second attempt to be given up", again)
}
