// Package chaos harms a fleet of real processes while jobs run, and checks that nothing is lost: a brine master, brine
// minions of both kinds (jobs in the process, jobs in processes of their own) and, with the build tag interop, minions
// of Salt. It has tests only and exports nothing. docs/chaos.md tells what is injected, what is checked, and how a run
// is replayed.
//
// A round is a plan of faults with their moments (plan_test.go, a pure function of the seed), carried out under a
// steady load (load_test.go). When it is over the faults are undone, and everything that was promised is looked for
// (check_test.go: jobs; leaks_test.go: processes, goroutines, descriptors).
package chaos
