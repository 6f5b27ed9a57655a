package jobs

import (
	"fmt"
	"strings"
	"time"

	"brine/modules/fleet/jobrecord"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// jobInstance turns a publish load into the record the jobs runner shows.
func jobInstance(load *payload.Map) *payload.Map {
	if load.Len() == 0 {
		return payload.M("Error", "Cannot contact returner or no job with this jid")
	}
	out := jobrecord.Of(load)
	if ids := load.List("Minions"); len(ids) > 0 {
		out.Set("Minions", ids)
	}
	return out
}

// jidInstance is jobInstance with the time of the jid.
func jidInstance(jid string, load *payload.Map) *payload.Map {
	return jobInstance(load).Set("StartTime", jobrecord.Time(jid))
}

// parseTime reads the time filters of jobs.list_jobs: the form of StartTime, ISO dates and a few common ones.
// Unlike Salt: without the library Salt needs for it, the filter is refused instead of ignored.
func parseTime(v any) (time.Time, bool, error) {
	if !python.Truth(v) {
		return time.Time{}, false, nil
	}
	text := strings.TrimSpace(loader.Text(v))
	for _, layout := range []string{
		"2006, Jan 2 15:04:05.999999", "2006, Jan 2 15:04", "2006, Jan 2",
		"2006-01-02 15:04:05.999999", "2006-01-02 15:04", "2006-01-02",
		"2006-01-02T15:04:05.999999", "2006-01-02T15:04", time.RFC3339,
		"2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02",
		"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 2006", "Jan 2 2006 15:04", "Jan 2 2006",
		"20060102150405", "20060102",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true, nil
		}
	}
	return time.Time{}, false, loader.Raise("ValueError", "%s", fmt.Sprintf("Unknown string format: %s", text))
}
