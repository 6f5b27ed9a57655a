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

// Functions lists the module's functions.
func Functions() []loader.Func {
	funcs := slices.Concat(jobFunctions(), refreshFunctions(), syncFunctions(), cacheFunctions(), masterFunctions())
	for i := range funcs {
		funcs[i].Source = "salt/modules/saltutil.py"
	}
	return funcs
}

func jobFunctions() []loader.Func {
	jid := []loader.Param{loader.Req("jid")}
	return []loader.Func{
		{Name: "saltutil.running", Run: running, Doc: `List the jobs that run on this minion, without the one that asks.

CLI Example:

    salt '*' saltutil.running`},
		{Name: "saltutil.is_running", Params: []loader.Param{loader.Req("fun")}, Run: isRunning,
			Doc: `List the running jobs of functions that match a glob.

CLI Example:

    salt '*' saltutil.is_running state.apply`},
		{Name: "saltutil.find_job", Params: jid, Run: findJob, Doc: `Show a job that runs here or waits in a queue; an empty map when there is none.

CLI Example:

    salt '*' saltutil.find_job <job id>`},
		{Name: "saltutil.find_cached_job", Params: jid, Run: findCachedJob, Doc: `Show the return of a job kept by cache_jobs.

CLI Example:

    salt '*' saltutil.find_cached_job <job id>`},
		{Name: "saltutil.signal_job", Params: []loader.Param{loader.Req("jid"), loader.Req("sig")}, Run: signalJob,
			Doc: `Send a signal to a job and all its processes.

CLI Example:

    salt '*' saltutil.signal_job <job id> 15`},
		{Name: "saltutil.term_job", Params: jid, Run: termJob, Doc: `End a job by SIGTERM.

CLI Example:

    salt '*' saltutil.term_job <job id>`},
		{Name: "saltutil.kill_job", Params: jid, Run: killJob, Doc: `End a job by SIGKILL.

CLI Example:

    salt '*' saltutil.kill_job <job id>`},
		{Name: "saltutil.term_all_jobs", Run: termAll, Doc: `End all jobs by SIGTERM.

CLI Example:

    salt '*' saltutil.term_all_jobs`},
		{Name: "saltutil.kill_all_jobs", Run: killAll, Doc: `End all jobs by SIGKILL.

CLI Example:

    salt '*' saltutil.kill_all_jobs`},
	}
}
