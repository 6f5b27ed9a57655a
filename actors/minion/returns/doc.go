// Package returns delivers the returns of jobs to a master (ReturnSender): what it has taken is in the journal before
// it is sent, and leaves the journal when the master has acknowledged it. It owns the order, the pauses and the limits
// of these attempts, and what of a return is not on disk as it is. It asks the journal to write and read, and its link
// to send; it knows jobs only by their keys.
package returns
