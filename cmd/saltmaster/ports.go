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

// exitPortsTaken is the code of a master whose ports are taken.
const exitPortsTaken = 4

// portsWithin is how long a port may be taken: a master that was killed together with its parent has not closed its
// ports yet when the next one is started.
const portsWithin = time.Second

// probe binds an address once, when it is free. It pauses between two tries.
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

// sentence begins a text with a capital letter.
func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
