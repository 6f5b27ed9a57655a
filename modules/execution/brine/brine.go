// Package brine is the execution module brine: functions that tell a job about the brine daemon it runs in. A Salt
// minion has none of them, so they answer to no file of Salt. An operator reaches them with `brine tree --minion ID`
// and `brine top --minions TARGET`, or with the command salt.
package brine

import (
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
)

// The functions of the module.
const (
	Actors = "brine.actors" // shows the actors of a minion
	Jobs   = "brine.jobs"   // shows what it has in hand
	Job    = "brine.job"    // tells what became of one job
)

// Module is the module brine.
func Module() loader.Module {
	return loader.Module{File: "brine", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn(Actors, actors,
				"Show the actors of this minion: state, restarts, mailbox, messages, busy share, last deaths.\n"+
					"brief leaves out stacks and histograms.",
				"brine.actors", "salt web1 brine.actors Dispatcher brief=True").Shows("nested"),
			loader.Fn(Job, job,
				"Tell what this minion knows of a job: when it came, was queued, began and ended, how, and where its "+
					"return is.\nTimes are microseconds since 1970 by the clock of the minion. See also brine why and "+
					"brine trace on the master.",
				"salt web1 brine.job 20260102030405060708").Shows("nested"),
			loader.Fn(Jobs, jobs, "Show the jobs that run on this minion, those that wait behind process_count_max, "+
				"and the returns its masters lack.", "brine.jobs").Shows("nested"),
		}
	}}
}

type subtree struct {
	Path  string `arg:"path=''"`
	Brief bool   `arg:"brief=False"`
}

func actors(c *loader.Call, a subtree) (*payload.Map, error) {
	daemon := c.Host().Daemon
	if daemon == nil {
		return nil, errNoDaemon()
	}
	tree, err := daemon.Actors(c.Ctx, a.Path)
	if err != nil {
		return nil, loader.ExecErr("%s", err)
	}
	if a.Brief {
		shorten(tree)
	}
	return tree, nil
}

func errNoDaemon() error { return loader.ExecErr("No brine minion runs around this function") }

func jobs(c *loader.Call, _ struct{}) (*payload.Map, error) {
	daemon := c.Host().Daemon
	if daemon == nil {
		return nil, errNoDaemon()
	}
	list, err := daemon.JobList(c.Ctx)
	if err != nil {
		return nil, loader.ExecErr("%s", err)
	}
	return list.Set("running", without(list.List("running"), c.JID)), nil
}

type asked struct {
	JID string `arg:"jid"`
}

func job(c *loader.Call, a asked) (*payload.Map, error) {
	daemon := c.Host().Daemon
	if daemon == nil {
		return nil, errNoDaemon()
	}
	facts, err := daemon.JobFacts(c.Ctx, a.JID)
	if err != nil {
		return nil, loader.ExecErr("%s", err)
	}
	return facts, nil
}

// without leaves out the job that asks.
func without(jobs []any, jid string) []any {
	return slices.DeleteFunc(jobs, func(j any) bool {
		m, _ := j.(*payload.Map)
		return jid != "" && m.Str("jid") == jid
	})
}

// shorten takes out of a tree what is long: all deaths but the last, messages set aside, stacks, counts of histograms.
func shorten(node *payload.Map) {
	node.Delete("deaths")
	node.Delete("quarantine")
	for _, name := range []string{"last_death", "last_slow"} {
		if last := node.Map(name); last != nil {
			last.Delete("stack")
		}
	}
	for _, name := range []string{"handling", "waiting"} {
		if spread := node.Map(name); spread != nil {
			spread.Delete("buckets")
		}
	}
	for _, child := range node.List("children") {
		if below, ok := child.(*payload.Map); ok {
			shorten(below)
		}
	}
}
