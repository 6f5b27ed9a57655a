package runners

import (
	"fmt"
	"strings"
	"time"

	"brine/modules"
	"brine/wire/payload"
)

// jobInstance turns a publish load into the record the jobs runner shows.
func jobInstance(load *payload.Map) *payload.Map {
	if load.Len() == 0 {
		return payload.M("Error", "Cannot contact returner or no job with this jid")
	}
	out := payload.M(
		"Function", orElse(load, "fun", "unknown-function"),
		"Arguments", append([]any{}, load.List("arg")...),
		"Target", orElse(load, "tgt", "unknown-target"),
		"Target-type", orElse(load, "tgt_type", "list"),
		"User", orElse(load, "user", "root"))
	if metadata, ok := metadataOf(load); ok {
		out.Set("Metadata", metadata)
	}
	if ids := load.List("Minions"); len(ids) > 0 {
		out.Set("Minions", ids)
	}
	return out
}

func orElse(m *payload.Map, key string, otherwise any) any {
	if v, ok := m.Get(key); ok {
		return v
	}
	return otherwise
}

// metadataOf finds --metadata in the load, in its kwargs, or among the keywords of the function.
func metadataOf(load *payload.Map) (any, bool) {
	if v, ok := load.Get("metadata"); ok {
		return v, true
	}
	if v, ok := load.Map("kwargs").Get("metadata"); ok {
		return v, true
	}
	for _, arg := range load.List("arg") {
		if m, ok := arg.(*payload.Map); ok && m.Bool("__kwarg__") && m.Has("metadata") {
			return m.Value("metadata"), true
		}
	}
	return nil, false
}

// jidInstance is jobInstance with the time of the jid.
func jidInstance(jid string, load *payload.Map) *payload.Map {
	return jobInstance(load).Set("StartTime", jidTime(jid))
}

const jidDigits = 20

// jidTime shows the time in a jid: "2026, Nov 21 10:53:27.000651"; "" for what is no jid.
func jidTime(jid string) string {
	if t, ok := jidMoment(jid); ok {
		return t.Format("2006, Jan 02 15:04:05.000000")
	}
	return ""
}

func jidMoment(jid string) (time.Time, bool) {
	if len(jid) != jidDigits && (len(jid) <= jidDigits+1 || jid[jidDigits] != '_') {
		return time.Time{}, false
	}
	t, err := time.Parse("20060102150405.000000", jid[:14]+"."+jid[14:jidDigits])
	return t, err == nil
}

// parseTime reads the time filters of jobs.list_jobs: the form of StartTime, ISO dates and a few common ones.
// Unlike Salt: without the library Salt needs for it, the filter is refused instead of ignored.
func parseTime(v any) (time.Time, bool, error) {
	if !modules.Truthy(v) {
		return time.Time{}, false, nil
	}
	text := strings.TrimSpace(modules.Text(v))
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
	return time.Time{}, false, modules.Raise("ValueError", "%s", fmt.Sprintf("Unknown string format: %s", text))
}
