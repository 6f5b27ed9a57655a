package attack

import (
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// hangsUp waits until the master has closed a connection.
func (s *site) hangsUp(c net.Conn) {
	s.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, c); os.IsTimeout(err) {
		s.t.Errorf("the connection is still there: %v", err)
	}
}

// TestOldProtocols: peers with ZMTP 1 and 2 are refused at both ports. libzmq gives no address for them, so
// they could evade limits by address. The log reports them.
func TestOldProtocols(t *testing.T) {
	s := newSite(t, "")
	for _, hello := range []string{
		"\x01\x00\x01\x01\x02\x00x",
		"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x01\x05\x00\x00\x01\x00\x00\x01x",
	} {
		for _, port := range []int{s.ret, s.pub} {
			c := s.raw(port)
			if err := send(c, []byte(hello)); err != nil {
				t.Fatal(err)
			}
			s.hangsUp(c)
		}
	}
	s.said(s.master, "does not speak ZMTP 3")
	s.good()
}
