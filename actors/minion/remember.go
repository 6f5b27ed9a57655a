package minion

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"brine/config"
)

func (m *Minion) procDir() procDir { return procDir(filepath.Join(m.cfg.CacheDir, "proc")) }

func (m *Minion) journalPath() string { return filepath.Join(m.cfg.CacheDir, config.JobsJournal) }

// memory is what the process before this one has left.
type memory struct {
	file *journalFile // nil: it cannot be opened
	lost []orphan     // jobs that had begun and have no return
	past *pastJobs
	keys map[string]bool // of all jobs that had begun, with and without a return
}

// remember reads the journal and the files that tell of jobs beside it. Jobs with nothing but a proc entry are those of
// a minion of Salt, or of one that could not write its journal.
func (m *Minion) remember() memory {
	mem := memory{keys: map[string]bool{}}
	past, err := openPastJobs(filepath.Join(m.cfg.CacheDir, config.JobsPast), m.cfg.MinionJIDQueueAge, m.clock.Now(),
		m.steady.Calm)
	if err != nil {
		m.log.Error("it is not known of all jobs that they were taken", "err", err)
	}
	past.sync, mem.past = m.cfg.JournalFsync, past
	for _, l := range m.links {
		l.auth.KnowSerials(past.serialNow())
	}
	file, err := m.openFreedJournal()
	if err != nil && file != nil {
		m.log.Error(textJournalDamaged, "err", err)
	} else if err != nil {
		m.log.Error("the journal of jobs and returns", "err", err)
	}
	mem.file = file
	if file != nil {
		if err := takeSpool(file, filepath.Join(m.cfg.CacheDir, "spool"), m.clock.Now()); err != nil {
			m.log.Error("returns that an earlier release has kept", "err", err)
		}
		m.recall(&mem)
	}
	shown, err := m.procDir().orphans(func(name string, pid int) bool {
		return !mem.keys[name] && alive(pid)
	}, tellDamage(m.log))
	for _, o := range shown {
		if mem.keys[o.name] {
			err = errors.Join(err, m.procDir().remove(o.name))
			continue
		}
		o.shown, mem.keys[o.name] = true, true
		mem.lost = append(mem.lost, o)
	}
	if err != nil {
		m.log.Error("proc entries cannot be read", "err", err)
	}
	return mem
}

// journalPatience is how long the start waits for the journal to be let go.
const journalPatience = 5 * time.Second

// openFreedJournal opens the journal, and waits for a predecessor that is about to end. A process that was killed is
// gone, but a child that it was just starting holds a copy of the lock until it runs its program; on a busy machine
// that takes a while. Without the journal nobody would answer for the jobs that have died with it.
func (m *Minion) openFreedJournal() (*journalFile, error) {
	end, said := time.Now().Add(m.patience()), false
	for {
		file, err := openJournal(m.journalPath())
		if !errors.Is(err, errJournalTaken) || time.Now().After(end) {
			return file, err
		}
		if !said {
			m.log.Warn("another process has the journal of jobs; waiting for its end", "path", m.journalPath())
			said = true
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (m *Minion) patience() time.Duration {
	if m.opt.journalPatience > 0 {
		return m.opt.journalPatience
	}
	return journalPatience
}

// recallLate answers for the jobs of a journal that could not be opened at the start, but for those that are known from
// their proc entries.
func (m *Minion) recallLate(file *journalFile, known map[string]bool) {
	late := memory{file: file, keys: map[string]bool{}}
	m.recall(&late)
	m.answerFor(slices.DeleteFunc(late.lost, func(o orphan) bool { return known[o.name] }))
}

// recall lists the jobs of the journal.
func (m *Minion) recall(mem *memory) {
	for _, e := range mem.file.list(journalReturn, "") {
		mem.keys[e.key] = true
	}
	for _, e := range mem.file.list(journalBegun, "") {
		mem.keys[e.key] = true
		load, err := mem.file.load(e.key)
		if err == nil {
			m.takeFacts(e.key, load)
			begun, _ := readEntry(load)
			mem.lost = append(mem.lost, orphan{name: e.key, master: e.link, job: begun.job})
			continue
		}
		if errors.Is(err, errUnreadable) {
			err = errors.Join(err, mem.file.write(m.clock.Now(), journalRecord{kind: journalGone, key: e.key}))
		}
		m.log.Error("a job that had begun is not known any more", "job", e.key, "err", err)
	}
}

// answerFor answers for the jobs that were lost, each to the master that asked.
func (m *Minion) answerFor(lost []orphan) {
	for _, o := range lost {
		m.dispatcher.Send(&LostJob{orphan: o, Link: m.linkNamed(o.master)})
	}
}

// linkNamed is the connection to a master, the first one where the name is not known any more; nil without masters.
func (m *Minion) linkNamed(name string) *link {
	for _, l := range m.links {
		if l.name() == name {
			return l
		}
	}
	if len(m.links) > 0 {
		return m.links[0]
	}
	return nil
}
