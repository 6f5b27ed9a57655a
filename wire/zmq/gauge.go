//go:build !race

package zmq

// newGauge reads how much memory the guard has to look at.
func newGauge() (*outside, error) { return newOutside() }
