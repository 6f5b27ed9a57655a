package config

// Names in the cache directory of a minion, of what has to outlive its process.
const (
	// jobs that have begun and returns that no master has acknowledged; see docs/decisions/0006
	JobsJournal = "jobs.journal"
	JobsPast    = "jobs.past" // jids of the jobs that were taken; see docs/decisions/0022
	JobQueues   = "queues"    // directory of the jobs that wait behind process_count_max
)
