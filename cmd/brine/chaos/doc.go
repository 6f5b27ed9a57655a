// Package chaos harms a fleet of real processes while jobs run, and checks that nothing is lost: a brine
// master, brine minions of both kinds (jobs inside the minion's process, jobs in separate processes) and, with
// the build tag interop, minions of Salt. It contains only tests and exports nothing. docs/chaos.md describes
// the faults, the checks, and how to replay a run.
//
// A round is a plan of faults at random times (plan_test.go, a pure function of the seed), carried out under a
// steady load (load_test.go). Afterwards the faults are undone, and all promises are checked (check_test.go:
// jobs; leaks_test.go: processes, goroutines, descriptors).
package chaos
