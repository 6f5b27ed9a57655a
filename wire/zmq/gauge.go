//go:build !race

package zmq

// newGauge makes the reader of the memory that the guard watches.
func newGauge() (*outside, error) { return newOutside() }
