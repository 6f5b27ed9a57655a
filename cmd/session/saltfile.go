package session

import (
	"os"
	"path/filepath"

	"brine/config/yaml"
	"brine/wire/payload"
)

// readSaltfile reads options from a Saltfile: {PROG: {option: value}}. It sets those that the command line does
// not give, and they count as given. Keys that are no option are added unchanged.
func (s *Session) readSaltfile() error {
	path, err := s.saltfile()
	if path == "" || err != nil {
		return err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return s.Parser.Errorf("Error parsing configuration file: %s - %v", path, err)
	}
	doc, err := yaml.Load(raw)
	if err != nil {
		return s.Parser.Errorf("Error parsing configuration file: %s - %v", path, err)
	}
	tree, _ := doc.(*payload.Map)
	for key, value := range tree.Map(s.Prog).All() {
		if name, ok := key.(string); ok && !s.Opt.Given(name) {
			s.Opt.Set(name, value)
		}
	}
	return nil
}

// saltfile finds the Saltfile: --saltfile, SALT_SALTFILE, ./Saltfile, ~/.salt/Saltfile.
func (s *Session) saltfile() (string, error) {
	named := s.Opt.Str("saltfile")
	if named == "" {
		named = os.Getenv("SALT_SALTFILE")
	}
	if named != "" {
		if !IsFile(named) {
			return "", s.Parser.Errorf("'%s' file does not exist.", named)
		}
		return filepath.Abs(named)
	}
	for _, path := range []string{"Saltfile", expandUser("~/.salt/Saltfile")} {
		if IsFile(path) {
			return filepath.Abs(path)
		}
	}
	return "", nil
}

// IsFile tells whether path is a file, or a link to one.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
