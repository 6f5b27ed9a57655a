package config

import (
	"fmt"
	"os"
	"path/filepath"

	"brine/wire/payload"
)

// LoadMaster reads the master configuration at path and everything that it includes. For a missing file it returns
// defaults. overrides are options of the command line: they replace the result and get no root_dir. An error is a
// *Error.
func LoadMaster(path string, overrides *payload.Map) (*Master, error) {
	return Loader{Path: path, Overrides: overrides}.Master()
}

// LoadMinion is LoadMaster for a minion. It determines the minion id, and stores a generated one in the file minion_id.
// A broken included file is an error, as for Salt's minion daemon.
func LoadMinion(path string, overrides *payload.Map) (*Minion, error) {
	return Loader{Path: path, Overrides: overrides, CacheID: true, StrictIncludes: true}.Minion()
}

// Loader says where a configuration comes from. Every field but Path has a usable zero value.
type Loader struct {
	Path           string              // main file
	Overrides      *payload.Map        // options of the command line
	Getenv         func(string) string // default: os.Getenv
	Environ        func() []string     // default: os.Environ; for options such as BRINE_MASTER__LOG_LEVEL
	CacheID        bool                // write a generated minion id to the file minion_id
	StrictIncludes bool                // a broken included file is an error; otherwise it is skipped with a notice
	// for a running daemon: the main file must exist, every broken file is an error, and none is renamed
	Again     bool
	All       bool            // continue after a fault: Common.Faults holds all of them
	HostNames func() []string // candidates for a generated id, best first; default: the names of this host
}

// Error is an error in the configuration that ends the program.
type Error struct {
	File  string // the file with the error, "" if no file is at fault
	Line  int    // from 1, 0 if unknown
	Key   string // option, "" if the file cannot be read at all
	Value any
	Code  int // Salt's exit code in this case
	Err   error
}

// Exit codes for an unusable configuration. They are Salt's, except ExitNotYet.
const (
	ExitGeneric = 1  // a file is not YAML or not a mapping
	ExitUsage   = 64 // an option has a value with which the program cannot start
	ExitNoUser  = 67 // the configured user does not exist
	ExitNotYet  = 78 // an option that an operator may rely on is not supported (EX_CONFIG of sysexits.h)
)

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// DefaultDir is the configuration directory: flag if it is not empty, else SALT_CONFIG_DIR, else /etc/salt.
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

// loading is the state of loading one configuration.
type loading struct {
	Loader
	role          string
	main          string       // path of the main file that was read or is missing
	standard      *payload.Map // the defaults, before anything is read
	layers        *layers
	folders       []string     // directories where files of this configuration may be
	links         []string     // symbolic links on the way to them
	opts          *payload.Map // the options to decode, after the files were read
	written       *payload.Map // the options of files and environment
	faults        Faults       // if All is set
	notices       []Notice
	warned        map[string]bool // options whose type Salt warns about
	idFromAddress bool
}

// load reads the files of a role, applies them over the defaults, and makes Salt's corrections.
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
	ld.checkMetrics()
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

// fill sets the fields of Common that are not options.
func (ld *loading) fill(c *Common, opts *payload.Map) {
	c.Raw, c.File, c.origins, c.Notices = opts, ld.written, ld.layers.origins(), ld.notices
	c.folders, c.links = ld.folders, ld.links
	c.ConfigDir, c.Faults = filepath.Dir(ld.main), ld.faults
}

// bad makes an error about the value of an option. format gives the whole message.
func (ld *loading) bad(key string, value any, format string, args ...any) *Error {
	o := ld.layers.origin(key)
	err := fmt.Errorf(format, args...)
	if o.Layer != LayerDefault {
		err = fmt.Errorf("%w (%s)", err, o)
	}
	return &Error{File: o.File, Line: o.Line, Key: key, Value: value, Code: ExitUsage, Err: err}
}
