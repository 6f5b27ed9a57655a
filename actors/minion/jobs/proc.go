package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"brine/actors/minion/jobfiles"
	"brine/modules/loader"
	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

// procDir is the directory of proc entries (cachedir/proc): a file for each job that has been running for a while,
// msgpack of the job with pid first. It is for those who look there, such as a salt-call of Salt; what a later
// process has to answer for stands in the journal.
type procDir string

// entry is a job as Salt shows it in such a file, and in its lists of jobs that run.
type entry struct {
	pid int // of the process that runs the function
	job *payload.Job
}

// newEntry is the entry of a job that is about to begin, in this process for now.
func newEntry(job *payload.Job) entry {
	return entry{pid: os.Getpid(), job: payload.NewJob(loader.WithResourceFields(job.Map()))}
}

// Map is the entry as it is written: the pid, and then the fields of the job.
func (e entry) Map() *payload.Map {
	out := payload.NewMap(e.job.Map().Len()+1).Set(fieldPID, e.pid)
	out.Update(e.job.Map())
	return out
}

// Fields of an entry that are none of the job.
const (
	fieldPID   = "pid"
	procMaster = "brine_master" // in which releases before the journal named the master to answer
)

// readEntry takes an entry apart. master is the one to answer, where the entry tells.
func readEntry(load *payload.Map) (e entry, master string) {
	pid, _ := load.Int(fieldPID)
	master = load.Str(procMaster)
	load.Delete(fieldPID)
	load.Delete(procMaster)
	return entry{pid: int(pid), job: payload.NewJob(load)}, master
}

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

func (d procDir) remove(name string) error { return jobfiles.Remove(d.path(name)) }

// orphan is a job that a process before this one had begun and not answered.
type orphan struct {
	name   string // of the job in files
	master string // of the link to answer, "" when that is not known
	job    *payload.Job
	shown  bool // there is a proc entry to be removed
}

// orphans lists what proc entries tell of such jobs. Entries of jobs that still run are left alone; entries that are
// damaged are put into the folder damaged beside theirs, for Salt's tools read every file of this one.
func (d procDir) orphans(runs func(name string, pid int) bool, told func(setaside.Damage)) ([]orphan, error) {
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
		load, parseErr := payload.UnmarshalBinMap(b)
		if readErr != nil {
			err = errors.Join(err, fmt.Errorf("proc entry %s: %w", e.Name(), readErr))
			continue
		}
		if parseErr != nil {
			kept, moveErr := setaside.To(d.path(e.Name()), filepath.Join(filepath.Dir(string(d)), setaside.Folder),
				time.Now())
			told(setaside.Damage{Path: d.path(e.Name()), Kept: kept,
				Err: errors.Join(fmt.Errorf("what Salt's tools show of job %s: %w", e.Name(), parseErr), moveErr)})
			continue
		}
		found, master := readEntry(load)
		if found.pid != os.Getpid() && runs(e.Name(), found.pid) {
			continue
		}
		jobs = append(jobs, orphan{name: e.Name(), master: master, job: found.job})
	}
	return jobs, err
}

func procDirIn(cacheDir string) procDir { return procDir(filepath.Join(cacheDir, "proc")) }
