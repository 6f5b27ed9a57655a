package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// saltBus serves the two sockets of a bus in one loop, as real Salt does. A turn looks at all descriptors, newest
// first, and their work is done a turn later. An event takes three turns from socket to socket.
type saltBus struct {
	t          *testing.T
	pull, pub  string
	takes, has Framing      // framing of the pull and of the pub socket
	garbage    atomic.Int32 // errors that it logged

	stop, stopped int // two ends of a pipe
	doors         [2]int
	senders       map[int][]byte // bytes that are not yet a whole frame
	readers       map[int][]byte // bytes to write
	order         []int
	todo          []func()
}

func newSaltBus(t *testing.T, dir string, takes, has Framing) *saltBus {
	t.Helper()
	b := &saltBus{t: t, takes: takes, has: has, pull: filepath.Join(dir, "pull"), pub: filepath.Join(dir, "pub"),
		senders: map[int][]byte{}, readers: map[int][]byte{}}
	var pipe [2]int
	b.must(unix.Pipe2(pipe[:], unix.O_CLOEXEC))
	b.stopped, b.stop = pipe[0], pipe[1]
	for i, path := range []string{b.pull, b.pub} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		b.must(err)
		b.must(unix.Bind(fd, &unix.SockaddrUnix{Name: path}))
		b.must(unix.Listen(fd, 128))
		b.doors[i] = fd
	}
	return b
}

func (b *saltBus) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// start runs the loop until end is called or the test ends.
func (b *saltBus) start() (end func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.loop()
	}()
	var ended atomic.Bool
	end = func() {
		if !ended.Swap(true) {
			_ = unix.Close(b.stop)
			<-done
		}
	}
	b.t.Cleanup(end)
	return end
}

func (b *saltBus) loop() {
	defer func() {
		for _, fd := range append(b.order, b.stopped, b.doors[0], b.doors[1]) {
			_ = unix.Close(fd)
		}
	}()
	for {
		fds := []unix.PollFd{{Fd: int32(b.stopped), Events: unix.POLLIN}, {Fd: int32(b.doors[0]), Events: unix.POLLIN},
			{Fd: int32(b.doors[1]), Events: unix.POLLIN}}
		for _, fd := range b.order {
			ask := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
			if len(b.readers[fd]) > 0 {
				ask.Events |= unix.POLLOUT
			}
			fds = append(fds, ask)
		}
		wait := -1
		if len(b.todo) > 0 {
			wait = 0
		}
		if _, err := unix.Poll(fds, wait); err != nil && !errors.Is(err, unix.EINTR) {
			b.t.Errorf("poll: %v", err)
			return
		}
		if fds[0].Revents != 0 {
			return
		}
		now := b.todo
		b.todo = nil
		for _, p := range slices.Backward(fds) {
			if p.Revents != 0 {
				b.handle(int(p.Fd))
			}
		}
		for _, do := range now {
			do()
		}
	}
}

func (b *saltBus) handle(fd int) {
	if door := slices.Index(b.doors[:], fd); door >= 0 {
		b.accept(door)
		return
	}
	b.flush(fd)
	buf := make([]byte, 64<<10)
	switch n, err := unix.Read(fd, buf); {
	case errors.Is(err, unix.EAGAIN):
	case err != nil || n == 0:
		b.drop(fd)
	default:
		if got, ok := b.senders[fd]; ok {
			b.senders[fd] = append(got, buf[:n]...)
			b.todo = append(b.todo, func() { b.parse(fd) })
		}
	}
}

func (b *saltBus) accept(door int) {
	for {
		fd, _, err := unix.Accept4(b.doors[door], unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		b.order = append(b.order, fd)
		if door == 0 {
			b.senders[fd] = []byte{}
		} else {
			b.readers[fd] = []byte{}
		}
	}
}

func (b *saltBus) drop(fd int) {
	b.order = slices.DeleteFunc(b.order, func(o int) bool { return o == fd })
	delete(b.senders, fd)
	delete(b.readers, fd)
	_ = unix.Close(fd)
}

// parse removes the whole frames from the bytes of a sender. Like Salt, it waits for as many bytes as the length says.
func (b *saltBus) parse(fd int) {
	for got := b.senders[fd]; len(got) > 0; got = b.senders[fd] {
		head := 0
		if b.takes == FramingLength {
			if head = lengthSize; len(got) < head || uint64(len(got)-head) < uint64(binary.BigEndian.Uint32(got)) {
				return
			}
		}
		body, err := NewReader(bytes.NewReader(got[head:]), FramingPlain).Next()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return
		}
		if err != nil {
			b.garbage.Add(1)
			b.senders[fd] = nil
			return
		}
		b.senders[fd] = got[len(EncodeFrame(body, b.takes)):]
		b.todo = append(b.todo, func() { b.publish(EncodeFrame(body, b.has)) })
	}
}

func (b *saltBus) publish(frame []byte) {
	for fd := range b.readers {
		b.todo = append(b.todo, func() {
			if left, ok := b.readers[fd]; ok {
				b.readers[fd] = append(left, frame...)
				b.flush(fd)
			}
		})
	}
}

func (b *saltBus) flush(fd int) {
	for left := b.readers[fd]; len(left) > 0; left = b.readers[fd] {
		n, err := unix.Write(fd, left)
		if err != nil {
			return
		}
		b.readers[fd] = left[n:]
	}
}

// listen subscribes, and returns when the bus knows the subscriber.
func (b *saltBus) listen(ctx context.Context) *Subscription {
	b.t.Helper()
	sub, err := Subscribe(ctx, b.pub, FramingDetect)
	b.must(err)
	b.t.Cleanup(func() { _ = sub.Close() })
	b.must(NewAskingPusher(b.pull, b.pub).turn(ctx))
	return sub
}
