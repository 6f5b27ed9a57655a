// Package interop compares brine with real Salt: real processes of the releases that .ci/salt-peers installs,
// real brine processes, loopback, separate directories and ports. It contains only tests (build tag interop)
// and exports nothing. A site is one master with its minions. rig_test.go starts and ends the processes.
package interop
