// Command brine is the one binary of the tree. It acts as the tool that its name (argv[0], a link made by
// `brine links`) or else its first word says: salt-key, salt-master, links, ... Every tool has a file of its name;
// what they share (options, configuration, logging, output, exit codes) has one file a subject.
package main

import (
	"os"
	"path/filepath"

	"brine/cmd/keepalive"
	"brine/modules/worker"
)

func main() {
	parent := keepalive.Find()
	code := dispatch(os.Args, parent)
	parent.Over()
	os.Exit(code)
}

// tool is one of the programs that brine is.
type tool struct {
	name string
	what string // one line for brine's own help
	run  func(*call) error
	// signals says that the tool handles SIGINT and SIGTERM itself.
	signals bool
	// link says that `brine links` makes a name for it.
	link bool
	// hidden says that it is not for operators.
	hidden bool
}

// tools lists every tool. Salt's tools get a link each, brine's own are words behind brine.
func tools() []tool {
	return []tool{
		{name: "salt", what: "run functions on minions and show their returns", run: saltCmd, link: true},
		{name: "salt-key", what: "list, accept, reject and delete keys; make key pairs", run: saltKey, link: true},
		{name: "salt-run", what: "run functions of the master", run: saltRun, link: true},
		{name: "salt-call", what: "run functions of the minion on this host", run: saltCall, link: true},
		{name: "salt-master", what: "run a master", run: saltMaster, signals: true, link: true},
		{name: "salt-minion", what: "run a minion", run: saltMinion, signals: true, link: true},
		{name: worker.Name, what: "run one job for a minion", run: jobProcess, signals: true, hidden: true},
		{name: "tree", what: "show the actors of a running daemon", run: adminTree},
		{name: "top", what: "follow the actors of a running daemon on a full screen", run: adminTop, signals: true},
		{name: "history", what: "show the last deaths of its actors", run: adminHistory},
		{name: "stack", what: "[ACTOR]: show what its goroutines do right now", run: adminStack},
		{name: "jobs", what: "show what a running daemon has in hand: jobs, queue, returns", run: adminJobs},
		{name: "minions", what: "[GLOB]: show the minions of a running master", run: adminMinions},
		{name: "restart", what: "ACTOR: end an actor and start it again", run: adminRestart},
		{name: "crash", what: "ACTOR: harm an actor on purpose (chaos: True)", run: adminCrash},
		{name: "bundle", what: "FILE: collect what a running daemon knows of itself, without secrets", run: adminBundle},
		{name: "trace", what: "JID [MINION]: show the way of a job through every hop", run: adminTrace},
		{name: "why", what: "JID [MINION]: show why minions have not returned", run: adminWhy},
		{name: "links", what: "DIR: make the names of Salt's tools in DIR, as links to this file", run: links},
		{name: "emulate", what: "run a fleet of emulated minions against a master", run: emulate, signals: true},
		{name: "bench", what: "measure brine and real Salt side by side", run: benchCmd, signals: true},
	}
}

func findTool(name string) (tool, bool) {
	for _, t := range tools() {
		if t.name == name {
			return t, true
		}
	}
	return tool{}, false
}

// dispatch runs the tool that argv asks for and returns the exit code. parent is nil for all but a salt-minion.
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
		t, prog = tool{name: "brine", run: ownHelp}, "brine"
	}
	c := &call{prog: prog, parent: parent, args: args, stdin: os.Stdin, stdout: onScreen(os.Stdout), stderr: onScreen(os.Stderr),
		ownSignals: t.signals}
	return c.run(t.run)
}
