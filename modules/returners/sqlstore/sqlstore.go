// Package sqlstore is what the returners stand on that write to SQL databases: sqlite3, postgres, pgjsonb and mysql.
// They write the tables that Salt documents, with the same contents, so that both can write into one database, and read
// what either wrote. The tables are the operator's: none is made here but those of the archive.
//
// SQL is constant text with parameters. The package answers to
// salt/returners/{sqlite3_return,postgres,pgjsonb,mysql}.py, of 3008.3 where that has them, else of 3006.28.
package sqlstore

import (
	"fmt"

	"brine/modules/loader"
	"brine/modules/returners"
)

// SQLite is the returner sqlite3.
func SQLite() loader.Module { return module("sqlite3_return", sqlite()) }

// Postgres is the returner postgres, which keeps JSON as text.
func Postgres() loader.Module { return module("postgres", postgres()) }

// PGJSONB is the returner pgjsonb, which keeps JSON as PostgreSQL's jsonb.
func PGJSONB() loader.Module { return module("pgjsonb", pgjsonb()) }

// MySQL is the returner mysql.
func MySQL() loader.Module { return module("mysql", mySQL()) }

func module(file string, d *dialect) loader.Module {
	return loader.Module{File: file, Name: d.name, Virtual: loader.Always, Funcs: func() []loader.Func {
		return (&store{dialect: d, pool: newPool()}).functions()
	}}
}

// store is one returner: a kind of database and the connections to those of that kind.
type store struct {
	*dialect
	pool *pool
}

// Parameters of the functions, which are Salt's.
type (
	oneReturn struct {
		Ret any `arg:"ret"`
	}
	fired struct {
		Events any `arg:"events"`
	}
	published struct {
		JID     any `arg:"jid"`
		Load    any `arg:"load"`
		Minions any `arg:"minions=None"`
	}
	expected struct {
		JID     any `arg:"jid"`
		Minions any `arg:"minions"`
		Syndic  any `arg:"syndic_id=None"`
	}
	ofJob struct {
		JID any `arg:"jid"`
	}
	ofFunction struct {
		Fun any `arg:"fun"`
	}
	passed struct {
		NoCache any `arg:"nocache=False"`
		JID     any `arg:"passed_jid=None"`
	}
	newest struct {
		Count       any  `arg:"count"`
		SkipFindJob bool `arg:"filter_find_job=True"`
	}
)

// functions are those of the returner, by Salt's names and with its arguments.
func (s *store) functions() []loader.Func {
	all := []loader.Func{
		loader.Fn("returner", judged(s, s.returner), "Write a return to the database.", "test.ping --return "+s.name),
		loader.Fn("save_load", judged(s, s.saveLoad), "Keep the publication of a job."),
		loader.Fn("save_minions", judged(s, nothing), "Do nothing: the tables have no place for the minions of a job."),
		loader.Fn("get_load", judged(s, s.getLoad), "The publication of a job."),
		loader.Fn("get_jid", judged(s, s.getJID), "The returns of a job, by minion."),
		loader.Fn("get_fun", judged(s, s.getFun), "The latest return of a function, by minion."),
		loader.Fn("get_jids", judged(s, s.getJIDs), "All jobs."),
		loader.Fn("get_minions", judged(s, s.getMinions), "All minions that have returned something."),
		loader.Fn("prep_jid", judged(s, prepJID), "Make a job id, or give back the one that is there."),
	}
	if s.sql.event != "" {
		all = append(all, loader.Fn("event_return", judged(s, s.eventReturn), "Write events to the database."))
	}
	if s.sql.filtered != "" {
		all = append(all, loader.Fn("get_jids_filter", judged(s, s.getJIDsFilter), "The latest jobs."))
	}
	if s.archive != nil {
		all = append(all, loader.Fn("clean_old_jobs", judged(s, s.cleanOldJobs), "Remove, or put into the tables of "+
			"the archive, what is older than keep_jobs_seconds."))
	}
	return all
}

// judged is a function whose errors name the returner, and say whether trying again mends them.
func judged[A any](s *store, run func(*loader.Call, A) (any, error)) func(*loader.Call, A) (any, error) {
	return func(c *loader.Call, a A) (any, error) {
		v, err := run(c, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, s.judge(err))
		}
		return v, nil
	}
}

// nothing is what save_minions does.
func nothing(*loader.Call, expected) (any, error) { return nil, nil }

// judge makes an error hopeless that trying again does not mend.
func (s *store) judge(err error) error {
	if isRefused(err) || s.refuses(err) {
		return &returners.Unusable{Err: err}
	}
	return err
}
