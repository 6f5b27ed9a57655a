//go:build !race

package tooltest

// Race says that the tests, and with them what Build makes, run under the race detector.
const Race = false
