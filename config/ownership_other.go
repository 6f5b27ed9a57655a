//go:build !linux

package config

import (
	"io/fs"
	"os"
)

func openOwn(path string) (*os.File, error) { return os.Open(path) }

// Give changes the owner of a file or directory, or of a symbolic link itself; -1 leaves the user or group.
func Give(path string, uid, gid int) error { return os.Lchown(path, uid, gid) }

func giveOpened(f *os.File, uid, gid int) error { return f.Chown(uid, gid) }

func setMode(path string, mode fs.FileMode) error { return os.Chmod(path, mode) }

func asPath(f *os.File) string { return f.Name() }
