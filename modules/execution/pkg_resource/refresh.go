package pkg_resource

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"brine/modules/loader"
	"brine/modules/text/dicts"
)

// mark is the file that says that the lists of packages are to be fetched before packages are installed. The first
// state of a run makes it, and whoever fetches the lists removes it.
func mark(c *loader.Call) string { return filepath.Join(c.Opts().Str("cachedir"), "pkg_refresh") }

// MarkRefresh makes the mark.
func MarkRefresh(c *loader.Call) {
	f, err := os.OpenFile(mark(c), os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o644)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		c.Log(slog.LevelWarn, "Encountered error writing rtag: "+loader.Message(err))
	}
}

// Refreshed removes the mark.
func Refreshed(c *loader.Call) {
	if err := os.Remove(mark(c)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Log(slog.LevelWarn, "Encountered error removing rtag: "+loader.Message(err))
	}
}

// WantsRefresh tells whether the lists are to be fetched: the caller says so, or the mark is there and the caller does
// not forbid it.
func WantsRefresh(c *loader.Call, refresh any) bool {
	if dicts.IsTrue(refresh) {
		return true
	}
	info, err := os.Stat(mark(c))
	return err == nil && info.Mode().IsRegular() && refresh != any(false)
}
