package config

import (
	"fmt"
	"os"
	"path/filepath"

	"brine/wire/payload"
)

// LoadMaster reads the master configuration at path and everything it includes. A missing file means
// defaults. overrides are options of the command line: they replace the result and get no root_dir.
// An error is a *Error.
func LoadMaster(path string, overrides *payload.Map) (*Master, error) {
	return Loader{Path: path, Overrides: overrides}.Master()
}

// LoadMinion is LoadMaster for a minion. It works out the minion id and remembers a generated one in the
// file minion_id. A broken included file is an error, as for Salt's minion daemon.
func LoadMinion(path string, overrides *payload.Map) (*Minion, error) {
	return Loader{Path: path, Overrides: overrides, CacheID: true, StrictIncludes: true}.Minion()
}

// Loader says where a configuration comes from. The zero value of each field but Path is usable.
type Loader struct {
	Path           string              // main file
	Overrides      *payload.Map        // options of the command line
	Getenv         func(string) string // os.Getenv unless set
	Environ        func() []string     // os.Environ unless set: options such as BRINE_MASTER__LOG_LEVEL
	CacheID        bool                // write a generated minion id to the file minion_id
	StrictIncludes bool                // a broken included file is an error; otherwise it is left out with a notice
	// for a daemon that runs: the main file must be there, every broken file is an error, none is put aside
	Again     bool
	All       bool            // go on after a fault: Common.Faults holds them all
	HostNames func() []string // candidates for a generated id, best first; those of this host unless set
}

// Error is a configuration that ends the program.
type Error struct {
	File  string // file it stands in, "" when it is no file's fault
	Line  int    // from 1, 0 when unknown
	Key   string // option, "" when the file cannot be read as a whole
	Value any
	Code  int // exit code of Salt in this case
	Err   error
}

// Exit codes of a configuration that cannot be used, Salt's but for ExitNotYet.
const (
	ExitGeneric = 1  // a file is no YAML or no mapping
	ExitUsage   = 64 // an option has a value that the program cannot start with
	ExitNoUser  = 67 // the configured user does not exist
	ExitNotYet  = 78 // an option that somebody relies on is not honoured (EX_CONFIG of sysexits.h)
)

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// DefaultDir is the configuration directory: flag when it is not empty, else SALT_CONFIG_DIR, else /etc/salt.
func DefaultDir(flag string) string {
	if flag != "" {
		return flag
	}
	if dir := os.Getenv("SALT_CONFIG_DIR"); dir != "" {
		return dir
	}
	return defaultDir
}

const defaultDir = "/etc/salt"

// Master loads a master configuration. An error is a *Error.
func (l Loader) Master() (*Master, error) {
	opts, file, err := l.load(roleMaster, (*loading).applyMaster)
	if err != nil {
		return nil, err
	}
	m := &Master{}
	if err := file.decode(opts, m); err != nil {
		return nil, err
	}
	file.fill(&m.Common, opts)
	return m, nil
}

// Minion loads a minion configuration. An error is a *Error.
func (l Loader) Minion() (*Minion, error) {
	opts, file, err := l.load(roleMinion, (*loading).applyMinion)
	if err != nil {
		return nil, err
	}
	m := &Minion{IDFromAddress: file.idFromAddress}
	if err := file.decode(opts, m); err != nil {
		return nil, err
	}
	if m.Masters, err = file.masters(opts, m.MasterPort); file.fault(err) != nil {
		return nil, err
	}
	file.fill(&m.Common, opts)
	return m, nil
}

// loading is one configuration on its way into a struct.
type loading struct {
	Loader
	role          string
	main          string       // path of the main file that was read or looked for
	standard      *payload.Map // the defaults, before anything was read
	layers        *layers
	folders       []string     // where files of this configuration may be
	links         []string     // symbolic links on the way there
	opts          *payload.Map // what will be decoded, once the files were read
	written       *payload.Map // what files and environment say
	faults        Faults       // with All
	notices       []Notice
	warned        map[string]bool // options whose type Salt complains about
	idFromAddress bool
}

// load reads the files of a role, lays them over the defaults and applies Salt's corrections.
func (l Loader) load(role string, apply func(*loading, *payload.Map) error) (*payload.Map, *loading, error) {
	if l.Getenv == nil {
		l.Getenv = os.Getenv
	}
	standard, err := defaults(role)
	if err != nil {
		return nil, nil, &Error{Code: ExitGeneric, Err: err}
	}
	beneath := standard.Clone()
	beneath.Set("__role", role)
	ld := &loading{Loader: l, role: role, standard: standard, layers: newLayers(beneath), warned: map[string]bool{}}
	env, err := ld.environment()
	if err != nil {
		return nil, nil, err
	}
	if err := ld.readFiles(env); err != nil {
		return nil, nil, err
	}
	ld.layers.layEnvironment(env)
	if err := ld.adjustLogFile(); err != nil {
		return nil, nil, err
	}
	opts := ld.layers.options()
	opts.Set("conf_file", ld.main)
	ld.opts = opts
	if err := apply(ld, opts); err != nil {
		return nil, nil, err
	}
	if err := ld.validate(opts); err != nil {
		return nil, nil, err
	}
	ld.checkLevels()
	if err := ld.checkSpans(opts); err != nil {
		return nil, nil, err
	}
	ld.written = ld.layers.asWritten()
	ld.layers.layCommandLine(l.Overrides)
	for key := range l.Overrides.All() {
		opts.Set(key, ld.layers.value(key))
	}
	return opts, ld, nil
}

// fill sets what Common holds besides options.
func (ld *loading) fill(c *Common, opts *payload.Map) {
	c.Raw, c.File, c.origins, c.Notices = opts, ld.written, ld.layers.origins(), ld.notices
	c.folders, c.links = ld.folders, ld.links
	c.ConfigDir, c.Faults = filepath.Dir(ld.main), ld.faults
}

// bad makes an error about the value of an option. text is the whole message.
func (ld *loading) bad(key string, value any, format string, args ...any) *Error {
	o := ld.layers.origin(key)
	err := fmt.Errorf(format, args...)
	if o.Layer != LayerDefault {
		err = fmt.Errorf("%w (%s)", err, o)
	}
	return &Error{File: o.File, Line: o.Line, Key: key, Value: value, Code: ExitUsage, Err: err}
}
