// Package jobstore keeps the jobs of a master and their returns.
//
// Store is brine's own, one bbolt file that only the master's process opens. Beside it the load and the list of minions
// of a job that Salt's own tools publish lie in Salt's layout below jobs/, because the salt command reads them there.
// LocalCache is that layout in full, for master_job_cache: local_cache. Both know the same jobs in the same words: a
// Load announces a job, a Return answers for one minion, the first return of a minion stays. Answers to
// salt/returners/local_cache.py.
package jobstore
