//go:build !race

package statetest

// everyNth is which trees run: all.
const everyNth = 1
