package minion

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of the Journal. Who has something written names itself as Asker, and in Note the event that it gets, with
// the outcome, when the record is on disk or could not be put there. The two questions have a Done, for they come from
// outside of actors, too: the Journal runs it in its handler, or whoever finds the question lost does; it must not
// block.
type (
	// WriteRecord remembers something about a job.
	WriteRecord struct {
		Record journalRecord
		Asker  *supervisor.Ref
		Note   recordNote  // nil: nobody wants to know
		then   func(error) // of the Journal's own records, in place of Note; it runs in the Journal
	}
	// ListReturns asks for the returns that a master has not acknowledged.
	ListReturns struct {
		Link string
		Done func([]spooled)
	}
	// ReadReturn asks for one of them. The error is errUnreadable when it will never be had.
	ReadReturn struct {
		Key  string
		Done func(*payload.Return, error)
	}
	// ReplaceReturn puts another return in the place of one. Make makes it of that; it runs in the Journal, for in
	// between nobody else may write, and must not block.
	ReplaceReturn struct {
		Key   string
		Make  func(*payload.Return) ([]byte, error)
		Asker *supervisor.Ref
		Note  replaceNote
	}
	// WriteReason puts a return into the journal unless it holds one of that job.
	WriteReason struct {
		Record journalRecord
		Asker  *supervisor.Ref
		Note   reasonNote
	}
	// flushRecords writes what has gathered.
	flushRecords struct{}
)

// Events that tell an asker what came of a write. Each makes a new one with the outcome: a message that was lost after
// its write is told of twice.
type (
	recordNote interface{ written(err error) any }
	// replaceNote is told the size of what stands in the journal now.
	replaceNote interface {
		replaced(size int64, err error) any
	}
	// reasonNote is told whether the reason was put there.
	reasonNote interface{ decided(put bool, err error) any }
)

// Lost tells the writer.
func (m *WriteRecord) Lost(why error) { m.done(why) }

func (m *WriteRecord) done(err error) {
	switch {
	case m.then != nil:
		m.then(err)
	case m.Note != nil:
		m.Asker.Send(m.Note.written(err))
	}
}

// Lost tells who wants it.
func (m *ReplaceReturn) Lost(why error) { m.done(0, why) }

func (m *ReplaceReturn) done(size int64, err error) { m.Asker.Send(m.Note.replaced(size, err)) }

// Lost tells the writer.
func (m *WriteReason) Lost(why error) { m.done(false, why) }

func (m *WriteReason) done(put bool, err error) { m.Asker.Send(m.Note.decided(put, err)) }

// Lost tells the reader.
func (m *ReadReturn) Lost(why error) { m.Done(nil, why) }

// journalOptions are what the Journal needs of the minion.
type journalOptions struct {
	path  string
	first *journalFile // opened at the start of the minion; nil when that failed
	sync  bool         // journal_fsync
	// opened is told of the file before anything is written to it; nil when the start has read it.
	opened func(*journalFile)
	clock  supervisor.Clock
	log    *slog.Logger
}

// journal owns the journal file. Records that come together are written together.
type journal struct {
	opt     journalOptions
	self    *supervisor.Ref
	file    *journalFile // nil: it cannot be opened
	waiting []*WriteRecord
	owed    []journalRecord // of the kind journalGone, that could not be written
	lists   []*ListReturns  // asked while the file could not be opened
	told    bool            // that it cannot be written
	looked  time.Time       // when the file was last seen in its place
}

func (j *journal) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		j.onStarted(ctx)
	case *WriteRecord:
		j.onWrite(m)
	case *flushRecords:
		j.flush()
	case *supervisor.Flush:
		j.flush()
		m.Done()
	case *ListReturns:
		j.onList(m)
	case *ReadReturn:
		m.Done(j.read(m.Key))
	case *ReplaceReturn:
		j.onReplace(m)
	case *WriteReason:
		j.onWriteReason(m)
	case *supervisor.Stopping:
		j.onStopping()
	default:
		supervisor.Unhandled(ctx)
	}
}

func (j *journal) onStarted(ctx supervisor.Context) {
	j.self = supervisor.Self(ctx)
	if supervisor.Incarnation(ctx) == 1 {
		j.file = j.opt.first
	}
	if j.file == nil {
		if err := j.open(); err != nil {
			j.fails(err)
		}
		return
	}
	j.synced()
}

// synced lets the file wait for the disk from now on, if it is to.
func (j *journal) synced() {
	j.file.sync = j.opt.sync
	if err := j.file.syncName(); err != nil {
		j.opt.log.Error("the journal may not outlive the power of the machine", "err", err)
	}
}

var errJournalClosed = errors.New("journal: not open")

// open opens the file. Where that fails, every write tries again.
func (j *journal) open() (err error) {
	if j.file, err = openJournal(j.opt.path); j.file == nil {
		return err
	}
	if err != nil {
		j.opt.log.Error(textJournalDamaged, "err", err)
	}
	j.synced()
	if j.opt.opened != nil {
		j.opt.opened(j.file)
	}
	j.owed = slices.DeleteFunc(j.owed, func(r journalRecord) bool { return !j.over(r.key) })
	lists := j.lists
	j.lists = nil
	for _, m := range lists {
		j.onList(m)
	}
	return nil
}

// Texts of the log.
const (
	textNoJournal = "jobs and returns cannot be kept on disk; they are lost if this process ends before the " +
		"master has them"
	textJournalAgain   = "jobs and returns are kept on disk again"
	textJournalDamaged = "the journal of jobs and returns is damaged: it was put aside, and what is whole in it is used"
)

// fails says that nothing can be kept, once until it can be again.
func (j *journal) fails(err error) {
	if !j.told {
		j.opt.log.Error(textNoJournal, "err", err)
	}
	j.told = true
}

func (j *journal) onWrite(m *WriteRecord) {
	if err := m.Record.check(); err != nil {
		j.opt.log.Error("a job cannot be kept on disk", "job", m.Record.key, "err", err)
		m.done(err)
		return
	}
	if j.waiting = append(j.waiting, m); len(j.waiting) == 1 {
		j.self.Send(&flushRecords{}) // behind the records that are in the mailbox already
	}
}

// flush writes what has gathered, and tells those who wait for it whatever happens.
func (j *journal) flush() {
	if len(j.waiting) == 0 {
		return
	}
	all, err := j.waiting, errJournalClosed
	j.waiting = nil
	defer func() {
		for _, m := range all {
			m.done(err)
		}
	}()
	if err = j.write(all); err != nil {
		j.fails(err)
		j.owe(all)
		return
	}
	j.owed = nil
	if j.told {
		j.told = false
		j.opt.log.Info(textJournalAgain)
	}
	if err := j.file.compact(); err != nil {
		j.opt.log.Warn("the journal grows", "err", err)
	}
}

func (j *journal) write(all []*WriteRecord) error {
	if j.file == nil {
		if err := j.open(); err != nil {
			return err
		}
	}
	now := j.opt.clock.Now()
	if err := j.look(now); err != nil {
		return err
	}
	records := make([]journalRecord, 0, len(j.owed)+len(all))
	records = append(records, j.owed...)
	for _, m := range all {
		records = append(records, m.Record)
	}
	return j.file.write(now, records...)
}

// look sees to it, once a second, that the records go where the next process finds them.
func (j *journal) look(now time.Time) error {
	if now.Sub(j.looked) < time.Second {
		return nil
	}
	if j.file.removed() {
		j.opt.log.Warn("the journal of jobs and returns was deleted; it is made anew")
		if err := j.file.rewrite(); err != nil {
			return err
		}
	}
	j.looked = now
	return nil
}

// owe notes for the next write which jobs are over. They do not count any more, and when none does, the room that
// their records take is given back: it may be what the next write needs.
func (j *journal) owe(all []*WriteRecord) {
	for _, m := range all {
		if r := m.Record; r.kind == journalGone && (j.file == nil || j.over(r.key)) {
			j.owed = append(j.owed, r)
		}
	}
	if j.file == nil { // what is in it shows when it can be opened
		j.owed = j.owed[max(0, len(j.owed)-maxOwed):]
		return
	}
	if len(j.file.live) == 0 && j.file.size > 0 && j.file.clear() == nil {
		j.owed = nil
	}
}

// maxOwed bounds what is owed to a file that cannot be opened.
const maxOwed = 4096

// over takes a job out of those that count. It tells whether it was one of them.
func (j *journal) over(key string) bool {
	if j.file.live[key] == nil {
		return false
	}
	j.file.note(&journalEntry{key: key, kind: journalGone})
	return true
}

// onList answers as soon as there is a file.
func (j *journal) onList(m *ListReturns) {
	if j.file == nil {
		j.lists = append(j.lists, m)
		return
	}
	var all []spooled
	for _, e := range j.file.list(journalReturn, m.Link) {
		all = append(all, spooled{key: e.key, size: e.len, at: plausible(e.at, j.opt.clock.Now())})
	}
	m.Done(all)
}

func (j *journal) read(key string) (*payload.Return, error) {
	if j.file == nil {
		return nil, errJournalClosed
	}
	load, err := j.file.load(key)
	if err != nil {
		return nil, err
	}
	return payload.NewReturn(load), nil
}

// onReplace goes by what is in the file: a return that the master has by now is not replaced.
func (j *journal) onReplace(m *ReplaceReturn) {
	j.flush()
	ret, err := j.read(m.Key)
	if err != nil {
		m.done(0, err)
		return
	}
	body, err := m.Make(ret)
	if err != nil {
		m.done(0, err)
		return
	}
	j.onWrite(&WriteRecord{Record: journalRecord{kind: journalReturn, key: m.Key, link: j.file.live[m.Key].link,
		body: body},
		then: func(err error) { m.done(int64(len(body)), err) }})
}

// onWriteReason goes by what is in the file, and by what is about to be.
func (j *journal) onWriteReason(m *WriteReason) {
	j.flush()
	if j.file != nil {
		if e := j.file.live[m.Record.key]; e != nil && e.kind == journalReturn {
			m.done(false, nil)
			return
		}
	}
	j.onWrite(&WriteRecord{Record: m.Record, then: func(err error) { m.done(err == nil, err) }})
}

// onStopping writes what has gathered: those who asked may be gone, but not the jobs they asked for.
func (j *journal) onStopping() {
	j.flush()
	for _, m := range j.lists {
		j.self.Send(m) // to the next incarnation, if there is one
	}
	if j.file != nil {
		if err := j.file.close(); err != nil {
			j.opt.log.Warn("journal", "err", err)
		}
		j.file = nil
	}
}
