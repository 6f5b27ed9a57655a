package options

import (
	"time"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/wire/payload"
	"brine/wire/python"
)

const (
	keepDefault     = 24 * time.Hour // keep_jobs_seconds
	keepJobsDefault = 24             // keep_jobs, in hours
)

// KeepJobs is how long jobs are kept, in whole seconds; 0: for ever. Source: salt/utils/job.py, get_keep_jobs_seconds.
func KeepJobs(opts *payload.Map) (time.Duration, error) {
	number := func(name string, or int64) (int64, error) {
		v, ok := opts.Get(name)
		if !ok {
			return or, nil
		}
		n, err := loader.ToInt(v)
		if err != nil {
			return 0, returners.Misset("%s is no number: %s", name, python.Repr(v))
		}
		return n, nil
	}
	seconds, err := number("keep_jobs_seconds", int64(keepDefault/time.Second))
	if err != nil {
		return 0, err
	}
	hours, err := number("keep_jobs", keepJobsDefault)
	if err != nil {
		return 0, err
	}
	if seconds == int64(keepDefault/time.Second) {
		seconds = hours * 3600
	}
	if seconds < 0 || seconds > int64(1<<62)/int64(time.Second) {
		seconds = 0
	}
	return time.Duration(seconds) * time.Second, nil
}
