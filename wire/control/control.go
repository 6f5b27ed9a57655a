// Package control is what tools ask daemons on their control socket, brine.ipc. The frames are wire/ipc's, the answers
// are made by actors/admin and the daemons.
package control

import "time"

// Socket is the name of a daemon's control socket in its sock_dir.
const Socket = "brine.ipc"

// Commands of the control socket about what is known of a job. Each takes {cmd, jid, ...}.
const (
	Trace = "trace"     // {jid, minion}: its hops
	Why   = "why"       // {jid, minion or ids}: the reason for each silence, or for those of some
	Gone  = "jobs.gone" // {jid, ids}: who certainly did not get it
	// {jid, ids}: who of these did not get it, has returned it, is at work on it; of the others nothing is known
	Standing = "jobs.standing"
	Client   = "jobs.client" // {jid, facts}: what a command line says; only notes it
)

// Commands of the control socket that only some daemons have.
const (
	JobFacts = "job"     // of a minion: {jid}, what it knows of a job
	JobList  = "jobs"    // what is in hand; of a master {minutes}
	Roster   = "minions" // of a master: all minions with a key {glob}
)

// Commands of the control socket about jobs. Each takes {cmd, jid, ...} and answers with what the method of the job
// store of that name answers.
const (
	JobsLoad    = "jobs.load"
	JobsReturns = "jobs.returns"
	JobsLoads   = "jobs.loads"
	JobsEndTime = "jobs.end_time"
	JobsStore   = "jobs.store" // {jid, id, load}; changes something
)

// Batches is the query of the control socket that a master answers when it drives batches.
const Batches = "batches"

// AskTimeout bounds a question to a daemon, jobPatience one about the job store.
const (
	AskTimeout  = 10 * time.Second
	JobPatience = 30 * time.Second
)
