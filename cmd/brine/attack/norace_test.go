//go:build !race

package attack

// raceBuild says that the tests, and with them the daemons, run under the race detector.
const raceBuild = false
