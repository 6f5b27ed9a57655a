// Package functions declares the functions of returners: their names, parameters and help are Salt's, so that a
// returner gives only the bodies. Those that a job cache needs (save_load, get_load, ...) are called by the master
// whose job cache (master_job_cache, ext_job_cache) is that returner. Answers to salt/returners/*.py.
package functions

import (
	"time"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/wire/payload"
	"brine/wire/python"
)

type given struct {
	Ret any `arg:"ret"`
}

// Returner is NAME.returner, which takes one return.
func Returner(name, doc string, take func(c *loader.Call, ret *payload.Map) error) loader.Func {
	return loader.Fn("returner", func(c *loader.Call, a given) (any, error) {
		ret, ok := a.Ret.(*payload.Map)
		if !ok {
			return nil, returners.Refuse("%s.returner wants a return, which is a map", name)
		}
		return nil, take(c, ret)
	}, doc, "test.ping --return "+name)
}

type fired struct {
	Events any `arg:"events"`
}

// EventReturn is NAME.event_return, which takes events. An empty list does not reach take.
func EventReturn(name, doc string, take func(c *loader.Call, events []any) error) loader.Func {
	return loader.Fn("event_return", func(c *loader.Call, a fired) (any, error) {
		events, ok := a.Events.([]any)
		if !ok {
			return nil, returners.Refuse("%s.event_return wants a list of events", name)
		}
		if len(events) == 0 {
			return nil, nil
		}
		return nil, take(c, events)
	}, doc)
}

type published struct {
	JID     string `arg:"jid"`
	Load    any    `arg:"load"`
	Minions any    `arg:"minions=None"`
}

// SaveLoad is NAME.save_load, which keeps a publication.
func SaveLoad(save func(c *loader.Call, jid string, load any) error) loader.Func {
	return loader.Fn("save_load", func(c *loader.Call, a published) (any, error) {
		return nil, save(c, a.JID, a.Load)
	}, "Keep the load of a job.")
}

type expected struct {
	JID     any `arg:"jid"`
	Minions any `arg:"minions"`
	Syndic  any `arg:"syndic_id=None"`
}

// SaveMinions is NAME.save_minions of a returner that keeps nothing of them.
func SaveMinions() loader.Func {
	return loader.Fn("save_minions", func(*loader.Call, expected) (any, error) { return nil, nil },
		"Takes the minions of a job, and keeps nothing of them.")
}

type ofJob struct {
	JID string `arg:"jid"`
}

// ByJID is a function that reads what is kept of a job: get_load, get_jid.
func ByJID(what, doc string, get func(c *loader.Call, jid string) (any, error)) loader.Func {
	return loader.Fn(what, func(c *loader.Call, a ofJob) (any, error) { return get(c, a.JID) }, doc)
}

type ofFunction struct {
	Fun string `arg:"fun"`
}

// GetFun is NAME.get_fun.
func GetFun(get func(c *loader.Call, fun string) (any, error)) loader.Func {
	return loader.Fn("get_fun", func(c *loader.Call, a ofFunction) (any, error) { return get(c, a.Fun) },
		"Show the last return of a function of each minion.")
}

// Plain is a function without arguments.
func Plain(what, doc string, run func(c *loader.Call) (any, error)) loader.Func {
	return loader.Fn(what, func(c *loader.Call, _ struct{}) (any, error) { return run(c) }, doc)
}

type passed struct {
	NoCache any `arg:"nocache=False"`
	JID     any `arg:"passed_jid=None"`
}

// PrepJID is NAME.prep_jid: the job id that is passed, or a new one.
func PrepJID() loader.Func {
	return loader.Fn("prep_jid", func(c *loader.Call, a passed) (any, error) {
		if a.JID != nil {
			return a.JID, nil
		}
		return payload.NewUniqueJID(time.Now(), python.Truth(c.Opts().Value("unique_jid"))), nil
	}, "Give the id of a job: the one that is passed, else a new one.")
}
