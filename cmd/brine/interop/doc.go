// Package interop holds brine against real Salt: real processes of the releases that .ci/salt-peers installs,
// real brine processes, loopback, own directories and ports. It has tests only (build tag interop) and
// exports nothing. A site is one master with its minions; rig_test.go starts and ends the processes.
package interop
