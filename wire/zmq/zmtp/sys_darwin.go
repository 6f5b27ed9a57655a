package zmtp

import "golang.org/x/sys/unix"

const optKeepIdle = unix.TCP_KEEPALIVE
