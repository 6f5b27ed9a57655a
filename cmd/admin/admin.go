// Package admin contains brine's own commands for operators: tree, top, history, stack, jobs, minions, restart,
// crash, bundle, trace and why. They ask a running daemon on its control socket, or minions through their
// master. Salt has none of these commands.
package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"brine/cmd/display"
	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/modules/outputters"
)

// once prepares a tool that gives one answer: it ends so soon that frequent garbage collections are not worth
// their time.
func once() { debug.SetGCPercent(400) }

// adminTool asks a running daemon on its control socket, or minions through their master.
type adminTool struct{ *session.Session }

// adminWord declares one admin command.
type adminWord struct {
	words       string // its arguments, as the usage line shows them
	description string
	least, most int               // number of arguments
	want        string            // the usage error for a wrong number
	watch       bool              // -w repeats it
	master      bool              // only a master answers it, so there is no -m
	options     []optparse.Option // beside those that all commands have
	remote      string            // dest of the option that names minions; "" if minions cannot be asked
}

// openAdmin reads the command line of an admin command.
func openAdmin(c *tool.Call, w adminWord) (*adminTool, error) {
	c.Prog = "brine " + c.Prog
	p := options.NewParser(c, "%prog [options]"+w.words, w.description)
	options.AddConfigDir(p)
	options.AddLogging(p, true, "log_file", "none")
	if !w.master {
		p.Add(optparse.Option{Flags: []string{"-m", "--local-minion"}, Kind: optparse.Flag, Dest: "of_local_minion",
			Help: "Ask the minion of this configuration directory instead of the master."},
			optparse.Option{Flags: []string{"--api"}, Kind: optparse.Flag, Dest: "of_api",
				Help: "Ask the salt-api of this configuration directory instead of the master."},
			optparse.Option{Flags: []string{"--api-number"}, Dest: "of_api_number", Metavar: "N",
				Help: "With --api: ask the Nth, where several run beside one master. Default: the first that runs."})
	}
	p.Add(optparse.Option{Flags: []string{"--json"}, Kind: optparse.Flag, Dest: "as_json",
		Help: "Print the answer as JSON."})
	if w.watch {
		p.Add(optparse.Option{Flags: []string{"-w", "--watch"}, Kind: optparse.Flag, Dest: "watch_it",
			Help: "Show it again and again until Ctrl-C."},
			intervalOption("1"))
	}
	p.Add(w.options...)
	v, err := p.Parse(c.Args)
	if err != nil {
		return nil, err
	}
	if n := len(v.Args); n < w.least || n > w.most {
		return nil, p.Errorf("%s", w.want)
	}
	s, err := session.Open(c, p, session.Opening{Role: w.role(v), Unlogged: true})
	if err != nil {
		return nil, err
	}
	if v.Bool("of_api") {
		if s.Common.SockDir, err = placeOfAPI(s, v.Str("of_api_number")); err != nil {
			return nil, err
		}
	}
	return &adminTool{s}, nil
}

// role tells whose configuration is read.
func (w adminWord) role(v *optparse.Values) session.Role {
	switch {
	case w.remote != "" && v.Str(w.remote) != "":
		return session.RoleClient
	case v.Bool("of_local_minion"):
		return session.RoleMinion
	}
	return session.RoleMaster
}

// intervalOption declares --interval.
func intervalOption(def string) optparse.Option {
	return optparse.Option{Flags: []string{"--interval"}, Dest: "look_interval", Default: def, Metavar: "SECONDS",
		Convert: readSeconds,
		Help:    "Seconds between two looks. Default: %default."}
}

// readSeconds reads a time in seconds, which may have a fraction.
func readSeconds(text string) (any, error) {
	d, err := time.ParseDuration(text + "s")
	if err != nil || d < 50*time.Millisecond || d > 24*time.Hour {
		return nil, fmt.Errorf("a number of seconds from 0.05 on is wanted, not %q", text)
	}
	return text, nil
}

// interval is the time between two looks.
func (a *adminTool) interval() time.Duration {
	d, err := time.ParseDuration(a.Opt.Str("look_interval") + "s")
	if err != nil {
		return time.Second
	}
	return d
}

// asJSON prints a result as one JSON document.
func (a *adminTool) asJSON(v any) error {
	text, err := outputters.Format("json", v, outputters.FromOpts(a.Common.Raw))
	if err == nil && !json.Valid([]byte(text)) {
		err = errors.New("the answer has no JSON form")
	}
	if err != nil {
		return err
	}
	return display.Emit(a.Session, text+"\n")
}

// answer is one answer of a daemon: a value for programs and a text for people.
type answer struct {
	value any
	text  func() string
	prose bool // wrap lines that are too long for the screen; do not cut them
}

// show prints an answer once, or again and again with -w. On a terminal each answer replaces the last one.
// Elsewhere the answers follow each other. JSON has one answer in a line.
func (a *adminTool) show(next func() (answer, error)) error {
	watch := a.Opt.Bool("watch_it")
	if !watch {
		once()
		got, err := next()
		switch {
		case err != nil:
			return err
		case a.Opt.Bool("as_json"):
			return a.asJSON(got.value)
		}
		return display.Emit(a.Session, got.text())
	}
	for first := true; ; first = false {
		got, err := next()
		switch {
		case err != nil:
			return err
		case a.Opt.Bool("as_json"):
			err = display.Emit(a.Session, outputters.JSON(got.value)+"\n")
		default:
			err = a.repaint(got, first)
		}
		if err != nil {
			return err
		}
		time.Sleep(a.interval())
	}
}
