package minion

import (
	"errors"
	"path/filepath"
	"slices"

	"brine/actors/minion/jobfiles"
	"brine/actors/minion/journal"
	"brine/config"
)

func (m *Minion) procDir() procDir { return procDir(filepath.Join(m.cfg.CacheDir, "proc")) }

func (m *Minion) journalPath() string { return filepath.Join(m.cfg.CacheDir, config.JobsJournal) }

// memory is what the process before this one has left.
type memory struct {
	file *journal.File // nil: it cannot be opened
	lost []orphan      // jobs that had begun and have no return
	past *journal.Past
	keys map[string]bool // of all jobs that had begun, with and without a return
}

// remember reads the journal and the files that tell of jobs beside it. Jobs with nothing but a proc entry are those of
// a minion of Salt, or of one that could not write its journal.
func (m *Minion) remember() memory {
	mem := memory{keys: map[string]bool{}}
	past, err := journal.OpenPast(filepath.Join(m.cfg.CacheDir, config.JobsPast), m.cfg.MinionJIDQueueAge,
		m.cfg.JournalFsync, m.clock.Now(),
		m.steady.Calm)
	if err != nil {
		m.log.Error("it is not known of all jobs that they were taken", "err", err)
	}
	mem.past = past
	for _, l := range m.links {
		l.auth.KnowSerials(past.SerialNow())
	}
	file, err := journal.Open(m.journalPath(), m.opt.journalPatience, m.log)
	if err != nil && file != nil {
		m.log.Error(journal.TextDamaged, "err", err)
	} else if err != nil {
		m.log.Error("the journal of jobs and returns", "err", err)
	}
	mem.file = file
	if file != nil {
		if err := journal.TakeSpool(file, filepath.Join(m.cfg.CacheDir, "spool"), m.clock.Now()); err != nil {
			m.log.Error("returns that an earlier release has kept", "err", err)
		}
		m.recall(&mem)
	}
	shown, err := m.procDir().orphans(func(name string, pid int) bool {
		return !mem.keys[name] && alive(pid)
	}, jobfiles.TellDamage(m.log))
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

// recallLate answers for the jobs of a journal that could not be opened at the start, but for those that are known from
// their proc entries.
func (m *Minion) recallLate(file *journal.File, known map[string]bool) {
	late := memory{file: file, keys: map[string]bool{}}
	m.recall(&late)
	m.answerFor(slices.DeleteFunc(late.lost, func(o orphan) bool { return known[o.name] }))
}

// recall lists the jobs of the journal.
func (m *Minion) recall(mem *memory) {
	for _, e := range mem.file.List(journal.Returned, "") {
		mem.keys[e.Key] = true
	}
	for _, e := range mem.file.List(journal.Begun, "") {
		mem.keys[e.Key] = true
		load, err := mem.file.Load(e.Key)
		if err == nil {
			m.takeFacts(e.Key, load)
			begun, _ := readEntry(load)
			mem.lost = append(mem.lost, orphan{name: e.Key, master: e.Link, job: begun.job})
			continue
		}
		if errors.Is(err, journal.ErrUnreadable) {
			err = errors.Join(err, mem.file.Write(m.clock.Now(), journal.Record{Kind: journal.Gone, Key: e.Key}))
		}
		m.log.Error("a job that had begun is not known any more", "job", e.Key, "err", err)
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
