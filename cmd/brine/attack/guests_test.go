package attack

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"
)

// flood sends the same small request without pause, and reads the answers, until leave is called.
func (s *site) flood(n int, from string, load *payload.Map) (leave func()) {
	s.t.Helper()
	frame, err := (&payload.Request{Enc: payload.EncClear, Load: load, Version: 3}).Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	request := append([]byte(delimiter), frameHead(longFrame, len(frame))...)
	many := bytes.Repeat(append(request, frame...), 256)
	var busy sync.WaitGroup
	var all []net.Conn
	for range n {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.ret))
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, c)
		s.greet(c)
		busy.Go(func() { _, _ = io.Copy(io.Discard, c) })
		busy.Go(func() {
			for err := error(nil); err == nil; {
				err = send(c, many)
			}
		})
	}
	leave = sync.OnceFunc(func() {
		for _, c := range all {
			_ = c.Close()
		}
		busy.Wait()
	})
	s.t.Cleanup(leave)
	return leave
}

// TestFloodOfGuests: strangers send more small requests than may wait. They do not delay an operator at another
// address or a known minion, and do not take their places. All requests of the strangers are answered, too.
func TestFloodOfGuests(t *testing.T) {
	s := newSite(t, "request_queue_max: 64\n")
	leave := s.flood(2, "127.0.0.9", payload.M("cmd", payload.CmdPing))
	s.said(s.master, "requests are refused: too many wait")
	for range 20 {
		got, err := s.run(patience, client.Job{Tgt: honest, Fun: "test.ping"})
		if err != nil || got[honest] == nil {
			t.Errorf("got %v, %v", got, err)
		}
	}
	leave()
	s.good()
}
