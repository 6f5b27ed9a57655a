// Package datacache is the cache of what minions have told: their grains, pillars and mines, in the files of Salt's
// localfs driver, so that Salt's tools find them. It does not know who may read what. Answers to salt/cache/localfs.py.
//
// What is known of a minion has two forms, for releases of Salt look for it in different places:
//
//	3008        grains/ID.p, pillar/ID.p, mine/ID.p; the pillar of another environment than the default is pillar/ID:ENV.p
//	3006, 3007  minions/ID/data.p, a map of grains and pillar; minions/ID/mine.p
//
// A brine master writes both. Its files of the older form are copies, which nobody here reads: their mode tells them
// from files that a master of an older release wrote. Such an original counts where it is newer than the file of the
// newer form. So tools of every release find the data beside a brine master, and brine's tools beside a master of every
// release. Functions that take the id of a minion know both forms (minions.go, older.go); those that take a bank and a
// key know files only (banks.go).
package datacache
