package main

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/cmd/optparse"
	"brine/config"
	"brine/wire/payload"
)

// session is a tool whose command line is read, whose configuration is loaded and whose log is open.
type session struct {
	*call
	parser *optparse.Parser
	opt    *optparse.Values
	common *config.Common
	master *config.Master // of tools that read the master's configuration
	client *config.Client // of those that speak to the master: master with the user's personal file
	minion *config.Minion // of tools that read the minion's
	log    *slog.Logger
	memory int64 // limit of the control group of a daemon in bytes, 0: none

	unhonoured []config.Notice // options that a daemon does not honour
}

// role names the configuration a tool reads.
type role int

const (
	roleMaster role = iota
	roleMinion
	roleClient // the master's, with the user's personal file over it
	roleCaller // the minion's, where a broken included file is left out
)

// opening says how a tool opens its session.
type opening struct {
	role     role
	logFile  string // configuration key of the log file: log_file unless set
	daemon   bool   // no log on the console with -d
	unlogged bool   // no log file but the one that the command line names
	// dir, when set, corrects the configuration directory before it is used.
	dir func(*optparse.Values) error
	// adjust, when set, turns what the command line says into overrides of the configuration.
	adjust func(v *optparse.Values, over *payload.Map) error
	// check, when set, looks at the options once the configuration is loaded and no file is touched yet.
	check func(*session) error
}

// open reads the command line, the Saltfile and the configuration, opens log and output file, in Salt's order.
func (c *call) open(p *optparse.Parser, o opening) (*session, error) {
	s := &session{call: c, parser: p}
	if err := s.readWords(); err != nil {
		return nil, err
	}
	c.watchSignals()
	if err := s.readSaltfile(); err != nil {
		return nil, err
	}
	if o.dir != nil {
		if err := o.dir(s.opt); err != nil {
			return nil, err
		}
	}
	if err := s.readConfig(o); err != nil {
		return nil, err
	}
	if o.check != nil {
		if err := o.check(s); err != nil {
			return nil, err
		}
	}
	if err := s.emptyOutputFile(); err != nil {
		return nil, err
	}
	return s, s.openLogs(o)
}

// readWords reads the command line, and stdin after it on --args-stdin.
func (s *session) readWords() (err error) {
	if s.opt, err = s.parser.Parse(s.args); err != nil {
		return err
	}
	if s.opt.Bool("args_stdin") {
		var words []string
		in := bufio.NewScanner(s.stdin)
		in.Buffer(nil, 64<<20)
		for in.Scan() {
			words = append(words, in.Text())
		}
		if err := in.Err(); err != nil {
			return fmt.Errorf("read words from stdin: %w", err)
		}
		if err := s.parser.ParseMore(s.opt, words); err != nil {
			return err
		}
	}
	if s.opt.Bool("versions_report") {
		return &optparse.Answered{Text: versionsReport()}
	}
	if text, ok := s.opt.Get("no_parse").(string); ok {
		var names []any
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		s.opt.Default("no_parse", names)
	}
	return nil
}

// readConfig finds the configuration directory and loads the role's file with the command line over it.
func (s *session) readConfig(o opening) error {
	dir := expandUser(s.opt.Str("config_dir"))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		fmt.Fprintf(s.stderr, "WARNING: CONFIG '%s' directory does not exist.\n", dir)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find the configuration directory: %w", err)
	}
	s.opt.Default("config_dir", dir)
	over := payload.NewMap(0)
	for dest, value := range s.opt.All() {
		if s.opt.Given(dest) {
			over.Set(dest, configValue(value))
		}
	}
	if o.adjust != nil {
		if err := o.adjust(s.opt, over); err != nil {
			return err
		}
	}
	if err := s.loadRole(o.role, dir, over); err != nil {
		return err
	}
	s.merge()
	return nil
}

// loadRole loads the file of a role from dir.
func (s *session) loadRole(r role, dir string, over *payload.Map) (err error) {
	switch r {
	case roleMinion:
		if s.minion, err = config.LoadMinion(filepath.Join(dir, "minion"), over); err == nil {
			s.common = &s.minion.Common
		}
		return err
	case roleCaller:
		load := config.Loader{Path: filepath.Join(dir, "minion"), Overrides: over, CacheID: true}
		if s.minion, err = load.Minion(); err == nil {
			s.common = &s.minion.Common
		}
		return err
	case roleClient:
		if s.client, err = config.LoadClient(filepath.Join(dir, "master"), over); err == nil {
			s.master = &s.client.Master
		}
	default:
		s.master, err = config.LoadMaster(filepath.Join(dir, "master"), over)
	}
	if err == nil {
		s.common = &s.master.Common
	}
	return err
}

// merge lets options and configuration know each other: an option nobody gave takes the configuration's value, and
// its default goes into the configuration where that has nothing.
func (s *session) merge() {
	for dest, value := range s.opt.All() {
		conf, known := s.common.Raw.Get(dest)
		switch {
		case s.opt.Given(dest):
			s.common.Raw.Set(dest, configValue(value))
		case known && conf != nil:
			s.opt.Default(dest, conf)
		case value != nil:
			s.common.Raw.Set(dest, configValue(value))
		}
	}
}

// configValue is an option's value as the configuration holds such values.
func configValue(v any) any {
	switch x := v.(type) {
	case int:
		return int64(x)
	case []string:
		list := payload.AnyList(x)
		return list
	}
	return v
}

// expandUser replaces ~ at the beginning of a path by the home directory, ~NAME by that user's.
func expandUser(path string) string {
	if !strings.HasPrefix(path, "~") {
		return path
	}
	name, rest, _ := strings.Cut(path[1:], "/")
	home := ""
	if name == "" {
		home = os.Getenv("HOME")
	}
	if home == "" {
		home = homeOf(name)
	}
	if home == "" {
		return path
	}
	return filepath.Join(home, rest)
}

// noParse are the names that --no-parse gives.
func (s *session) noParse() []string {
	list, _ := s.opt.Get("no_parse").([]any)
	names := make([]string, 0, len(list))
	for _, n := range list {
		if name, ok := n.(string); ok {
			names = append(names, name)
		}
	}
	return names
}
