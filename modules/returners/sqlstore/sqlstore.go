// Package sqlstore holds the returners that write to SQL databases: sqlite3, postgres, pgjsonb and mysql. They write
// the tables that Salt documents, with the same contents, so that both can write into one database, and read what
// either wrote. The tables are the operator's: none is made here but those of the archive.
//
// SQL is constant text with parameters. The package finds no options and knows no spool: package returners gives it
// both as a Host. It answers to salt/returners/{sqlite3_return,postgres,pgjsonb,mysql}.py, of 3008.3 where that has
// them, else of 3006.28.
package sqlstore

import (
	"fmt"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Host is what the databases need of the package returners.
type Host struct {
	// Options finds the options of a returner for a return, or for none.
	Options func(c *loader.Call, ret *payload.Map, want Wanted) (map[string]any, error)
	// Hopeless makes an error one that no later try mends.
	Hopeless func(error) error
	// Misset makes an error one of the options, which ends when these are mended.
	Misset func(error) error
}

// Wanted says where the options of a returner stand, and which it has.
type Wanted struct {
	Place    string // "returner.postgres"
	Names    []string
	Defaults map[string]any
}

// Functions are those of all databases.
func Functions(host Host) []loader.Func {
	var all []loader.Func
	for _, d := range []*dialect{sqlite(), postgres(), pgjsonb(), mySQL()} {
		s := &store{dialect: d, host: host, pool: newPool()}
		all = append(all, s.functions()...)
	}
	return all
}

// store is one returner: a kind of database and the connections to those of that kind.
type store struct {
	*dialect
	host Host
	pool *pool
}

// functions are those of the returner, by Salt's names and with its arguments.
func (s *store) functions() []loader.Func {
	jid := loader.Req("jid")
	minions := loader.Opt("minions", nil)
	all := []loader.Func{
		s.function("returner", s.returner, "Write a return to the database.\n\nCLI Example:\n\n    salt '*' "+
			"test.ping --return "+s.name, loader.Req("ret")),
		s.function("save_load", s.saveLoad, "Keep the publication of a job.", jid, loader.Req("load"), minions),
		s.function("save_minions", nothing, "Do nothing: the tables have no place for the minions of a job.", jid,
			loader.Req("minions"), loader.Opt("syndic_id", nil)),
		s.function("get_load", s.getLoad, "The publication of a job.", jid),
		s.function("get_jid", s.getJID, "The returns of a job, by minion.", jid),
		s.function("get_fun", s.getFun, "The latest return of a function, by minion.", loader.Req("fun")),
		s.function("get_jids", s.getJIDs, "All jobs."),
		s.function("get_minions", s.getMinions, "All minions that have returned something."),
		s.function("prep_jid", prepJID, "Make a job id, or give back the one that is there.",
			loader.Opt("nocache", false), loader.Opt("passed_jid", nil)),
	}
	if s.sql.event != "" {
		all = append(all, s.function("event_return", s.eventReturn, "Write events to the database.",
			loader.Req("events")))
	}
	if s.sql.filtered != "" {
		all = append(all, s.function("get_jids_filter", s.getJIDsFilter, "The latest jobs.", loader.Req("count"),
			loader.Opt("filter_find_job", true)))
	}
	if s.archive != nil {
		all = append(all, s.function("clean_old_jobs", s.cleanOldJobs, "Remove, or put into the tables of the "+
			"archive, what is older than keep_jobs_seconds."))
	}
	return all
}

// function is one of them.
func (s *store) function(name string, run func(*loader.Call, loader.Args) (any, error), doc string,
	params ...loader.Param) loader.Func {
	return loader.Func{Name: s.name + "." + name, Params: params, Source: s.source, Doc: doc,
		Run: func(c *loader.Call, a loader.Args) (any, error) {
			v, err := run(c, a)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, s.judge(err))
			}
			return v, nil
		}}
}

// nothing is what save_minions does.
func nothing(*loader.Call, loader.Args) (any, error) { return nil, nil }

// judge makes an error hopeless that trying again does not mend.
func (s *store) judge(err error) error {
	if isRefused(err) || s.refuses(err) {
		return s.host.Hopeless(err)
	}
	return err
}

// argText is an argument as text, as drivers of Python bind it.
func argText(a loader.Args, name string) string { return python.Str(a.Get(name)) }
