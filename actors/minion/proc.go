package minion

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"brine/modules"
	"brine/wire/payload"
)

// procDir is the directory of proc entries (cachedir/proc): a file for each job that has been running for a while,
// msgpack of the job with pid first. It is for those who look there, such as a salt-call of Salt; what a later
// process has to answer for stands in the journal.
type procDir string

// procEntry is a job as Salt shows it.
func procEntry(load *payload.Map) *payload.Map {
	entry := payload.M("pid", int64(os.Getpid()))
	entry.Update(modules.WithResourceFields(load))
	return entry
}

// procMaster is the field in which releases before the journal named the master to answer.
const procMaster = "brine_master"

// write makes the entry of a job.
func (d procDir) write(name string, entry []byte) error {
	path := d.path(name)
	err := os.WriteFile(path, entry, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(string(d), 0o700); err == nil {
			err = os.WriteFile(path, entry, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("proc entry: %w", err)
	}
	return nil
}

func (d procDir) path(name string) string { return filepath.Join(string(d), name) }

func (d procDir) remove(name string) error { return removeIfThere(d.path(name)) }

// orphan is a job that a process before this one had begun and not answered.
type orphan struct {
	name   string // of the job in files
	master string // of the link to answer, "" when that is not known
	load   *payload.Map
	shown  bool // there is a proc entry to be removed
}

// orphans lists what proc entries tell of such jobs. Entries of jobs that still run are left alone; entries that
// cannot be read are removed, as Salt does.
func (d procDir) orphans(runs func(name string, pid int) bool) ([]orphan, error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var jobs []orphan
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, readErr := os.ReadFile(d.path(e.Name()))
		job, parseErr := payload.UnmarshalBinMap(b)
		if bad := errors.Join(readErr, parseErr); bad != nil {
			err = errors.Join(err, fmt.Errorf("proc entry %s: %w", e.Name(), bad), d.remove(e.Name()))
			continue
		}
		pid, _ := job.Int("pid")
		if pid != int64(os.Getpid()) && runs(e.Name(), int(pid)) {
			continue
		}
		master := job.Str(procMaster)
		job.Delete("pid")
		job.Delete(procMaster)
		jobs = append(jobs, orphan{name: e.Name(), master: master, load: job})
	}
	return jobs, err
}
