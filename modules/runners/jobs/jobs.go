// Package jobs is the runner module jobs: it shows the jobs that run, and those that the job cache keeps. Answers to
// salt/runners/jobs.py.
package jobs

import (
	"slices"

	"brine/modules/fleet/jobrecord"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module jobs.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "jobs", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("active", m.active, "Report the jobs running on all minions at the moment.",
				"salt-run jobs.active"),
			loader.Fn("exit_success", m.exitSuccess, "Tell for each minion of a job whether its return is true.",
				"salt-run jobs.exit_success 20260520145827701627"),
			loader.Fn("last_run", m.lastRun, "Show the newest job that fits the filters, or False.",
				"salt-run jobs.last_run function='cmd.run'"),
			loader.Fn("list_job", m.showJob, "Show one job with its returns.",
				"salt-run jobs.list_job 20260916125524463507"),
			loader.Fn("list_jobs", m.listJobs, "List the jobs in the cache that fit all filters.",
				"salt-run jobs.list_jobs search_function='test.*,pkg.install'"),
			loader.Fn("list_jobs_filter", m.listNewest, "List the newest jobs, the oldest of them first.",
				"salt-run jobs.list_jobs_filter 50"),
			loader.Fn("lookup_jid", m.lookup, "Show the returns of a job.",
				"salt-run jobs.lookup_jid 20260916125524463507"),
			loader.Fn("master", m.underWay, "List the runner jobs under way on the master.", "salt-run jobs.master"),
			loader.Fn("print_job", m.showPrinted, "Show one job with its returns under its jid.",
				"salt-run jobs.print_job 20260916125524463507"),
		}
	}}
}

// master has the jobs.
type master struct{ runners.Options }

func (m *master) underWay(*loader.Call, struct{}) ([]any, error) {
	out := []any{}
	if m.Running != nil {
		for _, job := range m.Running() {
			out = append(out, job)
		}
	}
	return out, nil
}

// progress is the argument display_progress.
type progress struct {
	Progress bool `arg:"display_progress=False"`
}

func (m *master) active(c *loader.Call, a progress) (*payload.Map, error) {
	got, err := m.Collect(c, runners.Job{Tgt: "*", Fun: "saltutil.running"})
	if err != nil {
		return nil, err
	}
	m.Progress(c, a.Progress, "Attempting to contact minions: "+python.Repr(got.Returns.Keys()))
	out := payload.NewMap(0)
	for id, v := range got.Returns.All() {
		m.Progress(c, a.Progress, "Received reply from minion "+python.Str(id))
		ret, _ := v.(*payload.Map)
		for _, j := range ret.List("return") {
			if job, ok := j.(*payload.Map); ok {
				addRunning(out, id, job)
			}
		}
	}
	return out, m.addReturned(c, out)
}

// addRunning notes that a minion runs a job.
func addRunning(out *payload.Map, id any, job *payload.Map) {
	jid := python.Str(job.Value("jid"))
	record := out.Map(jid)
	if record == nil {
		record = jidInstance(jid, job)
		record.Set("Running", []any{}).Set("Returned", []any{})
		out.Set(jid, record)
	}
	running := payload.NewMap(1).Set(id, job.Value("pid"))
	record.Set("Running", append(record.List("Running"), running))
}

func (m *master) addReturned(c *loader.Call, out *payload.Map) error {
	from, err := m.source(c, "")
	if err != nil {
		return nil // this process has no job cache
	}
	for jid, v := range out.All() {
		returns, err := from.returns(c, python.Str(jid))
		if err != nil {
			return err
		}
		if record, ok := v.(*payload.Map); ok {
			record.Set("Returned", append([]any{}, returns.Keys()...))
		}
	}
	return nil
}

func (m *master) listJob(c *loader.Call, jid, ext string) (*payload.Map, error) {
	from, err := m.source(c, ext)
	if err != nil {
		return nil, err
	}
	record, err := from.job(c, jid)
	if err != nil {
		return nil, err
	}
	out := payload.M("jid", jid)
	out.Update(record)
	return out, m.addEnd(c, jid, out)
}

// returner is the argument that names the returner to read jobs from.
type returner struct {
	Ext string `arg:"ext_source=None"`
}

// oneJob is a job, and where it is read from.
type oneJob struct {
	JID string `arg:"jid"`
	returner
}

type shownJob struct {
	oneJob
	progress
}

func (m *master) showJob(c *loader.Call, a shownJob) (*payload.Map, error) {
	m.Progress(c, a.Progress, "Querying returner: "+jobCacheName(c, a.Ext))
	return m.listJob(c, a.JID, a.Ext)
}

func (m *master) showPrinted(c *loader.Call, a oneJob) (*payload.Map, error) {
	return m.printJob(c, a.JID, a.Ext)
}

func (m *master) printJob(c *loader.Call, jid, ext string) (*payload.Map, error) {
	from, err := m.source(c, ext)
	if err != nil {
		return nil, err
	}
	record, err := from.job(c, jid)
	if err != nil {
		return nil, err
	}
	return payload.M(jid, record), m.addEnd(c, jid, record)
}

type lookedUp struct {
	oneJob
	Returned bool `arg:"returned=True"`
	Missing  bool `arg:"missing=False"`
	progress
}

func (m *master) lookup(c *loader.Call, a lookedUp) (any, error) {
	record, err := m.listJob(c, a.JID, a.Ext)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	returns := record.Map("Result")
	outputter := ""
	for id, v := range returns.All() {
		m.Progress(c, a.Progress, python.Str(id))
		ret, isMap := v.(*payload.Map)
		if out.Len() == 0 && outputter == "" {
			outputter = ret.Str("out")
		}
		if a.Returned {
			out.Set(id, bare(ret, isMap, v))
		}
	}
	if a.Missing {
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

func (m *master) exitSuccess(c *loader.Call, a oneJob) (*payload.Map, error) {
	record, err := m.listJob(c, a.JID, a.Ext)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	result := record.Map("Result")
	for _, id := range record.List("Minions") {
		out.Set(id, false)
	}
	for id, v := range result.All() {
		if ret, isMap := v.(*payload.Map); python.Truth(bare(ret, isMap, v)) {
			out.Set(id, true)
		}
	}
	return out, nil
}

type filtered struct {
	returner
	Outputter string `arg:"outputter=None"`
	Metadata  any    `arg:"search_metadata=None"`
	Function  any    `arg:"search_function=None"`
	Target    any    `arg:"search_target=None"`
	Start     any    `arg:"start_time=None"`
	End       any    `arg:"end_time=None"`
	progress
}

func (m *master) listJobs(c *loader.Call, a filtered) (any, error) {
	m.Progress(c, a.Progress, "Querying returner "+jobCacheName(c, a.Ext)+" for jobs.")
	found, err := m.search(c, a.Ext, jobFilter{metadata: a.Metadata, function: words(a.Function),
		target: words(a.Target), start: a.Start, end: a.End})
	if err != nil {
		return nil, err
	}
	return named(a.Outputter, found), nil
}

type newest struct {
	Count       int64 `arg:"count"`
	SkipFindJob bool  `arg:"filter_find_job=True"`
	returner
	Outputter string `arg:"outputter=None"`
	progress
}

func (m *master) listNewest(c *loader.Call, a newest) (any, error) {
	m.Progress(c, a.Progress, "Querying returner "+jobCacheName(c, a.Ext)+" for jobs.")
	from, err := m.source(c, a.Ext)
	if err != nil {
		return nil, err
	}
	out, err := from.newest(c, a.Count, a.SkipFindJob)
	if err != nil {
		return nil, err
	}
	return named(a.Outputter, out), nil
}

// newest lists the newest jobs of the own store, the oldest of them first.
func (m *master) newest(count int64, skipFindJob bool) (any, error) {
	jids, loads, err := m.loads()
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

type lastRun struct {
	returner
	Outputter any `arg:"outputter=None"` // has no meaning, as in Salt
	Metadata  any `arg:"metadata=None"`
	Function  any `arg:"function=None"`
	Target    any `arg:"target=None"`
	progress
}

func (m *master) lastRun(c *loader.Call, a lastRun) (any, error) {
	if _, isMap := a.Metadata.(*payload.Map); python.Truth(a.Metadata) && !isMap {
		return false, nil
	}
	found, err := m.search(c, a.Ext, jobFilter{metadata: a.Metadata, function: words(a.Function),
		target: words(a.Target)})
	if err != nil {
		return nil, err
	}
	jids := found.Keys()
	if len(jids) == 0 {
		return false, nil
	}
	newest := python.Str(jids[0])
	for _, jid := range jids {
		newest = max(newest, python.Str(jid))
	}
	return m.printJob(c, newest, a.Ext)
}
