// Package jobrecord makes of a publication what tools and job caches show of a job: its function, arguments, target,
// user and time. It holds no jobs (see jobstore and the returners). It answers to salt/utils/jid.py.
package jobrecord

import (
	"time"

	"brine/wire/payload"
)

// Of is the record of a job by its publish load (format_job_instance).
func Of(load *payload.Map) *payload.Map {
	out := payload.M(
		"Function", orElse(load, "fun", "unknown-function"),
		"Arguments", append([]any{}, load.List("arg")...),
		"Target", orElse(load, "tgt", "unknown-target"),
		"Target-type", orElse(load, "tgt_type", "list"),
		"User", orElse(load, "user", "root"))
	if metadata, ok := metadataOf(load); ok {
		out.Set("Metadata", metadata)
	}
	return out
}

// Dated is Of with the time of the job id (format_jid_instance).
func Dated(jid string, load *payload.Map) *payload.Map {
	return Of(load).Set("StartTime", Time(jid))
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

const jidDigits = 20

// Time shows the time in a job id: "2026, Nov 21 10:53:27.000651"; "" for what is none.
func Time(jid string) string {
	if t, ok := Moment(jid); ok {
		return t.Format("2006, Jan 02 15:04:05.000000")
	}
	return ""
}

// Moment is the time in a job id.
func Moment(jid string) (time.Time, bool) {
	if len(jid) != jidDigits && (len(jid) <= jidDigits+1 || jid[jidDigits] != '_') {
		return time.Time{}, false
	}
	t, err := time.Parse("20060102150405.000000", jid[:14]+"."+jid[14:jidDigits])
	return t, err == nil
}
