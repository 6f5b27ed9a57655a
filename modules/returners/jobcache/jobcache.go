// Package jobcache is a returner as a job cache of a master (master_job_cache, ext_job_cache): NAME.save_load,
// returner, get_load, ... by name and with Salt's arguments. It holds no jobs and waits for nobody; what is to be
// written later is a Record. It answers to salt/utils/job.py and to what salt/master.py and salt/runners/jobs.py ask of
// returners.
package jobcache

import (
	"context"
	"fmt"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/wire/payload"
	"brine/wire/python"
)

// Functions that a master job cache needs, and those of an external one, which minions write to.
const (
	returner  = "returner"
	saveLoad  = "save_load"
	getLoad   = "get_load"
	getJID    = "get_jid"
	getJIDs   = "get_jids"
	filtered  = "get_jids_filter"
	minions   = "save_minions"
	cleanOld  = "clean_old_jobs"
	updateEnd = "update_endtime"
	getEnd    = "get_endtime"
)

// Cache is one returner.
type Cache struct {
	Name     string
	Registry *loader.Registry // of returners
	Env      *loader.Env      // has their options
}

// Missing names the functions that the cache lacks and must have: of a master job cache, or of an external one.
func (c Cache) Missing(master bool) []string {
	if master {
		return c.lacks(returner, saveLoad, getLoad, getJID, getJIDs)
	}
	return c.lacks(saveLoad)
}

// Unreadable names the functions without which salt-run jobs.* cannot read the cache (print_job, lookup_jid,
// list_jobs).
func (c Cache) Unreadable() []string { return c.lacks(getLoad, getJID, getJIDs) }

func (c Cache) lacks(need ...string) (out []string) {
	for _, fun := range need {
		if !c.has(fun) {
			out = append(out, c.Name+"."+fun)
		}
	}
	return out
}

func (c Cache) has(fun string) bool {
	_, ok := c.Registry.Lookup(c.Name + "." + fun)
	return ok
}

// call calls a function by its name. One that is not there is an error as Python's.
func (c Cache) call(ctx context.Context, fun string, args ...any) (any, error) {
	f, ok := c.Registry.Lookup(c.Name + "." + fun)
	if !ok {
		return nil, &returners.Unusable{Err: loader.Raise("KeyError", "%s", python.Repr(c.Name+"."+fun))}
	}
	bound, err := loader.Bind(f, args, nil)
	if err != nil {
		return nil, &returners.Unusable{Err: err}
	}
	return f.Run(loader.NewCall(ctx, c.Env, f.Name, nil), bound)
}

// SaveLoad keeps the load of a job.
func (c Cache) SaveLoad(ctx context.Context, jid string, load *payload.Map, ids []string) error {
	var list any
	if ids != nil {
		list = payload.AnyList(ids)
	}
	_, err := c.call(ctx, saveLoad, jid, load, list)
	return err
}

// GetLoad is the load of a job; nil when there is none.
func (c Cache) GetLoad(ctx context.Context, jid string) (*payload.Map, error) {
	return c.mapOf(ctx, getLoad, jid)
}

// GetJID maps each id that answered to what is kept of its return.
func (c Cache) GetJID(ctx context.Context, jid string) (*payload.Map, error) {
	return c.mapOf(ctx, getJID, jid)
}

// GetJIDs maps each job id to a record of its job (jobrecord.Dated).
func (c Cache) GetJIDs(ctx context.Context) (*payload.Map, error) { return c.mapOf(ctx, getJIDs) }

// GetJIDsFilter lists the records of the newest jobs, the oldest first. Not every returner can.
func (c Cache) GetJIDsFilter(ctx context.Context, count int64, skipFindJob bool) (any, error) {
	if !c.has(filtered) {
		return nil, loader.Raise("NotImplementedError", "%s", fmt.Sprintf("'%s.%s' returner function not "+
			"implemented yet.", c.Name, filtered))
	}
	return c.call(ctx, filtered, count, skipFindJob)
}

// EndTime is when the last return of a job came; "" when that is not kept.
func (c Cache) EndTime(ctx context.Context, jid string) (string, error) {
	if !c.has(getEnd) {
		return "", nil
	}
	v, err := c.call(ctx, getEnd, jid)
	if err != nil || !python.Truth(v) {
		return "", err
	}
	return python.Str(v), nil
}

// Clean lets the returner remove old jobs, by its own rules.
func (c Cache) Clean(ctx context.Context) error {
	if !c.has(cleanOld) {
		return nil
	}
	_, err := c.call(ctx, cleanOld)
	return err
}

func (c Cache) mapOf(ctx context.Context, fun string, args ...any) (*payload.Map, error) {
	v, err := c.call(ctx, fun, args...)
	if err != nil {
		return nil, err
	}
	m, _ := v.(*payload.Map) // some answer nothing, or an empty list, for none
	return m, nil
}
