//go:build unix && !linux

package zmtp

import "golang.org/x/sys/unix"

// accept takes one connection, which neither blocks nor is inherited. unix.EAGAIN: there is none.
func accept(fd int) (int, unix.Sockaddr, error) {
	conn, peer, err := unix.Accept(fd)
	if err != nil {
		return -1, nil, err
	}
	unix.CloseOnExec(conn)
	return conn, peer, unix.SetNonblock(conn, true)
}
