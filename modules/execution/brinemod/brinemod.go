// Package brinemod is the module brine: functions that tell a job about the brine daemon it runs in. A Salt minion has
// none of them, so they answer to no file of Salt; an operator reaches them with `brine tree --minion ID` and
// `brine top --minions TARGET`, or with the command salt.
package brinemod

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

// Functions are the functions of the module.
func Functions() []loader.Func {
	return []loader.Func{
		{Name: Actors, Params: []loader.Param{loader.Opt("path", ""), loader.Opt("brief", false)}, Run: actors, Outputter: "nested",
			Doc: `Show the actors of this minion: state, restarts, mailbox, messages, busy share, last deaths.
brief leaves out stacks and histograms.

CLI Example:

    salt '*' brine.actors
    salt web1 brine.actors Dispatcher brief=True`},
		{Name: Job, Params: []loader.Param{loader.Req("jid")}, Run: job, Outputter: "nested",
			Doc: `Tell what this minion knows of a job: when it came, was queued, began and ended, how, and where its return is.
Times are microseconds since 1970 by the clock of the minion. See also brine why and brine trace on the master.

CLI Example:

    salt web1 brine.job 20260102030405060708`},
		{Name: Jobs, Run: jobs, Outputter: "nested",
			Doc: `Show the jobs that run on this minion, those that wait behind process_count_max, and the returns its masters lack.

CLI Example:

    salt '*' brine.jobs`},
	}
}

func actors(c *loader.Call, a loader.Args) (any, error) {
	daemon := c.Host().Daemon
	if daemon == nil {
		return nil, errNoDaemon()
	}
	tree, err := daemon.Actors(c.Ctx, a.Str("path"))
	if err != nil {
		return nil, loader.ExecErr("%s", err)
	}
	if a.Bool("brief") {
		shorten(tree)
	}
	return tree, nil
}

func errNoDaemon() error { return loader.ExecErr("No brine minion runs around this function") }

func jobs(c *loader.Call, _ loader.Args) (any, error) {
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

func job(c *loader.Call, a loader.Args) (any, error) {
	daemon := c.Host().Daemon
	if daemon == nil {
		return nil, errNoDaemon()
	}
	facts, err := daemon.JobFacts(c.Ctx, a.Str("jid"))
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
