// Package saltutil holds the execution functions of module saltutil: the jobs of this minion, renewing what it
// holds in memory, its caches and keys, and commands to the master on the same host.
//
// Jobs come from the minion that runs them (loader.Jobs). Where there is none, as in salt-call, the proc files of
// the cache directory are read by Salt's rules. It answers to salt/modules/saltutil.py.
package saltutil

import (
	"slices"

	"brine/modules/loader"
)

// Module is the module saltutil.
func Module() loader.Module {
	return loader.Module{File: "saltutil", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(jobFunctions(), refreshFunctions(), syncFunctions(), cacheFunctions(), masterFunctions())
	}}
}

func jobFunctions() []loader.Func {
	return []loader.Func{
		loader.Fn("running", running, "List the jobs that run on this minion, without the one that asks.",
			"saltutil.running"),
		loader.Fn("is_running", isRunning, "List the running jobs of functions that match a glob.",
			"saltutil.is_running state.apply"),
		loader.Fn("find_job", findJob,
			"Show a job that runs here or waits in a queue; an empty map when there is none.",
			"saltutil.find_job <job id>"),
		loader.Fn("find_cached_job", findCachedJob, "Show the return of a job kept by cache_jobs.",
			"saltutil.find_cached_job <job id>"),
		loader.Fn("signal_job", signalJob, "Send a signal to a job and all its processes.",
			"saltutil.signal_job <job id> 15"),
		loader.Fn("term_job", termJob, "End a job by SIGTERM.", "saltutil.term_job <job id>"),
		loader.Fn("kill_job", killJob, "End a job by SIGKILL.", "saltutil.kill_job <job id>"),
		loader.Fn("term_all_jobs", termAll, "End all jobs by SIGTERM.", "saltutil.term_all_jobs"),
		loader.Fn("kill_all_jobs", killAll, "End all jobs by SIGKILL.", "saltutil.kill_all_jobs"),
	}
}
