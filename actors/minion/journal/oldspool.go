package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/actors/minion/jobfiles"
	"brine/wire/payload"
)

// TakeSpool puts the returns into the journal that releases before the journal kept as files: spool/MASTER/KEY.p in
// cachedir. What cannot be read stays where it is.
func TakeSpool(to *File, dir string, now time.Time) error {
	masters, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, d := range masters {
		if d.IsDir() {
			err = errors.Join(err, takeReturns(to, filepath.Join(dir, d.Name()), d.Name(), now))
		}
	}
	return errors.Join(err, removeEmpty(dir))
}

// takeReturns takes those for one master, oldest first. A file goes when the journal has what is in it.
func takeReturns(to *File, dir, master string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return modified(a).Compare(modified(b)) })
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasSuffix(e.Name(), jobfiles.TempSuffix) { // a death in the middle of a write
			err = errors.Join(err, jobfiles.Remove(path))
		}
		key, ok := strings.CutSuffix(e.Name(), ".p")
		if !ok {
			continue
		}
		body, readErr := os.ReadFile(path)
		if readErr == nil {
			_, readErr = payload.UnmarshalBinMap(body)
		}
		if readErr == nil {
			readErr = to.Write(now, Record{Kind: Returned, Key: key, Link: master, Body: body})
		}
		if readErr == nil {
			readErr = jobfiles.Remove(path)
		}
		if readErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", path, readErr))
		}
	}
	return errors.Join(err, removeEmpty(dir))
}

func modified(e os.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// removeEmpty removes a directory in which nothing is left.
func removeEmpty(dir string) error {
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		return err
	}
	return os.Remove(dir)
}
