package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"brine/cmd/options"
	"brine/cmd/tool"
)

// links makes symbolic links to this file in a directory, with the names of Salt's tools. It updates an
// existing link. It leaves any other file of that name alone and reports it.
func links(c *tool.Call) error {
	p := options.NewParser(c, "%prog DIR", "Makes the names of Salt's tools in DIR.")
	p.Usage = "brine links DIR"
	v, err := p.Parse(c.Args)
	if err != nil {
		return err
	}
	if len(v.Args) != 1 {
		return p.Errorf("one directory is wanted")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this file: %w", err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return fmt.Errorf("find this file: %w", err)
	}
	dir := v.Args[0]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	target := self
	if abs, err := filepath.Abs(dir); err == nil && abs == filepath.Dir(self) {
		target = filepath.Base(self) // the folder stays movable as a whole
	}
	for _, t := range tools() {
		if t.link {
			if err := relink(target, filepath.Join(dir, t.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// relink makes name a link to target. It replaces an existing link atomically.
func relink(target, name string) error {
	info, err := os.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s is there and is no link", name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at %s: %w", name, err)
	}
	next := name + ".new"
	if err := os.Symlink(target, next); err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	if err := os.Rename(next, name); err != nil {
		return errors.Join(fmt.Errorf("link %s: %w", name, err), os.Remove(next))
	}
	return nil
}
