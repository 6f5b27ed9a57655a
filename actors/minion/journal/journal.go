package journal

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"brine/actors/daemon"
	"brine/supervisor"
	"brine/wire/payload"
)

// Messages of the Journal. Who has something written names itself as Asker, and in Note the event that it gets, with
// the outcome, when the record is on disk or could not be put there. The two questions have a Done, for they come from
// outside of actors, too: the Journal runs it in its handler, or whoever finds the question lost does; it must not
// block.
type (
	// Write remembers something about a job.
	Write struct {
		Record Record
		Asker  *supervisor.Ref
		Note   Note        // nil: nobody wants to know
		then   func(error) // of the Journal's own records, in place of Note; it runs in the Journal
	}
	// List asks for the returns that a master has not acknowledged.
	List struct {
		Link string
		Done func([]Spooled)
	}
	// Read asks for one of them. The error is ErrUnreadable when it will never be had.
	Read struct {
		Key  string
		Done func(*payload.Return, error)
	}
	// Replace puts another return in the place of one. Make makes it of that; it runs in the Journal, for in
	// between nobody else may write, and must not block.
	Replace struct {
		Key   string
		Make  func(*payload.Return) ([]byte, error)
		Asker *supervisor.Ref
		Note  ReplaceNote
	}
	// WriteReason puts a return into the journal unless it holds one of that job.
	WriteReason struct {
		Record Record
		Asker  *supervisor.Ref
		Note   ReasonNote
	}
	// flushRecords writes what has gathered.
	flushRecords struct{}
)

// Events that tell an asker what came of a write. Each makes a new one with the outcome: a message that was lost after
// its write is told of twice.
type (
	Note interface{ Written(err error) any }
	// ReplaceNote is told the size of what stands in the journal now.
	ReplaceNote interface {
		Replaced(size int64, err error) any
	}
	// ReasonNote is told whether the reason was put there.
	ReasonNote interface{ Decided(put bool, err error) any }
)

// Lost tells the writer.
func (m *Write) Lost(why error) { m.done(why) }

func (m *Write) done(err error) {
	switch {
	case m.then != nil:
		m.then(err)
	case m.Note != nil:
		m.Asker.Send(m.Note.Written(err))
	}
}

// Lost tells who wants it.
func (m *Replace) Lost(why error) { m.done(0, why) }

func (m *Replace) done(size int64, err error) { m.Asker.Send(m.Note.Replaced(size, err)) }

// Lost tells the writer.
func (m *WriteReason) Lost(why error) { m.done(false, why) }

func (m *WriteReason) done(put bool, err error) { m.Asker.Send(m.Note.Decided(put, err)) }

// Lost tells the reader.
func (m *Read) Lost(why error) { m.Done(nil, why) }

// Options are what the Journal needs of the minion.
type Options struct {
	Ref   *supervisor.Ref // by which others know it
	Path  string
	First *File // opened at the start of the minion; nil when that failed
	Sync  bool  // journal_fsync
	// opened is told of the file before anything is written to it; nil when the start has read it.
	Opened func(*File)
	Clock  supervisor.Clock
	Log    *slog.Logger
}

// New makes the Journal as a child.
func New(opt Options) daemon.Child {
	return daemon.Child{Spec: supervisor.Spec{Ref: opt.Ref, Name: "Journal", Store: true, New: func() supervisor.Actor {
		return &journal{opt: opt}
	}}}
}

// journal owns the journal file. Records that come together are written together.
type journal struct {
	opt     Options
	self    *supervisor.Ref
	file    *File // nil: it cannot be opened
	waiting []*Write
	owed    []Record  // of the kind Gone, that could not be written
	lists   []*List   // asked while the file could not be opened
	told    bool      // that it cannot be written
	looked  time.Time // when the file was last seen in its place
}

func (j *journal) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		j.onStarted(ctx)
	case *Write:
		j.onWrite(m)
	case *flushRecords:
		j.flush()
	case *supervisor.Flush:
		j.flush()
		m.Done()
	case *List:
		j.onList(m)
	case *Read:
		m.Done(j.read(m.Key))
	case *Replace:
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
		j.file = j.opt.First
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
	j.file.sync = j.opt.Sync
	if err := j.file.syncName(); err != nil {
		j.opt.Log.Error("the journal may not outlive the power of the machine", "err", err)
	}
}

var errClosed = errors.New("journal: not open")

// open opens the file. Where that fails, every write tries again.
func (j *journal) open() (err error) {
	if j.file, err = openFile(j.opt.Path); j.file == nil {
		return err
	}
	if err != nil {
		j.opt.Log.Error(TextDamaged, "err", err)
	}
	j.synced()
	if j.opt.Opened != nil {
		j.opt.Opened(j.file)
	}
	j.owed = slices.DeleteFunc(j.owed, func(r Record) bool { return !j.over(r.Key) })
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
	textJournalAgain = "jobs and returns are kept on disk again"
	TextDamaged      = "the journal of jobs and returns is damaged: it was put aside, and what is whole in it is used"
)

// fails says that nothing can be kept, once until it can be again.
func (j *journal) fails(err error) {
	if !j.told {
		j.opt.Log.Error(textNoJournal, "err", err)
	}
	j.told = true
}

func (j *journal) onWrite(m *Write) {
	if err := m.Record.check(); err != nil {
		j.opt.Log.Error("a job cannot be kept on disk", "job", m.Record.Key, "err", err)
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
	all, err := j.waiting, errClosed
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
		j.opt.Log.Info(textJournalAgain)
	}
	if err := j.file.compact(); err != nil {
		j.opt.Log.Warn("the journal grows", "err", err)
	}
}

func (j *journal) write(all []*Write) error {
	if j.file == nil {
		if err := j.open(); err != nil {
			return err
		}
	}
	now := j.opt.Clock.Now()
	if err := j.look(now); err != nil {
		return err
	}
	records := make([]Record, 0, len(j.owed)+len(all))
	records = append(records, j.owed...)
	for _, m := range all {
		records = append(records, m.Record)
	}
	return j.file.Write(now, records...)
}

// look sees to it, once a second, that the records go where the next process finds them.
func (j *journal) look(now time.Time) error {
	if now.Sub(j.looked) < time.Second {
		return nil
	}
	if j.file.removed() {
		j.opt.Log.Warn("the journal of jobs and returns was deleted; it is made anew")
		if err := j.file.rewrite(); err != nil {
			return err
		}
	}
	j.looked = now
	return nil
}

// owe notes for the next write which jobs are over. They do not count any more, and when none does, the room that
// their records take is given back: it may be what the next write needs.
func (j *journal) owe(all []*Write) {
	for _, m := range all {
		if r := m.Record; r.Kind == Gone && (j.file == nil || j.over(r.Key)) {
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
	j.file.note(&Entry{Key: key, kind: Gone})
	return true
}

// onList answers as soon as there is a file.
func (j *journal) onList(m *List) {
	if j.file == nil {
		j.lists = append(j.lists, m)
		return
	}
	var all []Spooled
	for _, e := range j.file.List(Returned, m.Link) {
		all = append(all, Spooled{Key: e.Key, Size: e.len, At: plausible(e.at, j.opt.Clock.Now())})
	}
	m.Done(all)
}

func (j *journal) read(key string) (*payload.Return, error) {
	if j.file == nil {
		return nil, errClosed
	}
	load, err := j.file.Load(key)
	if err != nil {
		return nil, err
	}
	return payload.NewReturn(load), nil
}

// onReplace goes by what is in the file: a return that the master has by now is not replaced.
func (j *journal) onReplace(m *Replace) {
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
	j.onWrite(&Write{Record: Record{Kind: Returned, Key: m.Key, Link: j.file.live[m.Key].Link,
		Body: body},
		then: func(err error) { m.done(int64(len(body)), err) }})
}

// onWriteReason goes by what is in the file, and by what is about to be.
func (j *journal) onWriteReason(m *WriteReason) {
	j.flush()
	if j.file != nil {
		if e := j.file.live[m.Record.Key]; e != nil && e.kind == Returned {
			m.done(false, nil)
			return
		}
	}
	j.onWrite(&Write{Record: m.Record, then: func(err error) { m.done(err == nil, err) }})
}

// onStopping writes what has gathered: those who asked may be gone, but not the jobs they asked for.
func (j *journal) onStopping() {
	j.flush()
	for _, m := range j.lists {
		j.self.Send(m) // to the next incarnation, if there is one
	}
	if j.file != nil {
		if err := j.file.Close(); err != nil {
			j.opt.Log.Warn("journal", "err", err)
		}
		j.file = nil
	}
}

// noClock is before the time of any machine whose clock was set. One without a battery begins near 1970.
var noClock = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// plausible is when something was written down, or now when the clock cannot have been right then.
func plausible(at, now time.Time) time.Time {
	if at.Before(noClock) || at.After(now) {
		return now
	}
	return at
}

// Spooled is a return in the journal.
type Spooled struct {
	Key  string
	Size int64
	At   time.Time // when it was put there
	// reason tells that it is not what the function returned, but why that is not there.
	Reason bool
}
