package zmtp

import "golang.org/x/sys/unix"

// accept takes one connection, which neither blocks nor is inherited. unix.EAGAIN: there is none.
func accept(fd int) (int, unix.Sockaddr, error) {
	return unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
}

const optKeepIdle = unix.TCP_KEEPIDLE
