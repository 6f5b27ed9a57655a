// Command brine is the one binary of the tree. It acts as the tool that its name says (argv[0], a link made by
// `brine links`), or else as the tool in its first word: salt-key, salt-master, links, ... This package
// contains the table of tools, and the two tools that need the table: links and the help. Every other tool is a
// package of its name beside this one. The tests of the whole binary are here, too.
package main

import (
	"os"
	"path/filepath"

	"brine/cmd/admin"
	"brine/cmd/bench"
	"brine/cmd/configtool"
	"brine/cmd/emulate"
	"brine/cmd/keepalive"
	"brine/cmd/salt"
	"brine/cmd/saltapi"
	"brine/cmd/saltcall"
	"brine/cmd/saltcp"
	"brine/cmd/saltkey"
	"brine/cmd/saltmaster"
	"brine/cmd/saltminion"
	"brine/cmd/saltrun"
	"brine/cmd/terminal"
	"brine/cmd/tool"
	"brine/modules/host/jobprocess"
)

func main() {
	parent := keepalive.Find()
	code := dispatch(os.Args, parent)
	parent.Over()
	os.Exit(code)
}

// program is one of the programs that brine can act as.
type program struct {
	name string
	what string // one line for brine's own help
	run  func(*tool.Call) error
	// signals means that the tool handles SIGINT and SIGTERM itself.
	signals bool
	// link means that `brine links` makes a link of its name.
	link bool
	// hidden means that the tool is not for operators.
	hidden bool
}

// tools lists every tool. Salt's tools get a link each, brine's own are words behind brine.
func tools() []program {
	return []program{
		{name: "salt", what: "run functions on minions and show their returns", run: salt.Run, link: true},
		{name: "salt-key", what: "list, accept, reject and delete keys; make key pairs", run: saltkey.Run, link: true},
		{name: "salt-run", what: "run functions of the master", run: saltrun.Run, link: true},
		{name: "salt-call", what: "run functions of the minion on this host", run: saltcall.Run, link: true},
		{name: "salt-cp", what: "copy files of this machine to minions", run: saltcp.Run, link: true},
		{name: "salt-master", what: "run a master", run: saltmaster.Run, signals: true, link: true},
		{name: "salt-minion", what: "run a minion", run: saltminion.Run, signals: true, link: true},
		{name: "salt-api", what: "run the REST servers of a master", run: saltapi.Run, signals: true, link: true},
		{name: jobprocess.Name, what: "run one job for a minion", run: saltminion.RunJob, signals: true, hidden: true},
		{name: "tree", what: "show the actors of a running daemon", run: admin.Tree},
		{name: "top", what: "follow the actors of a running daemon on a full screen", run: admin.Top, signals: true},
		{name: "history", what: "show the last deaths of its actors", run: admin.History},
		{name: "stack", what: "[ACTOR]: show what its goroutines do right now", run: admin.Stack},
		{name: "jobs", what: "show what a running daemon has in hand: jobs, queue, returns", run: admin.Jobs},
		{name: "minions", what: "[GLOB]: show the minions of a running master", run: admin.Minions},
		{name: "reactor", what: "[test EVENT.json]: show the rules of a master's Reactor, or what an event sets off",
			run: admin.Reactor},
		{name: "restart", what: "ACTOR: end an actor and start it again", run: admin.Restart},
		{name: "crash", what: "ACTOR: harm an actor on purpose (chaos: True)", run: admin.Crash},
		{name: "bundle", what: "FILE: collect what a running daemon knows of itself, without secrets",
			run: admin.Bundle},
		{name: "trace", what: "JID [MINION]: show the way of a job through every hop", run: admin.Trace},
		{name: "why", what: "JID [MINION]: show why minions have not returned", run: admin.Why},
		{name: "config", what: "get KEY, dump, check [FILE]: show options, where they come from, and what is wrong " +
			"with them", run: configtool.Run},
		{name: "links", what: "DIR: make the names of Salt's tools in DIR, as links to this file", run: links},
		{name: "manual", what: "DIR: write the manual pages of all tools into DIR", run: manual},
		{name: "completion", what: "print the completion of all tools for bash", run: completion},
		{name: "emulate", what: "run a fleet of emulated minions against a master", run: emulate.Run, signals: true},
		{name: "bench", what: "measure brine and real Salt side by side", run: bench.Command, signals: true},
	}
}

func findTool(name string) (program, bool) {
	for _, t := range tools() {
		if t.name == name {
			return t, true
		}
	}
	return program{}, false
}

// dispatch runs the tool that argv names and returns the exit code. parent is nil except in a daemon.
func dispatch(argv []string, parent *keepalive.Parent) int {
	prog, args := "brine", []string(nil)
	if len(argv) > 0 {
		prog, args = filepath.Base(argv[0]), argv[1:]
	}
	t, ok := findTool(prog)
	if !ok && len(args) > 0 {
		if t, ok = findTool(args[0]); ok {
			prog, args = t.name, args[1:]
		}
	}
	if !ok {
		t, prog = program{name: "brine", run: ownHelp}, "brine"
	}
	c := &tool.Call{Prog: prog, Parent: parent, Args: args, Stdin: os.Stdin, Stdout: terminal.OnScreen(os.Stdout),
		Stderr:     terminal.OnScreen(os.Stderr),
		OwnSignals: t.signals}
	return c.Run(t.run)
}
