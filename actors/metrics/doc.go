// Package metrics shows what a daemon knows of itself to Prometheus: an actor owns the HTTP listener, and what it
// serves is gathered when it is asked for, from the supervisor's snapshot and from the counters that master and minion
// keep. It counts nothing by itself but deaths, and decides nothing. Every name and what it means stands in
// docs/metrics.md. Answers to salt/utils/metrics.py with the exporter prometheus.
//
// Labels come from bounded sets: no jid, no minion, no user. Children that come and go, such as jobs, share the label
// of their group, and whatever goes beyond a limit is called "other".
package metrics
