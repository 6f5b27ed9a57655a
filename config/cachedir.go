package config

// Names in a minion's cache directory for data that must outlive its process.
const (
	// jobs that have begun and returns that no master has acknowledged; see docs/decisions/0006
	JobsJournal = "jobs.journal"
	JobsPast    = "jobs.past" // jids of accepted jobs; see docs/decisions/0022
	JobQueues   = "queues"    // directory of the jobs that wait because of process_count_max
)
