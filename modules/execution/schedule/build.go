package schedule

import (
	"errors"
	"time"

	"brine/modules/loader"
	"brine/modules/schedule/dates"
	"brine/wire/payload"
	"brine/wire/python"
)

// intervals are the options of which a job by when or cron has none.
var intervals = []string{"seconds", "minutes", "hours", "days"}

// clash tells what of the times in a call cannot stand together: an interval beside when or cron, or the latter two.
func clash(kw *payload.Map) (interval, both bool) {
	for _, option := range intervals {
		interval = interval || kw.Has(option) && (kw.Has("when") || kw.Has("cron"))
	}
	return interval, kw.Has("when") && kw.Has("cron")
}

const (
	textIntervals = `Unable to use "seconds", "minutes", "hours", or "days" with "when" or "cron" options.`
	textBoth      = `Unable to use "when" and "cron" options together.  Ignoring.`
)

func buildItem(_ *loader.Call, a ofJob) (*payload.Map, error) {
	return build(a.Name, a.KW)
}

// rejected is the answer for what makes no job.
func rejected(comment string) (*payload.Map, error) {
	return payload.M("comment", comment, "result", false), nil
}

// build makes a job of the keywords of a call. What makes none has result: False.
func build(name string, kw *payload.Map) (*payload.Map, error) {
	if name == "" {
		return rejected("Job name is required.")
	}
	fun, ok := kw.Get("function")
	if !ok {
		return nil, loader.Raise("KeyError", "'function'")
	}
	job := payload.M("function", fun)
	if interval, both := clash(kw); interval {
		return rejected(textIntervals)
	} else if both {
		return rejected(textBoth)
	}
	take(job, kw, intervals...)
	take(job, kw, "return_job", "metadata")
	if v, ok := kw.Get("job_args"); ok {
		if _, isList := v.([]any); !isList {
			return rejected("job_args is not a list. please correct and try again.")
		}
		job.Set("args", v)
	}
	if v, ok := kw.Get("job_kwargs"); ok {
		if _, isMap := v.(*payload.Map); !isMap {
			return rejected("job_kwargs is not a dict. please correct and try again.")
		}
		job.Set("kwargs", v)
	}
	for _, std := range []struct {
		option string
		value  any
	}{{"maxrunning", int64(1)}, {"name", name}, {"enabled", true}, {"jid_include", true}} {
		job.Set(std.option, std.value)
		take(job, kw, std.option)
	}
	if splay, ok := kw.Value("splay").(*payload.Map); ok {
		job.Set("splay", payload.M("start", splay.Value("start"), "end", splay.Value("end")))
	} else {
		take(job, kw, "splay")
	}
	if bad, err := badWhen(kw); err != nil {
		return nil, err
	} else if bad != nil {
		return rejected(`Schedule item ` + python.Str(bad) + ` for "when" in invalid.`)
	}
	take(job, kw, "range", "when", "once", "once_fmt", "cron", "returner", "after", "return_config", "return_kwargs",
		"until", "run_on_start", "skip_during_range")
	return job, nil
}

// take copies options that a call names.
func take(job, kw *payload.Map, options ...string) {
	for _, option := range options {
		if v, ok := kw.Get(option); ok {
			job.Set(option, v)
		}
	}
}

// badWhen is the first text of when that is no date.
func badWhen(kw *payload.Map) (any, error) {
	v, ok := kw.Get("when")
	if !ok {
		return nil, nil
	}
	all, isList := v.([]any)
	if !isList {
		all = []any{v}
	}
	for _, when := range all {
		text, ok := when.(string)
		if !ok {
			return nil, loader.Raise("TypeError", "Parser must be a string or character stream, not %s",
				python.Type(when))
		}
		if _, err := dates.Parse(text, time.Now()); err != nil && !errors.Is(err, dates.ErrZoned) {
			return when, nil
		}
	}
	return nil, nil
}
