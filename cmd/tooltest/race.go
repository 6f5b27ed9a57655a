//go:build race

package tooltest

// Race tells whether the tests, and the binaries that Build makes, run under the race detector.
const Race = true
