package returners

import (
	"fmt"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// What job caches share: NAME.prep_jid, save_load, get_load, ... are called by the master whose job cache
// (master_job_cache, ext_job_cache) is NAME.

// saver is the body of NAME.save_load, which keeps a publication.
func saver(name string, save func(c *loader.Call, jid string, load any) error) loader.Func {
	return loader.Func{Name: name + ".save_load", Params: []loader.Param{loader.Req("jid"), loader.Req("load"),
		loader.Opt("minions", nil)}, Source: source(name), Doc: "Keep the load of a job.", Run: func(c *loader.Call,
		a loader.Args) (any, error) {
		return nil, save(c, a.Str("jid"), a.Get("load"))
	}}
}

// byJID is the body of NAME.get_load or NAME.get_jid.
func byJID(name, what, doc string, get func(c *loader.Call, jid string) (any, error)) loader.Func {
	return loader.Func{Name: name + "." + what, Params: []loader.Param{loader.Req("jid")}, Source: source(name),
		Doc: doc,
		Run: func(c *loader.Call, a loader.Args) (any, error) { return get(c, a.Str("jid")) }}
}

// byFun is the body of NAME.get_fun.
func byFun(name string, get func(c *loader.Call, fun string) (any, error)) loader.Func {
	return loader.Func{Name: name + ".get_fun", Params: []loader.Param{loader.Req("fun")}, Source: source(name),
		Doc: "Show the last return of a function of each minion.", Run: func(c *loader.Call, a loader.Args) (any,
			error) {
			return get(c, a.Str("fun"))
		}}
}

// plain is the body of a function without arguments.
func plain(name, what, doc string, run func(c *loader.Call) (any, error)) loader.Func {
	return loader.Func{Name: name + "." + what, Source: source(name), Doc: doc,
		Run: func(c *loader.Call, _ loader.Args) (any, error) { return run(c) }}
}

// minionSaver is NAME.save_minions of a returner that keeps nothing of them.
func minionSaver(name string) loader.Func {
	return loader.Func{Name: name + ".save_minions", Params: []loader.Param{loader.Req("jid"), loader.Req("minions"),
		loader.Opt("syndic_id", nil)}, Source: source(name), Doc: "Takes the minions of a job, and keeps nothing of " +
		"them.",
		Run: func(*loader.Call, loader.Args) (any, error) { return nil, nil }}
}

// jidMaker is NAME.prep_jid: the job id that is passed, or a new one.
func jidMaker(name string) loader.Func {
	return loader.Func{Name: name + ".prep_jid", Params: []loader.Param{loader.Opt("nocache", false),
		loader.Opt("passed_jid", nil)}, Source: source(name), Doc: "Give the id of a job: the one that is passed, " +
		"else a new one.",
		Run: func(c *loader.Call, a loader.Args) (any, error) {
			if v := a.Get("passed_jid"); v != nil {
				return v, nil
			}
			return payload.NewUniqueJID(time.Now(), python.Truth(c.Opts().Value("unique_jid"))), nil
		}}
}

// aliases adds functions under a second name of their returner.
func aliases(funcs []loader.Func, name string) []loader.Func {
	out := funcs
	for _, f := range funcs {
		_, what, _ := strings.Cut(f.Name, ".")
		f.Name = name + "." + what
		out = append(out, f)
	}
	return out
}

const (
	keepDefault     = 24 * time.Hour // keep_jobs_seconds
	keepJobsDefault = 24             // keep_jobs, in hours
)

// keepJobs is how long jobs are kept, in whole seconds; 0: for ever. Source: salt/utils/job.py, get_keep_jobs_seconds.
func keepJobs(opts *payload.Map) (time.Duration, error) {
	number := func(name string, or int64) (int64, error) {
		v, ok := opts.Get(name)
		if !ok {
			return or, nil
		}
		n, err := loader.ToInt(v)
		if err != nil {
			return 0, misset("%s is no number: %s", name, python.Repr(v))
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

// dumps writes a value as Salt's JSON. What JSON has no form for is written as Python prints it; Salt fails.
func dumps(name string, v any) (string, error) {
	text, ok := outputters.DumpJSON(v, outputters.JSONOptions{Indent: -1})
	if !ok {
		return "", unusable("%s: a key of the value has no form in JSON", name)
	}
	return text, nil
}

// loads reads such a text; where tells its place.
func loads(where, text string) (any, error) {
	v, err := pyjson.Load(text)
	if err != nil {
		return nil, fmt.Errorf("%s holds no JSON: %w", where, err)
	}
	return v, nil
}

// word is a field of a return as Python's format() writes it.
func word(m *payload.Map, field string) string { return python.Str(m.Value(field)) }
