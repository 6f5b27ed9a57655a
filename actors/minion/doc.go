// Package minion puts a salt-minion together: it makes its parts, each a package below this one, and starts their
// actors under one supervisor. link is the connection to a master, jobs runs what comes by it, returns and copies
// deliver what comes of that, journal remembers jobs and returns over a death, facts keeps grains and pillar, events is
// the local event bus, scheduler and react begin jobs of the minion's own, transfers fetches files, meter counts. The
// package sees the whole configuration and gives each part its own options; it is the host of the functions that jobs
// call. A job runs at most once and is answered exactly once, whatever dies. Answers to salt/minion.py and
// salt/cli/daemons.py.
package minion
