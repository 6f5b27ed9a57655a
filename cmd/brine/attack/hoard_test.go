package attack

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/cmd/tooltest"
	"brine/wire/client"
	"brine/wire/payload"
)

// hoarders are strangers at both ports, n of each kind. Each kind makes the master hold data without limit:
// incomplete large requests, chains of empty frames, unread answers, or unread publications. Each reconnects
// after its connection was ended, until leave is called.
func (s *site) hoarders(n int) (leave func()) {
	s.t.Helper()
	const subscriber = "\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB"
	chunk, empty := make([]byte, 1<<20), bytes.Repeat([]byte{1, 0}, 1<<15)
	question := s.question()
	kinds := []hoarder{
		{port: s.ret, hello: dealer + delimiter + string(frameHead(longFrame, 100<<20)), says: chunk, times: 99},
		{port: s.ret, hello: dealer, says: empty, times: 800},
		{port: s.pub, hello: greeting + subscriber, says: empty, times: 800},
		{port: s.ret, hello: dealer, says: question, times: 1000, deaf: true},
		{port: s.pub, hello: greeting + subscriber + "\x00\x01\x01", deaf: true}, // a subscription to everything
	}
	over := make(chan struct{})
	var busy sync.WaitGroup
	for range n {
		for _, h := range kinds {
			busy.Go(func() {
				for {
					select {
					case <-over:
						return
					case <-time.After(50 * time.Millisecond): // the machine has other work
						h.hoard(over)
					}
				}
			})
		}
	}
	return sync.OnceFunc(func() { close(over); busy.Wait() })
}

// question is a request that any client may make, repeated 64 times. Its answer is as long as those for
// strangers can be.
func (s *site) question() []byte {
	s.t.Helper()
	frame, err := (&payload.Request{Enc: payload.EncClear, Load: payload.M("cmd", payload.CmdPing, "x",
		strings.Repeat("x", 3000)), Version: 3}).Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	return bytes.Repeat(append(append([]byte(delimiter), frameHead(longFrame, len(frame))...), frame...), 64)
}

// hoarder sends bytes repeatedly and then stays until its connection is ended. A deaf hoarder reads nothing. It
// leaves after a while, because it does not notice the end.
type hoarder struct {
	port  int
	hello string
	says  []byte
	times int
	deaf  bool
}

// deafFor is the time after which a deaf hoarder leaves.
const deafFor = 3 * time.Second

// hoard is one connection of a hoarder.
func (h hoarder) hoard(over chan struct{}) {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", h.port))
	if err != nil {
		return // the port accepts no more
	}
	ended := make(chan struct{}) // the master or the time limit has ended the connection
	go func() {
		defer close(ended)
		if !h.deaf {
			_, _ = io.Copy(io.Discard, c)
			return
		}
		select {
		case <-over:
		case <-time.After(deafFor):
		}
	}()
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		select {
		case <-over:
		case <-ended:
		}
		_ = c.Close()
	}()
	_, err = io.WriteString(c, h.hello)
	for i := 0; i < h.times && err == nil; i++ {
		_, err = c.Write(h.says)
	}
	<-stop
	<-ended
}

// peak is the largest resident set size of a daemon so far, in bytes.
func (d *daemon) peak() (n int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, err := fmt.Sscan(kib, &n)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("no VmHWM of %s", d.name)
}

const (
	saidEnded      = "a connection was ended: too much memory is held"
	saidKnownEnded = "a connection of a minion was ended: too much memory is held"
)

// TestHoard: forty incomplete requests of 100 MiB, and 50 MB of empty frames at each port, which need 1.6 GiB
// in libzmq, use the permitted memory and little more. The peak was 1.1 to 1.3 GiB, at rest and beside two busy
// loops on two cores. The excess depends on the machine, because senders continue until the guard has noticed
// and ended them. The log reports the ended connections.
func TestHoard(t *testing.T) {
	if tooltest.Race {
		t.Skip("the race detector's own memory is no part of what is measured")
	}
	for name, attack := range map[string]func(s *site){
		"halves": func(s *site) { s.half(40, 100<<20, 99<<20) },
		"frames to the request port": func(s *site) {
			_ = send(s.greeted(), bytes.Repeat([]byte{1, 0}, 25<<20))
		},
		"frames to the publish port": func(s *site) {
			_ = send(s.publishPeer(), bytes.Repeat([]byte{1, 0}, 25<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "")
			attack(s)
			s.said(s.master, saidEnded)
			s.good()
			s.holds(name, 1200<<20)
			if peak, err := s.master.peak(); err != nil || peak > 2<<30 {
				t.Errorf("%d MiB at most, %v", peak>>20, err)
			} else {
				t.Logf("%d MiB at most", peak>>20)
			}
			s.good()
		})
	}
}

// TestHoardInGroup: a master in a control group of 128 MB lives while strangers hoard as much as they can.
func TestHoardInGroup(t *testing.T) {
	s, _ := newGroupSite(t)
	leave := s.hoarders(2)
	defer leave()
	s.said(s.master, saidEnded)
	for range 5 {
		s.eventually("the minion beside hoarders", func() error { return s.ping(patience / 4) })
	}
	leave()
	if !s.master.running() {
		t.Fatalf("the master ended: %s", s.logOf(s.master))
	}
	s.good()
}

// TestReturnsBesideHoarders: five hundred emulated minions return jobs while strangers hoard. All returns are
// acknowledged, and no connection of a minion is ended.
func TestReturnsBesideHoarders(t *testing.T) {
	const minions = 500
	s := newBareSite(t, "request_bytes_max: 16777216\n")
	s.minions["fleet"] = s.start("fleet", filepath.Join(links, "brine"), "emulate", "--minions", fmt.Sprint(minions),
		"--ret-port", fmt.Sprint(s.ret), "--publish-port", fmt.Sprint(s.pub), "--key-dir", s.root)
	all := func(limit time.Duration) error {
		got, err := s.run(limit, client.Job{Tgt: "emu*", Fun: "test.ping"})
		if err == nil && len(got) < minions {
			err = fmt.Errorf("%d of %d return", len(got), minions)
		}
		return err
	}
	s.eventually("the fleet", func() error { return all(patience / 4) })
	leave := s.hoarders(2)
	defer leave()
	s.said(s.master, saidEnded)
	for range 3 {
		if err := all(patience); err != nil {
			t.Error(err)
		}
	}
	leave()
	if strings.Contains(s.logOf(s.master), saidKnownEnded) {
		t.Error("a connection of a minion was ended")
	}
	s.good()
}
