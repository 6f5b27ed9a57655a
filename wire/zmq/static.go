//go:build staticzmq && cgo

package zmq

// The build tag staticzmq links libzmq into the binary; ./task build sets it if the archives are installed. The dynamic
// loader then has to find and bind four libraries at each start instead of twenty. The folder static holds a linker
// script in libzmq's name; static.c replaces the protocols that brine never speaks.

// #cgo LDFLAGS: -L${SRCDIR}/static
import "C"
