// Package session opens a tool: it reads the command line, the Saltfile and the configuration, changes to the
// configured user and opens the log. The tool itself does the rest. It answers to salt/utils/parsers.py.
package session

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/cmd/optparse"
	"brine/cmd/tool"
	"brine/config"
	"brine/wire/payload"
)

// Session is a tool with its command line read, its configuration loaded and its log open.
type Session struct {
	*tool.Call
	Parser *optparse.Parser
	Opt    *optparse.Values
	Common *config.Common
	Master *config.Master // for tools that read the master's configuration
	Client *config.Client // for tools that talk to the master: master's configuration with the user's personal file
	Minion *config.Minion // for tools that read the minion's configuration
	Log    *slog.Logger
	Memory int64 // memory limit of a daemon's control group in bytes; 0: none

	Unhonoured []config.Notice // options that a daemon does not honour

	loaded loaded // arguments with which the configuration was loaded, for LoadAgain
	levels levels // levels of the log
}

// Role names the configuration that a tool reads.
type Role int

const (
	RoleMaster Role = iota
	RoleMinion
	RoleClient // the master's, overridden by the user's personal file
	RoleCaller // the minion's; a broken included file is skipped
)

// Opening tells how a tool opens its session.
type Opening struct {
	Role     Role
	LogFile  string // configuration key of the log file; "" is log_file
	Daemon   bool   // with -d there is no log on the console
	Unlogged bool   // no log file unless the command line names one
	// Dir, if set, corrects the configuration directory before its use.
	Dir func(*optparse.Values) error
	// Adjust, if set, turns options into overrides of the configuration.
	Adjust func(v *optparse.Values, over *payload.Map) error
	// Check, if set, checks the options after the configuration is loaded and before any file is touched.
	Check func(*Session) error
}

// Open reads the command line, the Saltfile and the configuration, and opens log and output file, in Salt's
// order.
func Open(c *tool.Call, p *optparse.Parser, o Opening) (*Session, error) {
	s := &Session{Call: c, Parser: p}
	if err := s.ReadWords(); err != nil {
		return nil, err
	}
	c.WatchSignals()
	if err := s.readSaltfile(); err != nil {
		return nil, err
	}
	if o.Dir != nil {
		if err := o.Dir(s.Opt); err != nil {
			return nil, err
		}
	}
	if err := s.readConfig(o); err != nil {
		return nil, err
	}
	if o.Check != nil {
		if err := o.Check(s); err != nil {
			return nil, err
		}
	}
	if err := s.emptyOutputFile(); err != nil {
		return nil, err
	}
	return s, s.openLogs(o)
}

// ReadWords reads the command line and, with --args-stdin, further arguments from stdin.
func (s *Session) ReadWords() (err error) {
	if s.Opt, err = s.Parser.Parse(s.Args); err != nil {
		return err
	}
	if s.Opt.Bool("args_stdin") {
		var words []string
		in := bufio.NewScanner(s.Stdin)
		in.Buffer(nil, 64<<20)
		for in.Scan() {
			words = append(words, in.Text())
		}
		if err := in.Err(); err != nil {
			return fmt.Errorf("read words from stdin: %w", err)
		}
		if err := s.Parser.ParseMore(s.Opt, words); err != nil {
			return err
		}
	}
	if s.Opt.Bool("versions_report") {
		return &optparse.Answered{Text: tool.VersionsReport()}
	}
	if text, ok := s.Opt.Get("no_parse").(string); ok {
		var names []any
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		s.Opt.Default("no_parse", names)
	}
	return nil
}

// readConfig finds the configuration directory and loads the file of the role, overridden by the command line.
func (s *Session) readConfig(o Opening) error {
	dir := expandUser(s.Opt.Str("config_dir"))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		fmt.Fprintf(s.Stderr, "WARNING: CONFIG '%s' directory does not exist.\n", dir)
		// Unlike Salt: its daemons go on with defaults, so that after a typing error in the name a master
		// listens on every interface.
		if o.Daemon && (s.Opt.Given("config_dir") || os.Getenv("SALT_CONFIG_DIR") != "") {
			return tool.Exit(tool.ExitUsage, "[ERROR   ] Nothing is started: a daemon works with its defaults only "+
				"where the directory was not named.")
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find the configuration directory: %w", err)
	}
	s.Opt.Default("config_dir", dir)
	over := payload.NewMap(0)
	for dest, value := range s.Opt.All() {
		if s.Opt.Given(dest) {
			over.Set(dest, configValue(value))
		}
	}
	if o.Adjust != nil {
		if err := o.Adjust(s.Opt, over); err != nil {
			return err
		}
	}
	if err := s.LoadRole(o.Role, dir, over); err != nil {
		return err
	}
	_, err = os.Stat(s.Common.ConfFile)
	s.loaded = loaded{o.Role, dir, over, err == nil}
	s.merge()
	s.tellLog()
	return nil
}

// tellLog fills in log options that take their value from another option, so that templates see them.
func (s *Session) tellLog() {
	raw := s.Common.Raw
	if raw.Value("log_datefmt_console") == nil {
		raw.Set("log_datefmt_console", raw.Value("log_datefmt"))
	}
	if raw.Value("log_level_logfile") == nil {
		raw.Set("log_level_logfile", raw.Value("log_level"))
	}
}

// LoadRole loads the file of a role from dir. The option __cli tells templates the program's name.
func (s *Session) LoadRole(r Role, dir string, over *payload.Map) error {
	err := s.loadRole(r, dir, over)
	if err == nil {
		s.Common.Raw.Set("__cli", s.Prog)
	}
	return err
}

func (s *Session) loadRole(r Role, dir string, over *payload.Map) (err error) {
	switch r {
	case RoleMinion:
		if s.Minion, err = config.LoadMinion(filepath.Join(dir, "minion"), over); err == nil {
			s.Common = &s.Minion.Common
		}
		return err
	case RoleCaller:
		load := config.Loader{Path: filepath.Join(dir, "minion"), Overrides: over, CacheID: true}
		if s.Minion, err = load.Minion(); err == nil {
			s.Common = &s.Minion.Common
		}
		return err
	case RoleClient:
		if s.Client, err = config.LoadClient(filepath.Join(dir, "master"), over); err == nil {
			s.Master = &s.Client.Master
		}
	default:
		s.Master, err = config.LoadMaster(filepath.Join(dir, "master"), over)
	}
	if err == nil {
		s.Common = &s.Master.Common
	}
	return err
}

// merge adjusts options and configuration to each other. An option that was not given takes the configuration's
// value. If the configuration has none, the option's default goes into the configuration.
func (s *Session) merge() {
	for dest, value := range s.Opt.All() {
		conf, known := s.Common.Raw.Get(dest)
		switch {
		case s.Opt.Given(dest):
			s.Common.Raw.Set(dest, configValue(value))
		case known && conf != nil:
			s.Opt.Default(dest, conf)
		case value != nil:
			s.Common.Raw.Set(dest, configValue(value))
		}
	}
}

// TellCall adds the function of the command line to the options, for the templates that it renders. Source:
// salt/utils/parsers.py.
func (s *Session) TellCall() {
	if len(s.Opt.Args) > 0 {
		s.Common.Raw.Set("fun", s.Opt.Args[0]).Set("arg", payload.AnyList(s.Opt.Args[1:]))
	}
	s.Common.Raw.Set("selected_output_option", "state_output") // the last of Salt's output options that has a value
}

// configValue converts an option's value to the types of a configuration.
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

// expandUser replaces ~ at the beginning of a path by the home directory, and ~NAME by that of user NAME.
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

// NoParse returns the names in --no-parse.
func (s *Session) NoParse() []string {
	list, _ := s.Opt.Get("no_parse").([]any)
	names := make([]string, 0, len(list))
	for _, n := range list {
		if name, ok := n.(string); ok {
			names = append(names, name)
		}
	}
	return names
}
