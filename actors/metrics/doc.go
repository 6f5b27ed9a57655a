// Package metrics shows a daemon's data to Prometheus. An actor owns the HTTP listener. The data is gathered at
// each scrape, from the supervisor's snapshot and from the counters of master and minion. The package itself
// counts only deaths, and decides nothing. docs/metrics.md explains every name. Answers to
// salt/utils/metrics.py with the exporter prometheus.
//
// Labels come from limited sets: no jid, no minion, no user. Children that come and go, such as jobs, share the
// label of their group. Names beyond a limit get the label "other".
package metrics
