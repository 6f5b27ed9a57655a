package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"brine/actors/minion/jobfiles"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/actors/minion/returns"
	"brine/config"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
)

// RememberOptions say where the process before this one has left what.
type RememberOptions struct {
	CacheDir string
	Keep     time.Duration // minion_jid_queue_age: for so long jids are remembered
	Sync     bool          // journal_fsync
	Patience time.Duration // for a journal that another process has; 0: as long as usual
	Links    []*link.Link
	Diary    *ledger.Diary
	Calm     func() bool // whether the clock may be believed
	Clock    supervisor.Clock
	Log      *slog.Logger
}

// Memory is what the process before this one has left.
type Memory struct {
	File *journal.File // nil: it cannot be opened
	Past *journal.Past
	lost []orphan        // jobs that had begun and have no return
	keys map[string]bool // of all jobs that had begun, with and without a return
}

// Orphans is how many jobs ran when the process before this one ended.
func (m *Memory) Orphans() int { return len(m.lost) }

// Remember reads the journal and the files that tell of jobs beside it. Jobs with nothing but a proc entry are those of
// a minion of Salt, or of one that could not write its journal.
func Remember(m RememberOptions) Memory {
	mem := Memory{keys: map[string]bool{}}
	past, err := journal.OpenPast(filepath.Join(m.CacheDir, config.JobsPast), m.Keep,
		m.Sync, m.Clock.Now(),
		m.Calm)
	if err != nil {
		m.Log.Error("it is not known of all jobs that they were taken", "err", err)
	}
	mem.Past = past
	for _, l := range m.Links {
		l.KnowSerials(past.SerialNow())
	}
	file, err := journal.Open(filepath.Join(m.CacheDir, config.JobsJournal), m.Patience, m.Log)
	if err != nil && file != nil {
		m.Log.Error(journal.TextDamaged, "err", err)
	} else if err != nil {
		m.Log.Error("the journal of jobs and returns", "err", err)
	}
	mem.File = file
	if file != nil {
		if err := journal.TakeSpool(file, filepath.Join(m.CacheDir, "spool"), m.Clock.Now()); err != nil {
			m.Log.Error("returns that an earlier release has kept", "err", err)
		}
		recall(&mem, m.Diary, m.Clock, m.Log)
	}
	proc := procDirIn(m.CacheDir)
	shown, err := proc.orphans(func(name string, pid int) bool {
		return !mem.keys[name] && alive(pid)
	}, jobfiles.TellDamage(m.Log))
	for _, o := range shown {
		if mem.keys[o.name] {
			err = errors.Join(err, proc.remove(o.name))
			continue
		}
		o.shown, mem.keys[o.name] = true, true
		mem.lost = append(mem.lost, o)
	}
	if err != nil {
		m.Log.Error("proc entries cannot be read", "err", err)
	}
	return mem
}

// RecallLate answers for the jobs of a journal that could not be opened at the start, but for those that are known from
// their proc entries. Only the first journal counts.
func (m *Jobs) RecallLate(file *journal.File) {
	if m.opt.Left.File != nil || m.recalled.Swap(true) {
		return
	}
	late := Memory{File: file, keys: map[string]bool{}}
	recall(&late, m.opt.Diary, m.opt.Clock, m.opt.Log)
	m.answerFor(slices.DeleteFunc(late.lost, func(o orphan) bool { return m.opt.Left.keys[o.name] }))
}

// recall lists the jobs of the journal.
func recall(mem *Memory, diary *ledger.Diary, clock supervisor.Clock, log *slog.Logger) {
	for _, e := range mem.File.List(journal.Returned, "") {
		mem.keys[e.Key] = true
	}
	for _, e := range mem.File.List(journal.Begun, "") {
		mem.keys[e.Key] = true
		load, err := mem.File.Load(e.Key)
		if err == nil {
			returns.Restore(diary, e.Key, load)
			load.Delete(ledger.Field)
			begun, _ := readEntry(load)
			mem.lost = append(mem.lost, orphan{name: e.Key, master: e.Link, job: begun.job})
			continue
		}
		if errors.Is(err, journal.ErrUnreadable) {
			err = errors.Join(err, mem.File.Write(clock.Now(), journal.Record{Kind: journal.Gone, Key: e.Key}))
		}
		log.Error("a job that had begun is not known any more", "job", e.Key, "err", err)
	}
}

// answerFor answers for the jobs that were lost, each to the master that asked.
func (m *Jobs) answerFor(lost []orphan) {
	for _, o := range lost {
		m.dispatcher.Send(&lostJob{orphan: o, Link: m.linkNamed(o.master)})
	}
}

// linkNamed is the connection to a master, the first one where the name is not known any more; nil without masters.
func (m *Jobs) linkNamed(name string) *link.Link {
	for _, l := range m.opt.Links {
		if l.Name() == name {
			return l
		}
	}
	if len(m.opt.Links) > 0 {
		return m.opt.Links[0]
	}
	return nil
}

// alive tells whether a process exists that is a minion's, by its command line.
func alive(pid int) bool {
	if pid <= 0 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err != nil || bytes.Contains(b, []byte("salt")) || bytes.Contains(b, []byte("brine"))
}
