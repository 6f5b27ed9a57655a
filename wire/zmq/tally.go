package zmq

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// tally counts, for every connection of a server's socket, the bytes that were read as whole messages and the bytes
// that were given to libzmq for it. Bytes that the kernel has delivered beyond the first number, or has not yet sent of
// the second, are inside libzmq, which does not report them. The monitor's goroutine adds and removes connections, the
// reader counts. A nil tally counts nothing.
type tally struct {
	publishes bool // each outgoing message goes to all connections

	mu    sync.Mutex
	conns map[int]*account // by descriptor

	out    atomic.Int64 // bytes published, regardless of receivers
	recent recentBytes
}

// account is the record of one connection. All methods that count accept a nil account and do nothing.
type account struct {
	fd         int
	peer, host string
	cookie     uint64 // the kernel's number of the socket, which is unique; 0: the connection has not been reported yet
	before     int64  // bytes published before it connected

	in, out atomic.Int64 // bytes of whole messages that were read, and bytes given to libzmq
	known   atomic.Bool  // the peer has identified itself by its messages
	over    atomic.Bool  // it was ended; libzmq may not have noticed
}

func newTally(publishes bool) *tally { return &tally{publishes: publishes, conns: map[int]*account{}} }

// accepted adds a new connection. Messages of it may have been read before this call.
func (t *tally) accepted(fd int, peer string) {
	if t == nil {
		return
	}
	cookie := cookieOf(fd)
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.conns[fd]
	if cookie == 0 || peer == "" { // the connection has ended already
		delete(t.conns, fd)
		return
	}
	if a == nil || a.cookie != 0 && a.cookie != cookie {
		a = &account{fd: fd, before: t.out.Load()}
		t.conns[fd] = a
	}
	a.peer, a.host, a.cookie = peer, hostOf(peer), cookie
}

func (t *tally) gone(fd int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.conns[fd]; a != nil && a.cookie != 0 && a.peer == "" {
		return // the account belongs to the next connection, whose topic was vouched for before it was reported
	}
	delete(t.conns, fd)
}

// read counts one message of a connection.
func (t *tally) read(fd int, bytes int64) *account {
	if t == nil || fd < 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.conns[fd]
	if a == nil {
		a = &account{fd: fd, before: t.out.Load()}
		t.conns[fd] = a
	}
	a.in.Add(bytes)
	return a
}

// vouch notes that a connection belongs to a known peer.
func (t *tally) vouch(fd int) {
	if t == nil {
		return
	}
	cookie := cookieOf(fd)
	t.mu.Lock()
	a := t.conns[fd]
	if a != nil && a.cookie != 0 && cookie != 0 && cookie != a.cookie {
		// the end of the earlier connection has not been reported
		a = &account{fd: fd, cookie: cookie, before: t.out.Load()}
		t.conns[fd] = a
	}
	t.mu.Unlock()
	a.vouch()
}

// published counts one message to all connections.
func (t *tally) published(frames [][]byte) {
	if t == nil {
		return
	}
	bytes := int64(0)
	for _, frame := range frames {
		bytes += onWire(len(frame))
	}
	t.out.Add(bytes)
	t.recent.add(bytes)
}

func (t *tally) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.conns)
}

// holdings lists the connections for which libzmq holds memory, with the amount.
func (t *tally) holdings() (all []holding) {
	t.mu.Lock()
	conns := make([]*account, 0, len(t.conns))
	for _, a := range t.conns {
		if a.cookie != 0 && !a.over.Load() {
			conns = append(conns, a)
		}
	}
	t.mu.Unlock()
	for _, a := range conns {
		flow, ok := a.flow()
		if !ok {
			continue
		}
		given := a.out.Load()
		if t.publishes && flow.stuck > 0 {
			given = min(t.out.Load()-a.before, flow.sent+t.recent.sum())
		}
		h := holding{account: a, known: a.known.Load(), bytes: a.held(flow, given)}
		if h.bytes > 0 {
			all = append(all, h)
		}
	}
	return all
}

func (a *account) vouch() {
	if a != nil && !a.known.Load() {
		a.known.Store(true)
	}
}

// gave counts bytes that were given to libzmq for the peer.
func (a *account) gave(bytes int64) {
	if a != nil {
		a.out.Add(bytes)
	}
}

// handshake is about how many bytes each side sends besides its messages: the greeting and READY.
const handshake = 512

// held is how many bytes libzmq holds for a connection. Messages of an earlier connection with the same descriptor may
// have been counted for this one; held removes them, so that they do not hide bytes of this one.
func (a *account) held(f flow, given int64) int64 {
	in := a.in.Load()
	if in > f.received {
		a.in.Add(f.received - in)
		in = f.received
	}
	return max(0, f.received-in-handshake) + max(0, given-f.sent)
}

// flow is the kernel's count for a connection, in bytes.
type flow struct {
	received int64 // read by libzmq
	sent     int64 // given to the kernel by libzmq
	stuck    int64 // of these, not acknowledged by the peer
}

// flow asks the kernel. ok is false if the connection has ended; its descriptor may then belong to another one.
func (a *account) flow() (f flow, ok bool) {
	f, err := flowOf(a.fd)
	return f, err == nil && cookieOf(a.fd) == a.cookie
}

func flowOf(fd int) (f flow, err error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	waits, errIn := unix.IoctlGetInt(fd, unix.SIOCINQ)
	stuck, errOut := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	if err := errors.Join(err, errIn, errOut); err != nil {
		return f, fmt.Errorf("bytes of a connection: %w", err)
	}
	return flow{int64(info.Bytes_received) - int64(waits), int64(info.Bytes_acked) + int64(stuck), int64(stuck)}, nil
}

// sever shuts a connection down, and libzmq sees its end. The kernel answers later data of the peer with a reset:
// otherwise a peer whose receive window is closed would wait a minute for news. The connection may already have ended.
func sever(fd int) bool {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	return unix.Shutdown(fd, unix.SHUT_RDWR) == nil
}

// end shuts the connection down; libzmq sees its end. It returns false if the connection had already ended. It works on
// a copy of the descriptor, which stays the same socket even if the descriptor is reused.
func (a *account) end() bool {
	fd, err := unix.FcntlInt(uintptr(a.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	a.over.Store(true)
	return cookieOf(fd) == a.cookie && sever(fd)
}

// cookieOf is the kernel's number of a socket; 0 if the descriptor is not a socket.
func cookieOf(fd int) uint64 {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return 0
	}
	return cookie
}

// onWire is how many bytes a frame takes on the wire with its header.
func onWire(size int) int64 {
	if size > 255 {
		return int64(size) + 9
	}
	return int64(size) + 2
}

// recentBytes is the sum of the last messages: as many as can wait for a subscriber.
type recentBytes struct {
	mu   sync.Mutex
	last []int64
	at   int
	all  int64
}

func (r *recentBytes) add(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) < defaultHWM {
		r.last = append(r.last, bytes)
	} else {
		r.all -= r.last[r.at]
		r.last[r.at] = bytes
		r.at = (r.at + 1) % len(r.last)
	}
	r.all += bytes
}

func (r *recentBytes) sum() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}
