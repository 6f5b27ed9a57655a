package main

import "time"

// controlSocket is the name of a daemon's control socket in its sock_dir.
const controlSocket = "brine.ipc"

// Commands of the control socket about what is known of a job. Each takes {cmd, jid, ...}.
const (
	cmdTrace = "trace"     // {jid, minion}: its hops
	cmdWhy   = "why"       // {jid, minion or ids}: the reason for each silence, or for those of some
	cmdGone  = "jobs.gone" // {jid, ids}: who certainly did not get it
	// {jid, ids}: who of these did not get it, has returned it, is at work on it; of the others nothing is known
	cmdStanding = "jobs.standing"
	cmdClient   = "jobs.client" // {jid, facts}: what a command line says; only notes it
)

// Commands of the control socket that only some daemons have.
const (
	cmdJobFacts = "job"     // of a minion: {jid}, what it knows of a job
	cmdJobList  = "jobs"    // what is in hand; of a master {minutes}
	cmdRoster   = "minions" // of a master: all minions with a key {glob}
)

// Commands of the control socket about jobs. Each takes {cmd, jid, ...} and answers with what the method of the job
// store of that name answers.
const (
	cmdJobsLoad    = "jobs.load"
	cmdJobsReturns = "jobs.returns"
	cmdJobsLoads   = "jobs.loads"
	cmdJobsEndTime = "jobs.end_time"
	cmdJobsStore   = "jobs.store" // {jid, id, load}; changes something
)

// cmdBatches is the query of the control socket that a master answers when it drives batches.
const cmdBatches = "batches"

// askTimeout bounds a question to a daemon, jobPatience one about the job store.
const (
	askTimeout  = 10 * time.Second
	jobPatience = 30 * time.Second
)
