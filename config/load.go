package config

import (
	"errors"
	"os"

	"brine/wire/payload"
)

// LoadMaster reads the master configuration at path and everything it includes. A missing file means
// defaults. overrides are options of the command line: they replace the result and get no root_dir.
// An error is a *Error.
func LoadMaster(path string, overrides *payload.Map) (*Master, error) {
	return Loader{Path: path, Overrides: overrides}.Master()
}

// LoadMinion is LoadMaster for a minion. It works out the minion id and remembers a generated one in the
// file minion_id.
func LoadMinion(path string, overrides *payload.Map) (*Minion, error) {
	return Loader{Path: path, Overrides: overrides, CacheID: true}.Minion()
}

// Loader says where a configuration comes from. The zero value of each field but Path is usable.
type Loader struct {
	Path      string              // main file
	Overrides *payload.Map        // options of the command line
	Getenv    func(string) string // os.Getenv unless set
	CacheID   bool                // write a generated minion id to the file minion_id
	HostNames func() []string     // candidates for a generated id, best first; those of this host unless set
}

// Master loads a master configuration.
func (l Loader) Master() (*Master, error) { return nil, errors.ErrUnsupported }

// Minion loads a minion configuration.
func (l Loader) Minion() (*Minion, error) { return nil, errors.ErrUnsupported }

// Error is a configuration that ends the program.
type Error struct {
	File  string // file it stands in, "" when it is no file's fault
	Line  int    // from 1, 0 when unknown
	Key   string // option, "" when the file cannot be read as a whole
	Value any
	Code  int // exit code of Salt in this case
	Err   error
}

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
	return "/etc/salt"
}
