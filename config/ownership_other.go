//go:build !linux

package config

import (
	"io/fs"
	"os"
)

func openOwn(path string) (*os.File, error) { return os.Open(path) }

// Give gives a file or directory to a user, -1 for what is to stay; a symbolic link itself.
func Give(path string, uid, gid int) error { return os.Lchown(path, uid, gid) }

func giveOpened(f *os.File, uid, gid int) error { return f.Chown(uid, gid) }

func setMode(path string, mode fs.FileMode) error { return os.Chmod(path, mode) }

func asPath(f *os.File) string { return f.Name() }
