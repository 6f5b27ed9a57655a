//go:build staticzmq && cgo

package zmq

// The build tag staticzmq links libzmq into the binary, as ./task build does where the archives are there: the
// dynamic loader has four libraries to find and bind at each start instead of twenty. The folder static holds a linker
// script in libzmq's name; static.c stands in for the protocols that brine never speaks.

// #cgo LDFLAGS: -L${SRCDIR}/static
import "C"
