// Package jobs runs the jobs of a minion: the Dispatcher decides which publications are jobs of this minion and knows
// all that run or wait, one actor a job calls the function, here or in a process of its own, and hands the return over,
// and the Teller tells brine masters of jobs that take time. A job runs at most once and is answered exactly once,
// whatever dies. The part owns the job queue, the proc entries, and what the process before this one has left
// (Remember). It asks the journal to keep what it has begun, the ReturnSender of a link to deliver a return, and the
// ReturnerSpool to hand copies on; whether a publication means this minion, and what functions run in, it is told by
// its options. It runs no function itself (loader.Execute does). Answers to salt/minion.py.
package jobs
