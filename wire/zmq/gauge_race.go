//go:build race

package zmq

// #include <malloc.h>
// static size_t brine_malloced(void) { struct mallinfo2 m = mallinfo2(); return m.uordblks + m.hblkhd; }
import "C"

// allocated reads what C's allocator has given out: the race detector has more memory of its own than libzmq has, and
// takes it from the kernel itself.
type allocated struct{}

func newGauge() (allocated, error) { return allocated{}, nil }

func (allocated) bytes() (int64, error) { return int64(C.brine_malloced()), nil }

func (allocated) close() error { return nil }
