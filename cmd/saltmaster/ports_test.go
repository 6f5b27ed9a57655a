package saltmaster

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
)

// TestProbe: a port that becomes free in time counts as free. A port that stays in use does not.
func TestProbe(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := held.Addr().String()
	if err := probe(addr, 0, func() {}); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("held: got %v", err)
	}
	tries := 0
	err = probe(addr, time.Minute, func() {
		if tries++; tries == 3 { // as if the process that held it had ended
			if err := held.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || tries < 3 { // another process may have taken the port meanwhile
		t.Errorf("freed: got %v after %d tries", err, tries)
	}
	if err := probe("127.0.0.1:port", time.Minute, func() { t.Error("tried again") }); err == nil {
		t.Error("no error for an address that is none")
	}
}
