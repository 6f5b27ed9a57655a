// Package ledger holds what is known of each job: the facts of the master, of each minion and of the command line.
// A Book keeps them in bounded memory and hands them out in pieces to be stored; Why turns the facts of one minion
// into the reason for its silence, Trace into the hops of the job with their times. Why and Trace are pure: what they
// say depends on nothing but the facts. The package reads no clock, asks nobody and logs nothing. Salt has nothing
// like it; see docs/decisions/0007.
package ledger
