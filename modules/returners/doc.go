// Package returners keeps what a master must not forget: the job cache and the data cache.
//
// Store is brine's job store, one bbolt file that only the master's process opens. Beside it the load and the
// list of minions of a job that Salt's own tools publish lie in Salt's layout below jobs/, because the salt
// command reads them there. LocalCache is that layout in full, for master_job_cache: local_cache. Both know the same jobs in
// the same words: a Load announces a job, a Return answers for one minion, the first return of a minion stays.
// Banks is the data cache of grains, pillars and mines, in the files of Salt's localfs driver.
//
// Nothing here logs, retries or runs by itself: an error says what could not be written, and what was
// acknowledged before stays readable. Neither type locks anything of its own: one goroutine writes a job
// cache, any number read it; of a bank every entry may be written by one goroutine at a time.
// It answers to salt/returners/local_cache.py, salt/utils/job.py and salt/cache/localfs.py.
package returners
