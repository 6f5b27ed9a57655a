package saltutil

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/config"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

func cacheFunctions() []loader.Func {
	return []loader.Func{
		loader.Fn("clear_cache", clearCache, "Remove all files of the minion's cache directory.",
			"saltutil.clear_cache"),
		loader.Fn("clear_job_cache", clearJobCache, "Remove cached returns of jobs older than a number of hours.",
			"saltutil.clear_job_cache hours=12"),
		loader.Fn("list_extmods", listExtmods, "List the modules that were brought from the file server.",
			"saltutil.list_extmods"),
		loader.Fn("regen_keys", regenKeys,
			"Delete the minion's keys. It makes new ones when it starts again, which the master must accept.",
			"saltutil.regen_keys"),
		loader.Fn("update", update, "Not offered: updates of a frozen build of the reference.", "saltutil.update"),
	}
}

// clearCache removes files. Unlike Salt: jobs that wait, returns that the master does not have yet, and what is known
// of jobs that were taken stay.
func clearCache(c *loader.Call, _ struct{}) (bool, error) {
	root := c.Opts().Str("cachedir")
	queues, journal := filepath.Join(root, config.JobQueues), filepath.Join(root, config.JobsJournal)
	past := filepath.Join(root, config.JobsPast)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case path == queues && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil || d.IsDir(): // a directory that went away or cannot be read holds nothing to remove
			return nil
		case path == past: // a recorded publication would be run again
			return nil
		case strings.HasPrefix(path, journal): // and what is beside it, of a rewrite or a repair
			return nil
		}
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		c.Log(slog.LevelError, fmt.Sprintf("Attempt to clear cache with saltutil.clear_cache FAILED with: %s", err))
		return false, nil
	}
	return true, nil
}

// aged is an age of returns.
type aged struct {
	Hours any `arg:"hours=24"`
}

func clearJobCache(c *loader.Call, a aged) (any, error) {
	hours, ok := python.Number(a.Hours)
	if !ok {
		return nil, &loader.ArgumentError{Message: "unsupported operand type(s) for -: 'float' and '" +
			python.Type(a.Hours) + "'"}
	}
	oldest := time.Now().Add(-time.Duration(hours * float64(time.Hour)))
	root := filepath.Join(c.Opts().Str("cachedir"), "minion_jobs")
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !info.ModTime().Before(oldest) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(root, e.Name())); err != nil {
			c.Log(slog.LevelError,
				fmt.Sprintf("Attempt to clear cache with saltutil.clear_job_cache FAILED with: %s", err))
			return false, nil
		}
	}
	return true, nil
}

func listExtmods(c *loader.Call, _ struct{}) (*payload.Map, error) {
	root := filepath.Join(c.Opts().Str("cachedir"), "extmods")
	entries, _ := os.ReadDir(root)
	out := payload.NewMap(len(entries))
	for _, e := range entries {
		names := []any{}
		_ = filepath.WalkDir(filepath.Join(root, e.Name()), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				name, _, _ := strings.Cut(d.Name(), ".")
				if !slices.Contains(names, any(name)) {
					names = append(names, name)
				}
			}
			return nil
		})
		out.Set(e.Name(), names)
	}
	return out, nil
}

func regenKeys(c *loader.Call, _ struct{}) (any, error) {
	dir := c.Opts().Str("pki_dir")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, loader.Raise("FileNotFoundError", "[Errno 2] No such file or directory: '%s'", dir)
	}
	for _, e := range entries {
		if !e.IsDir() {
			_ = os.Remove(filepath.Join(dir, e.Name())) // what cannot be removed stays, as in the reference
		}
	}
	return nil, nil
}

// release is a version to update to.
type release struct {
	Version any `arg:"version=None"`
}

func update(*loader.Call, release) (*payload.Map, error) {
	return payload.M("_error", "Esky not available as import"), nil
}
