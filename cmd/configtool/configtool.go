// Package configtool is the tool brine config: it shows the options in force and their origins, and the
// messages about a configuration that a daemon would log at its start. It asks no daemon and changes nothing.
// Salt has no such tool.
package configtool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/cmd/daemon"
	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/modules/outputters"
	"brine/wire/payload"
)

// Run is the tool brine config.
func Run(c *tool.Call) error {
	c.Prog = "brine " + c.Prog
	p := options.NewParser(c, "%prog [options] get KEY | dump | check [FILE]",
		"Shows options as a daemon would have them, without secrets. get prints one (a part of a map as KEY:PART), "+
			"dump prints all of them. "+
			"check prints the messages of a daemon's start with this configuration, and exits with the code of the "+
			"daemon.")
	options.AddConfigDir(p)
	p.Add(
		optparse.Option{Flags: []string{"-m", "--local-minion"}, Kind: optparse.Flag, Dest: "of_local_minion",
			Help: "The configuration of the minion, not of the master."},
		optparse.Option{Flags: []string{"--origin"}, Kind: optparse.Flag, Dest: "show_origin",
			Help: "Show where each option was set: default, file and line, environment."})
	v, err := p.Parse(c.Args)
	if err != nil {
		return err
	}
	t := &configTool{Call: c, origin: v.Bool("show_origin"), minion: v.Bool("of_local_minion")}
	dir := v.Str("config_dir")
	switch words := v.Args; {
	case len(words) == 2 && words[0] == "get":
		return t.get(dir, words[1])
	case len(words) == 1 && words[0] == "dump":
		return t.dump(dir)
	case len(words) == 1 && words[0] == "check":
		return t.check(t.mainFile(dir))
	case len(words) == 2 && words[0] == "check":
		t.minion = t.minion || filepath.Base(words[1]) == "minion"
		return t.check(words[1])
	}
	return p.Errorf("one of get KEY, dump, check [FILE] is wanted")
}

// configTool shows one configuration.
type configTool struct {
	*tool.Call
	minion, origin bool
}

func (t *configTool) mainFile(dir string) string {
	if t.minion {
		return filepath.Join(dir, "minion")
	}
	return filepath.Join(dir, "master")
}

// load loads the configuration whose main file is at path. strict refuses a missing or broken file, and
// collects all faults.
func (t *configTool) load(path string, strict bool) (*session.Session, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	s := &session.Session{Call: t.Call}
	l := config.Loader{Path: path, Again: strict, All: strict}
	if t.minion {
		if s.Minion, err = l.Minion(); err != nil {
			return nil, err
		}
		s.Common = &s.Minion.Common
		return s, nil
	}
	if s.Master, err = l.Master(); err != nil {
		return nil, err
	}
	s.Common = &s.Master.Common
	return s, nil
}

// opts returns all options. To those of a master it adds salt-api's own options, with the values that salt-api
// would use.
func (t *configTool) opts(s *session.Session) *payload.Map {
	if s.Master == nil {
		return s.Common.Raw
	}
	all := payload.NewMap(s.Common.Raw.Len() + 3)
	all.Update(s.Common.Raw)
	all.Update(s.Master.NetapiOwn())
	return all
}

// get prints one option, or a part of one.
func (t *configTool) get(dir, path string) error {
	s, err := t.load(t.mainFile(dir), false)
	if err != nil {
		return err
	}
	key, all := path, t.opts(s)
	v, ok := all.Get(key)
	var parts []string
	if !ok {
		parts = strings.Split(path, ":")
		key, parts = parts[0], parts[1:]
		v, ok = all.Get(key)
	}
	v = config.Redacted(payload.M(key, v)).Value(key)
	for _, part := range parts {
		m, isMap := v.(*payload.Map)
		if v, ok = m.Get(part); !isMap || !ok {
			ok = false
			break
		}
	}
	if !ok {
		return tool.Exit(tool.ExitGeneric, "%s", t.missing(path, key, all.Has(key)))
	}
	text := plain(v)
	if t.origin {
		text = "# " + s.Common.Origin(key).String() + "\n" + text
	}
	_, err = fmt.Fprint(t.Stdout, text)
	return err
}

// missing says why there is no value at a path. there tells whether the option itself exists.
func (t *configTool) missing(path, key string, there bool) string {
	role := "master"
	if t.minion {
		role = "minion"
	}
	switch known, ours := config.Known(key, role); {
	case there:
	case known && ours:
		return fmt.Sprintf("Option '%s' is not set, and has no default.", key)
	case known:
		return fmt.Sprintf("Option '%s' is none of a %s's.", key, role)
	default:
		if like := config.Resembling(key); like != "" {
			return fmt.Sprintf("There is no option '%s' here. Did you mean '%s'?", path, like)
		}
	}
	return fmt.Sprintf("There is no option '%s' here.", path)
}

// plain writes a value as in a file, without YAML's end-of-document line. A text stays as it is, for scripts.
func plain(v any) string {
	if text, ok := v.(string); ok {
		return text + "\n"
	}
	return strings.TrimSuffix(outputters.DumpYAML(v, outputters.FlowNever, 0), "...\n")
}

// dump prints all options: first those in Salt's table, in its order, then others in the order of the files.
func (t *configTool) dump(dir string) error {
	s, err := t.load(t.mainFile(dir), false)
	if err != nil {
		return err
	}
	var b strings.Builder
	for k, v := range config.Redacted(t.opts(s)).All() {
		key, _ := k.(string)
		if strings.HasPrefix(key, "__") {
			continue
		}
		if t.origin {
			b.WriteString("# " + s.Common.Origin(key).String() + "\n")
		}
		b.WriteString(plain(payload.M(k, v)))
	}
	_, err = fmt.Fprint(t.Stdout, b.String())
	return err
}

// check prints the messages of a daemon's start with this configuration. It returns all errors that would end
// the daemon, where the daemon itself stops at the first.
func (t *configTool) check(path string) error {
	if _, err := os.Stat(path); err != nil {
		return tool.Exit(tool.ExitGeneric, "There is no file %s.", path)
	}
	s, err := t.load(path, true)
	if err != nil {
		return err
	}
	faults := s.Common.Faults
	var standing config.Faults
	if err := daemon.CheckStanding(s); err != nil && !errors.As(err, &standing) {
		return err
	}
	faults = append(faults, standing...)
	notices, err := netapiSays(s)
	var fault *config.Error
	if errors.As(err, &fault) {
		faults = append(faults, fault)
	} else if err != nil {
		return err
	}
	if s.Master != nil {
		more, said := rehearse(s.Master)
		faults, notices = append(faults, more...), append(notices, said...)
	}
	said := 0
	for _, n := range slices.Concat(s.Common.Notices, s.Unhonoured, notices) {
		if n.Level >= slog.LevelWarn {
			said++
			fmt.Fprintln(t.Stdout, n.Text)
		}
	}
	if len(faults) == 0 && said == 0 {
		fmt.Fprintf(t.Stdout, "%s: no fault was found\n", path)
	}
	return faults.Err()
}

// netapiSays returns salt-api's messages about its sections in a master's file.
func netapiSays(s *session.Session) ([]config.Notice, error) {
	if s.Master == nil {
		return nil, nil
	}
	conf, err := s.Master.NetapiOptions()
	if err != nil {
		return nil, err
	}
	return conf.Notices, nil
}
