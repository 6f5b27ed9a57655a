package saltmaster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/cmd/session"
	"brine/cmd/tool"
)

// exitPortsTaken is the exit code of a master whose ports are in use.
const exitPortsTaken = 4

// portsWithin is how long the master waits for a port. If a master was killed together with its parent, its
// ports may still be open when the next one starts.
const portsWithin = time.Second

// probe binds an address and frees it again. While the address is in use, it tries again until the time is
// over, with a pause after each attempt.
func probe(addr string, within time.Duration, pause func()) error {
	for limit := time.Now().Add(within); ; pause() {
		l, err := (&net.ListenConfig{Control: reuseAddr}).Listen(context.Background(), "tcp", addr)
		if err == nil {
			return l.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(limit) {
			return err
		}
	}
}

// probePorts binds both ports once, so that a second master ends before it has changed anything.
func probePorts(s *session.Session) error {
	for _, port := range []int{s.Master.PublishPort, s.Master.RetPort} {
		addr := net.JoinHostPort(strings.Trim(s.Master.Interface, "[]"), strconv.Itoa(port))
		err := probe(addr, portsWithin, func() { time.Sleep(portsWithin / 50) })
		if err == nil {
			continue
		}
		var no syscall.Errno
		errors.As(err, &no)
		s.Log.Warn(fmt.Sprintf("Unable to bind socket %s:%d, error: [Errno %d] %s; Is there another salt-master "+
			"running?",
			s.Master.Interface, port, int(no), sentence(no.Error())))
		return tool.ExitFor(err, exitPortsTaken, "The salt master is shutdown. The ports are not available to bind")
	}
	return nil
}

func reuseAddr(_, _ string, c syscall.RawConn) error {
	var err error
	if ctlErr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	}); ctlErr != nil {
		return ctlErr
	}
	return err
}

// sentence writes the first letter of a text as a capital.
func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
