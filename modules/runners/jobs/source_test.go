package jobs

import (
	"context"
	"testing"

	"brine/modules/fleet/jobrecord"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

const jidA = "20261121105627000651"

// otherCache stands for a returner that keeps jobs.
type otherCache struct{ name string }

func (o otherCache) GetLoad(_ context.Context, jid string) (*payload.Map, error) {
	return payload.M("fun", "test.ping", "arg", []any{}, "tgt", o.name, "jid", jid), nil
}

// GetJID tells of two minions: of one there is the whole return, of the other the value only.
func (o otherCache) GetJID(context.Context, string) (*payload.Map, error) {
	return payload.M("a", payload.M("return", o.name, "out", "txt"), "b", true), nil
}

func (o otherCache) GetJIDs(ctx context.Context) (*payload.Map, error) {
	load, err := o.GetLoad(ctx, jidA)
	return payload.M(jidA, jobrecord.Dated(jidA, load), "odd", nil), err
}

func (o otherCache) GetJIDsFilter(context.Context, int64, bool) (any, error) {
	return nil, loader.Raise("NotImplementedError", "not yet")
}

func (o otherCache) EndTime(context.Context, string) (string, error) { return "end of " + o.name, nil }

// Jobs are read from the returner of ext_job_cache, else of ext_source, else of master_job_cache, as in Salt; ends
// are those that the master job cache keeps.
func TestJobSource(t *testing.T) {
	for _, row := range []struct{ ext, asked, master, want string }{
		{"", "", "sql", "sql"}, {"", "es", "sql", "es"}, {"redis", "es", "sql", "redis"}, {"", "es", "", "es"},
		{"redis", "local_cache", "", "redis"},
	} {
		r := &master{runners.Options{JobCaches: func(name string) runners.JobCache { return otherCache{name} }}}
		opts := payload.M("ext_job_cache", row.ext, "master_job_cache", row.master, "job_cache_store_endtime",
			row.master != "")
		c := loader.NewCall(t.Context(), &loader.Env{Opts: func() *payload.Map { return opts }}, "jobs", nil)
		got, err := r.printJob(c, jidA, row.asked)
		if err != nil || got.Map(jidA).Str("Target") != row.want {
			t.Errorf("%v: got %v, %v", row, got, err)
		}
		if end := got.Map(jidA).Str("EndTime"); row.master != "" && end != "end of "+row.master {
			t.Errorf("%v: end %q", row, end)
		}
		found, err := r.search(c, row.asked, jobFilter{target: []string{row.want[:1] + "*"}})
		if err != nil || found.Len() != 1 {
			t.Errorf("%v: found %v, %v", row, found, err)
		}
	}
	for _, v := range []any{nil, "local_cache"} {
		r := &master{}
		c := loader.NewCall(t.Context(), &loader.Env{Opts: func() *payload.Map {
			return payload.M("master_job_cache", v)
		}},
			"jobs", nil)
		if _, err := r.source(c, ""); err == nil {
			t.Errorf("%v: a source without a store", v)
		}
	}
}

// What a minion returned is shown whatever of it a returner keeps.
func TestBare(t *testing.T) {
	for _, row := range []struct{ kept, want any }{
		{payload.M("return", int64(3), "retcode", int64(0)), int64(3)}, {true, true},
		{payload.M("a", int64(1)), payload.M("a", int64(1))},
		{payload.M("retcode", int64(1)), nil},
	} {
		m, isMap := row.kept.(*payload.Map)
		if got := bare(m, isMap, row.kept); !payload.Equal(got, row.want) {
			t.Errorf("%v: got %v", row.kept, got)
		}
	}
}
