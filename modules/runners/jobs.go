package runners

import (
	"slices"

	"brine/modules/fleet/jobrecord"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

const sourceJobs = "salt/runners/jobs.py"

func (r *runner) jobsFuncs() []loader.Func {
	ext, progress := loader.Opt("ext_source", nil), loader.Opt("display_progress", false)
	outputter := loader.Opt("outputter", nil)
	return []loader.Func{
		{Name: "jobs.active", Source: sourceJobs, Params: []loader.Param{progress}, Run: r.jobsActive,
			Doc: "Report the jobs running on all minions at the moment.\n\nCLI Example:\n\n    salt-run jobs.active"},
		{Name: "jobs.exit_success", Source: sourceJobs, Params: []loader.Param{loader.Req("jid"), ext},
			Run: r.jobsExitSuccess,
			Doc: "Tell for each minion of a job whether its return is true.\n\nCLI Example:\n\n    salt-run jobs.exit_success 20260520145827701627"},
		{Name: "jobs.last_run", Source: sourceJobs, Params: []loader.Param{ext, outputter,
			loader.Opt("metadata", nil), loader.Opt("function", nil), loader.Opt("target", nil), progress},
			Run: r.jobsLastRun,
			Doc: "Show the newest job that fits the filters, or False.\n\nCLI Example:\n\n    salt-run jobs.last_run function='cmd.run'"},
		{Name: "jobs.list_job", Source: sourceJobs, Params: []loader.Param{loader.Req("jid"), ext, progress},
			Run: r.jobsListJob,
			Doc: "Show one job with its returns.\n\nCLI Example:\n\n    salt-run jobs.list_job 20260916125524463507"},
		{Name: "jobs.list_jobs", Source: sourceJobs, Params: []loader.Param{ext, outputter,
			loader.Opt("search_metadata", nil), loader.Opt("search_function", nil),
			loader.Opt("search_target", nil), loader.Opt("start_time", nil), loader.Opt("end_time", nil), progress},
			Run: r.jobsListJobs,
			Doc: "List the jobs in the cache that fit all filters.\n\nCLI Example:\n\n    salt-run jobs.list_jobs search_function='test.*,pkg.install'"},
		{Name: "jobs.list_jobs_filter", Source: sourceJobs, Params: []loader.Param{loader.Req("count"),
			loader.Opt("filter_find_job", true), ext, outputter, progress}, Run: r.jobsListJobsFilter,
			Doc: "List the newest jobs, the oldest of them first.\n\nCLI Example:\n\n    salt-run jobs.list_jobs_filter 50"},
		{Name: "jobs.lookup_jid", Source: sourceJobs, Params: []loader.Param{loader.Req("jid"), ext,
			loader.Opt("returned", true), loader.Opt("missing", false), progress}, Run: r.jobsLookup,
			Doc: "Show the returns of a job.\n\nCLI Example:\n\n    salt-run jobs.lookup_jid 20260916125524463507"},
		{Name: "jobs.master", Source: sourceJobs, Run: r.jobsMaster,
			Doc: "List the runner jobs under way on the master.\n\nCLI Example:\n\n    salt-run jobs.master"},
		{Name: "jobs.print_job", Source: sourceJobs, Params: []loader.Param{loader.Req("jid"), ext},
			Run: r.jobsPrintJob,
			Doc: "Show one job with its returns under its jid.\n\nCLI Example:\n\n    salt-run jobs.print_job 20260916125524463507"},
	}
}

func (r *runner) jobsMaster(*loader.Call, loader.Args) (any, error) {
	out := []any{}
	if r.Running != nil {
		for _, job := range r.Running() {
			out = append(out, job)
		}
	}
	return out, nil
}

func (r *runner) jobsActive(c *loader.Call, a loader.Args) (any, error) {
	got, err := r.collect(c, Job{Tgt: "*", Fun: "saltutil.running"})
	if err != nil {
		return nil, err
	}
	progress := a.Bool("display_progress")
	r.progress(c, progress, "Attempting to contact minions: "+pytext.Repr(got.Returns.Keys()))
	out := payload.NewMap(0)
	for id, v := range got.Returns.All() {
		r.progress(c, progress, "Received reply from minion "+pytext.Str(id))
		ret, _ := v.(*payload.Map)
		for _, j := range ret.List("return") {
			if job, ok := j.(*payload.Map); ok {
				addRunning(out, id, job)
			}
		}
	}
	return out, r.addReturned(c, out)
}

// addRunning notes that a minion runs a job.
func addRunning(out *payload.Map, id any, job *payload.Map) {
	jid := pytext.Str(job.Value("jid"))
	record := out.Map(jid)
	if record == nil {
		record = jidInstance(jid, job)
		record.Set("Running", []any{}).Set("Returned", []any{})
		out.Set(jid, record)
	}
	running := payload.NewMap(1).Set(id, job.Value("pid"))
	record.Set("Running", append(record.List("Running"), running))
}

func (r *runner) addReturned(c *loader.Call, out *payload.Map) error {
	from, err := r.source(c, "")
	if err != nil {
		return nil // this process has no job cache
	}
	for jid, v := range out.All() {
		returns, err := from.returns(c, pytext.Str(jid))
		if err != nil {
			return err
		}
		if record, ok := v.(*payload.Map); ok {
			record.Set("Returned", append([]any{}, returns.Keys()...))
		}
	}
	return nil
}

func (r *runner) listJob(c *loader.Call, jid, ext string) (*payload.Map, error) {
	from, err := r.source(c, ext)
	if err != nil {
		return nil, err
	}
	record, err := from.job(c, jid)
	if err != nil {
		return nil, err
	}
	out := payload.M("jid", jid)
	out.Update(record)
	return out, r.addEnd(c, jid, out)
}

func (r *runner) jobsListJob(c *loader.Call, a loader.Args) (any, error) {
	r.progress(c, a.Bool("display_progress"), "Querying returner: "+jobCacheName(c, a.Str("ext_source")))
	return r.listJob(c, a.Str("jid"), a.Str("ext_source"))
}

func (r *runner) jobsPrintJob(c *loader.Call, a loader.Args) (any, error) {
	return r.printJob(c, a.Str("jid"), a.Str("ext_source"))
}

func (r *runner) printJob(c *loader.Call, jid, ext string) (*payload.Map, error) {
	from, err := r.source(c, ext)
	if err != nil {
		return nil, err
	}
	record, err := from.job(c, jid)
	if err != nil {
		return nil, err
	}
	return payload.M(jid, record), r.addEnd(c, jid, record)
}

func (r *runner) jobsLookup(c *loader.Call, a loader.Args) (any, error) {
	record, err := r.listJob(c, a.Str("jid"), a.Str("ext_source"))
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	returns := record.Map("Result")
	outputter := ""
	for id, v := range returns.All() {
		r.progress(c, a.Bool("display_progress"), pytext.Str(id))
		ret, isMap := v.(*payload.Map)
		if out.Len() == 0 && outputter == "" {
			outputter = ret.Str("out")
		}
		if a.Bool("returned") {
			out.Set(id, bare(ret, isMap, v))
		}
	}
	if a.Bool("missing") {
		for _, id := range record.List("Minions") {
			if !returns.Has(id) {
				out.Set(id, "Minion did not return")
			}
		}
	}
	return named(outputter, out), nil
}

// named wraps data that asks for an outputter of its own.
func named(outputter string, data any) any {
	if outputter == "" {
		return data
	}
	return payload.M("outputter", outputter, "data", data)
}

func (r *runner) jobsExitSuccess(c *loader.Call, a loader.Args) (any, error) {
	record, err := r.listJob(c, a.Str("jid"), a.Str("ext_source"))
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	result := record.Map("Result")
	for _, id := range record.List("Minions") {
		out.Set(id, false)
	}
	for id, v := range result.All() {
		if ret, isMap := v.(*payload.Map); loader.Truthy(bare(ret, isMap, v)) {
			out.Set(id, true)
		}
	}
	return out, nil
}

func (r *runner) jobsListJobs(c *loader.Call, a loader.Args) (any, error) {
	r.progress(c, a.Bool("display_progress"), "Querying returner "+jobCacheName(c, a.Str("ext_source"))+" for jobs.")
	found, err := r.search(c, a.Str("ext_source"), jobFilter{
		metadata: a.Get("search_metadata"), function: words(a.Get("search_function")),
		target: words(a.Get("search_target")), start: a.Get("start_time"), end: a.Get("end_time")})
	if err != nil {
		return nil, err
	}
	return named(a.Str("outputter"), found), nil
}

func (r *runner) jobsListJobsFilter(c *loader.Call, a loader.Args) (any, error) {
	count, err := a.Int("count")
	if err != nil {
		return nil, err
	}
	r.progress(c, a.Bool("display_progress"), "Querying returner "+jobCacheName(c, a.Str("ext_source"))+" for jobs.")
	from, err := r.source(c, a.Str("ext_source"))
	if err != nil {
		return nil, err
	}
	out, err := from.newest(c, count, a.Bool("filter_find_job"))
	if err != nil {
		return nil, err
	}
	return named(a.Str("outputter"), out), nil
}

// newest lists the newest jobs of the own store, the oldest of them first.
func (r *runner) newest(count int64, skipFindJob bool) (any, error) {
	jids, loads, err := r.loads()
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, jid := range slices.Backward(jids) {
		if int64(len(out)) >= count {
			break
		}
		load := loads.Map(jid)
		if skipFindJob && load.Str("fun") == "saltutil.find_job" {
			continue
		}
		record := jobInstance(load)
		out = append(out, record.Set("JID", jid).Set("StartTime", jobrecord.Time(jid)))
	}
	slices.Reverse(out)
	return out, nil
}

func (r *runner) jobsLastRun(c *loader.Call, a loader.Args) (any, error) {
	metadata := a.Get("metadata")
	if _, isMap := metadata.(*payload.Map); loader.Truthy(metadata) && !isMap {
		return false, nil
	}
	found, err := r.search(c, a.Str("ext_source"), jobFilter{metadata: metadata, function: words(a.Get("function")),
		target: words(a.Get("target"))})
	if err != nil {
		return nil, err
	}
	jids := found.Keys()
	if len(jids) == 0 {
		return false, nil
	}
	newest := pytext.Str(jids[0])
	for _, jid := range jids {
		newest = max(newest, pytext.Str(jid))
	}
	return r.printJob(c, newest, a.Str("ext_source"))
}
