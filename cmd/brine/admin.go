package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"time"

	"brine/cmd/optparse"
	"brine/modules/outputters"
)

// once prepares for one answer: the tool has ended before it is worth its time to look for garbage as often as others do.
func once() { debug.SetGCPercent(400) }

// adminTool asks a running daemon on its control socket, or minions through their master.
type adminTool struct {
	*session
	path string // of the socket
}

// adminWord declares one admin command.
type adminWord struct {
	words       string // what it takes, as the usage line shows it
	description string
	least, most int               // how many words
	want        string            // the usage error when their number is wrong
	watch       bool              // it can be shown again and again (-w)
	master      bool              // only a master knows it: no -m
	options     []optparse.Option // beside those that all have
	remote      string            // dest of the option that names minions, "" when they cannot be asked
}

// openAdmin reads the command line of an admin word.
func (c *call) openAdmin(w adminWord) (*adminTool, error) {
	c.prog = "brine " + c.prog
	p := c.parser("%prog [options]"+w.words, w.description)
	addConfigDir(p)
	addLogging(p, true, "log_file", "none")
	if !w.master {
		p.Add(optparse.Option{Flags: []string{"-m", "--local-minion"}, Kind: optparse.Flag, Dest: "of_local_minion",
			Help: "Ask the minion of this configuration directory instead of the master."})
	}
	p.Add(optparse.Option{Flags: []string{"--json"}, Kind: optparse.Flag, Dest: "as_json", Help: "Print the answer as JSON."})
	if w.watch {
		p.Add(optparse.Option{Flags: []string{"-w", "--watch"}, Kind: optparse.Flag, Dest: "watch_it", Help: "Show it again and again until Ctrl-C."},
			intervalOption("1"))
	}
	p.Add(w.options...)
	v, err := p.Parse(c.args)
	if err != nil {
		return nil, err
	}
	if n := len(v.Args); n < w.least || n > w.most {
		return nil, p.Errorf("%s", w.want)
	}
	s, err := c.open(p, opening{role: w.role(v), unlogged: true})
	if err != nil {
		return nil, err
	}
	return &adminTool{session: s, path: filepath.Join(s.common.SockDir, controlSocket)}, nil
}

// role is whose configuration is read.
func (w adminWord) role(v *optparse.Values) role {
	switch {
	case w.remote != "" && v.Str(w.remote) != "":
		return roleClient
	case v.Bool("of_local_minion"):
		return roleMinion
	}
	return roleMaster
}

// intervalOption declares --interval.
func intervalOption(def string) optparse.Option {
	return optparse.Option{Flags: []string{"--interval"}, Dest: "look_interval", Default: def, Metavar: "SECONDS", Convert: readSeconds,
		Help: "Seconds between two looks. Default: %default."}
}

// readSeconds reads a time in seconds with a fraction.
func readSeconds(text string) (any, error) {
	d, err := time.ParseDuration(text + "s")
	if err != nil || d < 50*time.Millisecond || d > 24*time.Hour {
		return nil, fmt.Errorf("a number of seconds from 0.05 on is wanted, not %q", text)
	}
	return text, nil
}

// interval is the time between two looks.
func (a *adminTool) interval() time.Duration {
	d, err := time.ParseDuration(a.opt.Str("look_interval") + "s")
	if err != nil {
		return time.Second
	}
	return d
}

// asJSON prints a result as one JSON document.
func (a *adminTool) asJSON(v any) error {
	text, err := outputters.Format("json", v, outputters.FromOpts(a.common.Raw))
	if err == nil && !json.Valid([]byte(text)) {
		err = errors.New("the answer has no JSON form")
	}
	if err != nil {
		return err
	}
	return a.emit(text + "\n")
}

// answer is one answer of a daemon: its value, for programs, and its text, for people.
type answer struct {
	value any
	text  func() string
	prose bool // lines too long for a screen are wrapped, not cut
}

// show prints an answer once, or with -w again and again: on a terminal each over the one before, elsewhere one after
// the other, and as JSON one in a line.
func (a *adminTool) show(next func() (answer, error)) error {
	watch := a.opt.Bool("watch_it")
	if !watch {
		once()
		got, err := next()
		switch {
		case err != nil:
			return err
		case a.opt.Bool("as_json"):
			return a.asJSON(got.value)
		}
		return a.emit(got.text())
	}
	for first := true; ; first = false {
		got, err := next()
		switch {
		case err != nil:
			return err
		case a.opt.Bool("as_json"):
			err = a.emit(outputters.JSON(got.value) + "\n")
		default:
			err = a.repaint(got, first)
		}
		if err != nil {
			return err
		}
		time.Sleep(a.interval())
	}
}
