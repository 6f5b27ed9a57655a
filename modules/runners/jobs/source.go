package jobs

import (
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// ownCache is the name of the job cache that a master has without any option. brine's own goes by it, too.
const ownCache = "local_cache"

// jobCacheName is the name of the returner that is asked: that of ext_job_cache, else ext_source, else that of
// master_job_cache. Source: salt/runners/jobs.py, _get_returner.
func jobCacheName(c *loader.Call, ext string) string {
	for _, name := range []string{c.Opts().Str("ext_job_cache"), ext, c.Opts().Str("master_job_cache")} {
		if name != "" {
			return name
		}
	}
	return ownCache
}

// jobSource is where the functions of this module read jobs: the master's own store, or a returner.
type jobSource struct {
	*master
	cache runners.JobCache // nil: the own store
}

// source is the job cache to read from.
func (m *master) source(c *loader.Call, ext string) (jobSource, error) {
	name := jobCacheName(c, ext)
	if name == ownCache {
		if m.Jobs == nil {
			return jobSource{}, runners.Unavailable("job cache")
		}
		return jobSource{m, nil}, nil
	}
	if m.JobCaches == nil {
		return jobSource{}, runners.Unavailable("returners")
	}
	return jobSource{m, m.JobCaches(name)}, nil
}

func (s jobSource) load(c *loader.Call, jid string) (*payload.Map, error) {
	if s.cache == nil {
		return s.Jobs.Load(jid)
	}
	return s.cache.GetLoad(c.Ctx, jid)
}

// returns maps ids to what is kept of their returns; empty for none.
func (s jobSource) returns(c *loader.Call, jid string) (returns *payload.Map, err error) {
	if s.cache == nil {
		returns, err = s.Jobs.Returns(jid)
	} else {
		returns, err = s.cache.GetJID(c.Ctx, jid)
	}
	if returns == nil {
		returns = payload.NewMap(0)
	}
	return returns, err
}

// job reads one job as jobs.list_job shows it, without the jid.
func (s jobSource) job(c *loader.Call, jid string) (*payload.Map, error) {
	load, err := s.load(c, jid)
	if err != nil {
		return nil, err
	}
	returns, err := s.returns(c, jid)
	if err != nil {
		return nil, err
	}
	return jidInstance(jid, load).Set("Result", returns), nil
}

// records maps job ids to records, without the minions.
func (s jobSource) records(c *loader.Call) (*payload.Map, error) {
	if s.cache != nil {
		return s.cache.GetJIDs(c.Ctx)
	}
	jids, loads, err := s.loads()
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(len(jids))
	for _, jid := range jids {
		record := jidInstance(jid, loads.Map(jid))
		record.Delete("Minions")
		out.Set(jid, record)
	}
	return out, nil
}

func (s jobSource) newest(c *loader.Call, count int64, skipFindJob bool) (any, error) {
	if s.cache != nil {
		return s.cache.GetJIDsFilter(c.Ctx, count, skipFindJob)
	}
	return s.master.newest(count, skipFindJob)
}

// addEnd adds the time a job ended, where the master's job cache keeps it.
func (m *master) addEnd(c *loader.Call, jid string, record *payload.Map) error {
	if !c.Opts().Bool("job_cache_store_endtime") {
		return nil
	}
	end, err := "", error(nil)
	if name := c.Opts().Str("master_job_cache"); name != "" && name != ownCache && m.JobCaches != nil {
		end, err = m.JobCaches(name).EndTime(c.Ctx, jid)
	} else if ends, ok := m.Jobs.(runners.EndTimes); ok {
		end = ends.EndTime(jid)
	}
	if end != "" {
		record.Set("EndTime", end)
	}
	return err
}

// bare is what a minion returned, of what is kept of its return. Unlike Salt, which fails where a returner keeps no
// more than that.
func bare(ret *payload.Map, isMap bool, v any) any {
	if isMap && ret.Has("return") {
		return ret.Value("return")
	}
	if isMap && (ret.Has("retcode") || ret.Has("success")) {
		return nil
	}
	return v
}
