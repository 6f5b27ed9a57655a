package minion

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"brine/wire/payload"
)

// procDir is the directory of proc entries: one file per job that has begun and is not answered yet
// (cachedir/proc, msgpack of the job with pid first).
type procDir string

// write makes the entry of a job. It returns the map as Salt shows it.
func (d procDir) write(load *payload.Map) (*payload.Map, error) {
	entry := payload.M("pid", int64(os.Getpid()))
	entry.Update(load)
	b, err := payload.MarshalBin(entry)
	if err != nil {
		return entry, fmt.Errorf("proc entry: %w", err)
	}
	path := d.path(load.Str("jid"))
	err = os.WriteFile(path, b, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(string(d), 0o755); err == nil {
			err = os.WriteFile(path, b, 0o644)
		}
	}
	if err != nil {
		return entry, fmt.Errorf("proc entry: %w", err)
	}
	return entry, nil
}

func (d procDir) path(jid string) string { return filepath.Join(string(d), safeName(jid)) }

func (d procDir) remove(jid string) error { return removeIfThere(d.path(jid)) }

// orphans are the jobs that processes before this one had begun and not answered. Entries of processes that
// still live are left alone; entries that cannot be read are removed, as Salt does.
func (d procDir) orphans(alive func(pid int) bool) ([]*payload.Map, error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var jobs []*payload.Map
	for _, e := range entries {
		path := filepath.Join(string(d), e.Name())
		b, readErr := os.ReadFile(path)
		job, parseErr := payload.UnmarshalBinMap(b)
		if readErr != nil || parseErr != nil {
			err = errors.Join(err, removeIfThere(path))
			continue
		}
		pid, _ := job.Int("pid")
		if pid != int64(os.Getpid()) && alive(int(pid)) {
			continue
		}
		job.Delete("pid")
		jobs = append(jobs, job)
	}
	return jobs, err
}
