//go:build race

package statetest

// everyNth is which trees run under the race detector: it looks for other faults than the trees do, and would take an
// hour for all. All of them run without it (task race).
const everyNth = 8
