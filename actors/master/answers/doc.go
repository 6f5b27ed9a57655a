// Package answers tells operators what a master knows of its jobs and its minions: why minions are silent, the way of a
// job through every hop, how minions stand with it, which minions there are. It reads the ledger, the job store and the
// keys, and asks minions for what only they know; it changes nothing. It holds no actor: what it needs of the master
// are its Sources.
package answers
