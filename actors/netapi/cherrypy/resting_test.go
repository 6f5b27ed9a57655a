package cherrypy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// kept opens a connection from an address, gets one request answered on it, and keeps it open.
func (s *site) kept(from string) net.Conn {
	s.t.Helper()
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	if err := served(c); err != nil {
		s.t.Fatalf("%s: %v", from, err)
	}
	return c
}

// served sends a request on a connection and reads the answer.
func served(c net.Conn) error {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return resp.Body.Close()
}

// TestKeptAliveGivesWay: idle kept-alive connections exclude no other client, neither at the same address nor
// at another. Connections with a running request are left alone.
func TestKeptAliveGivesWay(t *testing.T) {
	s := open(t, nil)
	busy := make(chan answer, 1)
	go func() { busy <- s.ask("POST", "/run", sleep) }()
	<-s.master.asked // one of 200 is in use
	var list []net.Conn
	for range 100 { // with the busy one, these are one more than half of all
		list = append(list, s.kept("127.0.0.1"))
	}
	gone := 0
	for _, c := range list {
		if served(c) != nil {
			gone++
		}
	}
	if gone != 1 {
		t.Errorf("%d have given way to one", gone)
	}
	for i := 2; i <= 5; i++ {
		for range 25 {
			s.kept(fmt.Sprint("127.0.0.", i))
		}
	}
	s.kept("127.0.0.9") // all 200 are in use
	s.kept("127.0.0.9")
	s.kept("127.0.0.5")
	if err := s.srv.Supervisor().Restart("Calls/Call-1"); err != nil {
		t.Fatal(err)
	}
	s.expect("what was asked all the time", <-busy, 500, "unexpected error")
}
