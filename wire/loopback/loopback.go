// Package loopback finds TCP ports of this machine for daemons that are about to be started, in tests and
// measurements. It opens no connection and has nothing to do with Salt.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
)

// Ports below firstPort belong to services. The kernel gives ports from lastPort on to outgoing connections, unless
// ip_local_port_range says otherwise.
const (
	firstPort = 10000
	lastPort  = 32768
)

// ErrNoPort means that no port was free in many tries.
var ErrNoPort = errors.New("loopback: no free port")

// Port is a TCP port on which nothing listens, and which no other Reserve returns until Release.
type Port struct {
	Number int
	mark   net.Listener
}

// Reserve finds a port. A listener on port 0 that is closed again leaves a gap in which another process can get the
// same port; Reserve leaves none. The port lies outside the range that the kernel hands out, and an abstract Unix
// socket, which ends with the process, marks it as taken for all callers of Reserve on this machine. Errors: ErrNoPort.
func Reserve() (*Port, error) {
	end := min(lastPort, kernelRange())
	for range 1000 {
		if p := try(firstPort + rand.IntN(end-firstPort)); p != nil {
			return p, nil
		}
	}
	return nil, ErrNoPort
}

// Release makes the port available again.
func (p *Port) Release() error { return p.mark.Close() }

func try(number int) *Port {
	mark, err := net.Listen("unix", fmt.Sprintf("@brine-port-%d", number))
	if err != nil {
		return nil
	}
	for _, host := range []string{"", "127.0.0.1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(number)))
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			_ = mark.Close() // an abstract socket leaves nothing behind
			return nil
		}
	}
	return &Port{Number: number, mark: mark}
}

// kernelRange is the first port that the kernel gives to outgoing connections, or lastPort if that one is too low.
func kernelRange() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return lastPort
	}
	first, err := strconv.Atoi(strings.Fields(string(text) + " -")[0])
	if err != nil || first < 2*firstPort {
		return lastPort
	}
	return first
}
