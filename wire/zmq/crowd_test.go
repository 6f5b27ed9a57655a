package zmq

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// crowdRig is a crowd whose connections exist only in the test.
type crowdRig struct {
	*crowd
	open  map[int]string
	ended []int
	said  []string
	at    time.Time
}

func newCrowdRig(most int) *crowdRig {
	r := &crowdRig{open: map[int]string{}}
	r.crowd = newCrowd(most, func(full bool, peers int, who string) {
		r.said = append(r.said, fmt.Sprint(full, " ", peers, " of ", who))
	})
	r.peer = func(fd int) string { return r.open[fd] }
	r.shutdown = func(fd int) { r.ended = append(r.ended, fd); delete(r.open, fd) }
	r.now = func() time.Time { return r.at }
	return r
}

func (r *crowdRig) come(fd int, host string) {
	r.open[fd] = fmt.Sprintf("%s:%d", host, 1000+fd)
	r.accepted(fd, r.open[fd])
}

func TestCrowd(t *testing.T) {
	r := newCrowdRig(8)
	r.come(1, "10.0.0.1")
	r.come(2, "10.0.0.2")
	for fd := 10; fd < 16; fd++ {
		r.come(fd, "6.6.6.6")
	}
	if len(r.ended) != 0 {
		t.Fatalf("ended %v before the port was full", r.ended)
	}
	r.come(16, "6.6.6.6")
	r.come(3, "10.0.0.3")
	r.come(17, "6.6.6.6")
	if got := fmt.Sprint(r.ended); got != "[16 15 17]" {
		t.Errorf("ended %s, want the newest of the one who has the most", got)
	}
	if got := fmt.Sprint(r.said); got != "[true 9 of 6.6.6.6]" {
		t.Errorf("said %s", got)
	}
	for fd := 10; fd < 15; fd++ {
		r.gone(fd)
	}
	if got := r.said[len(r.said)-1]; !strings.HasPrefix(got, "false") || len(r.said) != 2 {
		t.Errorf("said %v", r.said)
	}
	if len(r.conns) != 3 || len(r.hosts) != 3 {
		t.Errorf("left: %v, %v", r.conns, r.hosts)
	}
}

// TestCrowdStale: connections that ended unnoticed free their places, and a reused descriptor is left alone.
func TestCrowdStale(t *testing.T) {
	r := newCrowdRig(2)
	r.at = time.Unix(1000, 0)
	r.come(1, "10.0.0.1")
	r.come(2, "10.0.0.2")
	delete(r.open, 1)
	r.come(3, "10.0.0.3")
	if len(r.ended) != 0 {
		t.Errorf("ended %v though one had ended", r.ended)
	}
	r.open[3] = "elsewhere:1"
	r.open[2] = "elsewhere:2"
	r.come(4, "10.0.0.3")
	if fmt.Sprint(r.ended) != "[4]" {
		t.Errorf("ended %v, want 4", r.ended)
	}
	r.come(2, "10.0.0.9") // the descriptor is used again
	if r.conns[2].host != "10.0.0.9" || len(r.hosts["10.0.0.2"]) != 0 {
		t.Errorf("got %v, %v", r.conns, r.hosts)
	}
}

// TestCrowdFailed: when no more connections can be accepted, one is ended at a time.
func TestCrowdFailed(t *testing.T) {
	r := newCrowdRig(8)
	r.failed()
	r.at = time.Unix(1000, 0)
	r.come(1, "10.0.0.1")
	r.come(2, "6.6.6.6")
	r.come(3, "6.6.6.6")
	r.failed()
	r.failed()
	if fmt.Sprint(r.ended) != "[3]" {
		t.Errorf("ended %v, want 3", r.ended)
	}
}

func TestHostOf(t *testing.T) {
	for peer, want := range map[string]string{
		"10.0.0.1:5": "10.0.0.1", "[2001:db8:1:2:3::4]:5": "2001:db8:1:2::/64",
		"[::ffff:10.0.0.1]:5": "::ffff:10.0.0.1", "x": "x",
	} {
		if got := hostOf(peer); got != want {
			t.Errorf("%s: got %s, want %s", peer, got, want)
		}
	}
}

// TestMaxPeers: of a hundred connections from one address few stay; another address keeps its own and can connect.
func TestMaxPeers(t *testing.T) {
	told := make(chan bool, 1000)
	full := func(is bool, _ int, _ string) { told <- is }
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort, MaxPeers: 8, OnFull: full}, echo)
	target := strings.TrimPrefix(r.Addr(), "tcp://")
	early := newReq(t, ReqOptions{Endpoint: "tcp://127.0.0.2:0;" + target})
	if _, err := early.Do(testContext(t), []byte("x")); err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	for range 100 {
		conn, err := net.Dial("tcp", target)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	if !receive(t, "that the port is full", told) {
		t.Error("told that there is room")
	}
	late := newReq(t, ReqOptions{Endpoint: "tcp://127.0.0.3:0;" + target})
	for _, q := range []*Req{early, late} {
		if _, err := q.Do(testContext(t), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	ends := make(chan error, len(conns))
	for _, conn := range conns {
		go func() { _, err := io.Copy(io.Discard, conn); ends <- err }()
	}
	for range len(conns) - 7 { // of 8 places, one address keeps no more than 7 beside two other addresses
		if err := receive(t, "end of a connection", ends); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	if receive(t, "that there is room", told) {
		t.Error("told twice that the port is full")
	}
}
