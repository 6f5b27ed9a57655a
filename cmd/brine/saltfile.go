package main

import (
	"os"
	"path/filepath"

	"brine/config/yaml"
	"brine/wire/payload"
)

// readSaltfile gives options that the command line left alone the values a Saltfile holds for this program:
// {PROG: {option: value}}. They count as given. Keys that are no option are added as they are.
func (s *session) readSaltfile() error {
	path, err := s.saltfile()
	if path == "" || err != nil {
		return err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return s.parser.Errorf("Error parsing configuration file: %s - %v", path, err)
	}
	doc, err := yaml.Load(raw)
	if err != nil {
		return s.parser.Errorf("Error parsing configuration file: %s - %v", path, err)
	}
	tree, _ := doc.(*payload.Map)
	for key, value := range tree.Map(s.prog).All() {
		if name, ok := key.(string); ok && !s.opt.Given(name) {
			s.opt.Set(name, value)
		}
	}
	return nil
}

// saltfile finds the Saltfile: --saltfile, SALT_SALTFILE, ./Saltfile, ~/.salt/Saltfile.
func (s *session) saltfile() (string, error) {
	named := s.opt.Str("saltfile")
	if named == "" {
		named = os.Getenv("SALT_SALTFILE")
	}
	if named != "" {
		if !isFile(named) {
			return "", s.parser.Errorf("'%s' file does not exist.", named)
		}
		return filepath.Abs(named)
	}
	for _, path := range []string{"Saltfile", expandUser("~/.salt/Saltfile")} {
		if isFile(path) {
			return filepath.Abs(path)
		}
	}
	return "", nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
