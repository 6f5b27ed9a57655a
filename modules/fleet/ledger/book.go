package ledger

import (
	"hash/maphash"
	"slices"
	"sync"
)

// Limits bound a Book. The oldest job goes first when a limit is reached.
type Limits struct {
	Jobs int // that are remembered
	Rows int // minions with facts, of all jobs together; twice as many where jobs are large
}

// shards is how many parts a book has: workers that note facts of different jobs seldom meet.
const shards = 16

// Book keeps the facts of the last jobs, and of peers, in memory. It is safe for concurrent use; every method takes a
// microsecond or less but for Take, Snapshot and Dirty.
type Book struct {
	Peers Peers

	seed  maphash.Seed
	parts [shards]part
	most  Limits // of one part
	large large
}

type part struct {
	mu     sync.Mutex
	large  *large // of the book
	jobs   map[string]*entry
	order  []string // those that somebody has begun, the oldest first, from head on
	head   int
	rows   int
	strays strays
}

// entry is one job of a part.
type entry struct {
	job   Job
	stray string // the minion that has spoken of it; "" when it was begun here
	rows  []Row
	index map[string]int // of rows by id, made when there are many
	whole bool           // the job itself has facts that are not stored
	dirty []int          // rows that may have facts that are not stored, see Row.fresh
	links bool           // how minions were connected is stored
}

// NewBook makes an empty book.
func NewBook(l Limits) *Book {
	b := &Book{seed: maphash.MakeSeed(), most: Limits{max(1, l.Jobs/shards), max(1, l.Rows/shards)}}
	b.large.from, b.large.most = b.most.Rows+1, 2*int64(max(1, l.Rows))
	for i := range b.parts {
		b.parts[i].jobs, b.parts[i].large = map[string]*entry{}, &b.large
	}
	b.Peers.init()
	return b
}

func (b *Book) part(jid string) *part { return &b.parts[maphash.String(b.seed, jid)%shards] }

// Begin notes a new job. One that is published several times under one id, as a batch is, means the minions of every
// publication, and is sent when the last of them is.
func (b *Book) Begin(job Job) {
	p := b.part(job.JID)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entry(job.JID, "", b.most)
	minions, missing := union(e.job.Minions, job.Minions), union(e.job.Missing, job.Missing)
	merge(&e.job, &job, jobFields)
	e.job.Minions, e.job.Missing, e.job.Sealed, e.job.Sent = minions, missing, job.Sealed, job.Sent
	e.whole, e.links = true, false
}

// union joins a sorted list with one in any order, such as that of a target; neither is changed.
func union(a, b []string) []string {
	switch {
	case len(a) == 0 && slices.IsSorted(b):
		return b
	case len(b) == 0:
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Note changes the facts of a job, which must be known already.
func (b *Book) Note(jid string, change func(*Job)) {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.jobs[jid]; e != nil {
		change(&e.job)
		e.whole = true
	}
}

// NoteRow changes the facts of one minion of a job; the job need not be known.
func (b *Book) NoteRow(jid, id string, change func(*Row)) {
	defer b.trim()
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entry(jid, id, b.most)
	r := e.row(p, id)
	change(r)
	e.touch(r)
}

// Hear notes what a minion says of a job that is not over; of one that has returned it is known better.
func (b *Book) Hear(jid, id string, m *Minion) {
	b.NoteRow(jid, id, func(r *Row) {
		if r.Returned == 0 {
			r.hear(m)
		}
	})
}

// Sent is when a job was handed to the publish socket, 0 when that has not been; known tells whether it may yet be.
func (b *Book) Sent(jid string) (at Stamp, known bool) {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil || e.job.Announced == 0 || e.job.Failed != "" {
		return 0, false
	}
	return e.job.Sent, true
}

// Knows tells whether the book has facts of a job.
func (b *Book) Knows(jid string) bool {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.jobs[jid] != nil
}

// Job is what is known of a job as a whole. Its lists are not to be changed.
func (b *Book) Job(jid string) (job Job, known bool) {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil {
		return Job{}, false
	}
	return e.job, true
}

// Return is a return that came in.
type Return struct {
	At      Stamp
	Worker  string
	Retcode int64
	Minion  *Minion // nil: the minion says nothing
}

// Returned notes a return. asks is the job that the returned job asks about.
func (b *Book) Returned(jid, id string, ret Return) (asks string) {
	defer b.trim()
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entry(jid, id, b.most)
	r := e.row(p, id)
	if r.Returned != 0 {
		r.Again++
		return e.job.Asks
	}
	e.touch(r)
	r.Returned, r.Worker, r.Retcode = ret.At, ret.Worker, ret.Retcode
	if ret.Minion != nil {
		r.hear(ret.Minion)
	}
	return e.job.Asks
}

// Stance is how a return stands to its job: whether that was announced here, whether its target means the minion, and
// whether the minion has returned it already.
func (b *Book) Stance(jid, id string) (announced, meant, again bool) {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil {
		return false, false, false
	}
	_, meant = slices.BinarySearch(e.job.Minions, id)
	if i := e.find(id); i >= 0 {
		again = e.rows[i].Returned != 0
	}
	return e.job.Announced != 0, meant, again
}

// Announced is when a job was announced; 0 when that is not known.
func (b *Book) Announced(jid string) Stamp {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.jobs[jid]; e != nil {
		return e.job.Announced
	}
	return 0
}

// Fired notes that the event of a return was fired.
func (b *Book) Fired(jid, id string, at Stamp) {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.jobs[jid]; e != nil {
		if i := e.find(id); i >= 0 && e.rows[i].Fired == 0 {
			e.rows[i].Fired = at
		}
	}
}

// Told tells whether the event of a return was fired that could not be stored, and so comes again.
func (b *Book) Told(jid, id string) bool {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil {
		return false
	}
	i := e.find(id)
	return i >= 0 && e.rows[i].Fired != 0 && e.rows[i].Unstored()
}

// Kept notes what became of a return: it is on disk, or why it is not. What is stored with a return needs no piece
// of its own. first says that nothing was known of that before.
func (b *Book) Kept(jid, id string, at Stamp, lost string) (first bool) {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil {
		return false
	}
	if i := e.find(id); i >= 0 {
		r := &e.rows[i]
		first = r.Stored == 0 && r.Lost == ""
		if r.Stored == 0 && lost == "" {
			r.Stored, r.Lost = at, ""
		} else if r.Stored == 0 && r.Lost != lost {
			r.Lost = lost
			e.touch(r)
		}
	}
	return first
}

// Meant tells whether the target of a job meant a minion.
func (b *Book) Meant(jid, id string) bool {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil {
		return false
	}
	_, meant := slices.BinarySearch(e.job.Minions, id)
	return meant
}

// TakeReturn makes a piece of the facts of a return, which is about to be stored with it, and counts them as stored.
// nil: there are none.
func (b *Book) TakeReturn(jid, id string, now Stamp) ([]byte, error) {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil {
		return nil, nil
	}
	i := e.find(id)
	if i < 0 || !e.rows[i].fresh {
		return nil, nil
	}
	e.rows[i].fresh = false
	if n := len(e.dirty); n > 0 && e.dirty[n-1] == i {
		e.dirty = e.dirty[:n-1]
	}
	r := e.rows[i]
	r.Stored = now
	return r.pack(append(make([]byte, 0, 192), returnPiece)), nil
}

// Take makes a piece of the other facts of a job that are not stored yet, and counts them as stored. Those of a job
// that is on its way to the minions are left for later, unless all are wanted. nil: there are none.
func (b *Book) Take(jid string, all bool) ([]byte, error) {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil || !all && e.whole && e.job.Sent == 0 && e.job.Failed == "" {
		return nil, nil
	}
	e.dirty = slices.DeleteFunc(e.dirty, func(i int) bool { return !e.rows[i].fresh })
	if !e.whole && len(e.dirty) == 0 {
		return nil, nil
	}
	var links *Links
	if e.whole && !e.links && e.job.Sent != 0 {
		links, e.links = b.Peers.Links(e.job.Minions, e.job.Sent), true
	}
	rows := make([]*Row, len(e.dirty))
	for n, i := range e.dirty {
		rows[n] = &e.rows[i]
		e.rows[i].fresh = false
	}
	whole := e.whole
	e.whole, e.dirty = false, e.dirty[:0]
	return pack(&e.job, whole, links, rows)
}

// Again counts all facts of a job as not stored, for what Take gave was not.
func (b *Book) Again(jid string) {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil {
		return
	}
	e.whole, e.links, e.dirty = true, false, e.dirty[:0]
	for i := range e.rows {
		e.rows[i].fresh = true
		e.dirty = append(e.dirty, i)
	}
}

// Dirty lists the jobs with facts that are not stored.
func (b *Book) Dirty() (jids []string) {
	for i := range b.parts {
		p := &b.parts[i]
		p.mu.Lock()
		for jid, e := range p.jobs {
			if e.whole || len(e.dirty) > 0 {
				jids = append(jids, jid)
			}
		}
		p.mu.Unlock()
	}
	return jids
}

// Snapshot copies the facts of a job; nil when the book has none.
func (b *Book) Snapshot(jid string) *Snapshot {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil {
		return nil
	}
	s := &Snapshot{Job: e.job, Rows: make(map[string]*Row, len(e.rows))}
	for i := range e.rows {
		r := e.rows[i].copied()
		s.Rows[r.ID] = &r
	}
	return s
}
