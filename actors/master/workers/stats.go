package workers

import (
	"strconv"
	"strings"
	"time"

	"brine/wire/event"
	"brine/wire/payload"
)

// workerStats counts the requests of one worker by command (option master_stats).
type workerStats struct {
	since time.Time
	byCmd map[string]*cmdStats
}

type cmdStats struct {
	runs  int
	total time.Duration
}

// maxCommands bounds the counted commands: their names come from outside.
const maxCommands = 100

func (s *workerStats) add(cmd string, took time.Duration) {
	if s.byCmd == nil {
		s.byCmd = map[string]*cmdStats{}
	}
	st := s.byCmd[cmd]
	if st == nil {
		if len(s.byCmd) >= maxCommands {
			return
		}
		st = &cmdStats{}
		s.byCmd[cmd] = st
	}
	st.runs++
	st.total += took
}

// take returns {cmd: {mean, runs}} and begins anew.
func (s *workerStats) take(now time.Time) *payload.Map {
	m := payload.NewMap(len(s.byCmd))
	for cmd, st := range s.byCmd {
		m.Set(cmd, payload.M("mean", st.total.Seconds()/float64(st.runs), "runs", st.runs))
	}
	*s = workerStats{since: now}
	return m
}

// report counts a request and fires salt/stats/<worker>, at most every master_stats_event_iter
// (salt/master.py, MWorker._post_stats).
func (w *mworker) report(cmd string, start, now time.Time) {
	w.stats.add(cmd, now.Sub(start))
	elapsed := now.Sub(w.stats.since)
	if elapsed <= w.opt.StatsEvery {
		return
	}
	w.opt.Events.Fire(event.TagStats(w.name), payload.M("time", elapsed.Seconds(), "worker", w.name, "stats",
		w.stats.take(now), "pool", w.opt.Pools.Name(w.pool), "pool_index", w.index()))
}

// index is the number at the end of the worker's name.
func (w *mworker) index() int {
	n, err := strconv.Atoi(w.name[strings.LastIndex(w.name, "-")+1:])
	if err != nil {
		return 0
	}
	return n
}
