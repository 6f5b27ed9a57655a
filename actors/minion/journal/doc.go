// Package journal keeps on disk what a minion must remember over the death of its process: the jobs that have begun,
// the returns that a master has not acknowledged (File, and the actor that owns it), and which jobs were taken (Past),
// so that none is run twice. It decides nothing about jobs and returns: the parts that run and send them ask it by
// messages, and it answers those that ask. It may use the disk and its clock, and no other part of the minion but
// jobfiles.
package journal
