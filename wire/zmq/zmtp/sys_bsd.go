//go:build unix && !linux && !darwin

package zmtp

import "golang.org/x/sys/unix"

const optKeepIdle = unix.TCP_KEEPIDLE
