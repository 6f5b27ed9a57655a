package zmq

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// tally knows of every connection of a server's socket how many bytes of it have been read as whole messages, and how
// many were given to libzmq for it. What the kernel has taken in beyond the first, and has not sent of the second, is
// with libzmq: it tells nobody. The monitor's goroutine enters and removes connections, the reader counts; a nil tally
// counts nothing.
type tally struct {
	publishes bool // what goes out goes to all

	mu    sync.Mutex
	conns map[int]*account // by descriptor

	out    atomic.Int64 // bytes published, to whomever
	recent recentBytes
}

// account is what is known of one connection. A nil account takes all and keeps nothing.
type account struct {
	fd         int
	peer, host string
	cookie     uint64 // the kernel's number of the socket, which no other one gets; 0: it has not been told of
	before     int64  // bytes that were published before it came

	in, out atomic.Int64 // bytes of whole messages that were read, and that were given to libzmq
	known   atomic.Bool  // its messages have shown who it is
	over    atomic.Bool  // it was ended; libzmq may not know yet
}

func newTally(publishes bool) *tally { return &tally{publishes: publishes, conns: map[int]*account{}} }

// accepted enters a new connection. Messages of it may have been read before this is told.
func (t *tally) accepted(fd int, peer string) {
	if t == nil {
		return
	}
	cookie := cookieOf(fd)
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.conns[fd]
	if cookie == 0 || peer == "" { // ended already
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
		return // it is the next one's, whose topic was vouched for before it was told of
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

// vouch notes that a connection is a known peer's.
func (t *tally) vouch(fd int) {
	if t == nil {
		return
	}
	cookie := cookieOf(fd)
	t.mu.Lock()
	a := t.conns[fd]
	if a != nil && a.cookie != 0 && cookie != 0 && cookie != a.cookie {
		// the end of the one before has not been told of
		a = &account{fd: fd, cookie: cookie, before: t.out.Load()}
		t.conns[fd] = a
	}
	t.mu.Unlock()
	a.vouch()
}

// published counts one message to all.
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

// holdings is what libzmq holds of each connection, of those of which it holds anything.
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

// gave counts what was given to libzmq for the peer.
func (a *account) gave(bytes int64) {
	if a != nil {
		a.out.Add(bytes)
	}
}

// handshake is about how much more than its messages a peer sends and is sent, in bytes: the greeting and READY.
const handshake = 512

// held is what libzmq holds of a connection. Messages of the connection that had the descriptor before may have been
// counted for this one; they must give it no credit.
func (a *account) held(f flow, given int64) int64 {
	in := a.in.Load()
	if in > f.received {
		a.in.Add(f.received - in)
		in = f.received
	}
	return max(0, f.received-in-handshake) + max(0, given-f.sent)
}

// flow is what the kernel says of a connection, in bytes.
type flow struct {
	received int64 // that libzmq has taken
	sent     int64 // that libzmq has given to the kernel
	stuck    int64 // of these the peer has not acknowledged
}

// flow asks the kernel; false: the connection has ended, and the descriptor may be another one's.
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

// sever ends a connection, of which libzmq then sees the end. What the other side still sends is answered by a reset:
// else one that fills a closed window waits a minute for a word of it. It may have ended by itself.
func sever(fd int) bool {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	return unix.Shutdown(fd, unix.SHUT_RDWR) == nil
}

// end shuts the connection down, which libzmq takes for its end; false: it had ended. A copy of the descriptor stays
// the same socket whatever happens to the descriptor.
func (a *account) end() bool {
	fd, err := unix.FcntlInt(uintptr(a.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	a.over.Store(true)
	return cookieOf(fd) == a.cookie && sever(fd)
}

// cookieOf is the kernel's number of a socket, 0 when the descriptor is none.
func cookieOf(fd int) uint64 {
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return 0
	}
	return cookie
}

// onWire is how many bytes a frame takes on the wire, its head included.
func onWire(size int) int64 {
	if size > 255 {
		return int64(size) + 9
	}
	return int64(size) + 2
}

// recentBytes is the sum of the last messages, as many as wait for a subscriber at most.
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
