package ledger

import (
	"slices"
	"sync"
	"sync/atomic"
)

// large are the jobs of a book that have more rows than a part may have together, the oldest first. A part keeps the
// job that came last whatever its size, so that without them as many jobs of a large fleet would stay as there are
// parts.
type large struct {
	from int          // so many rows make a job large
	most int64        // rows of all jobs while there are several large ones
	rows atomic.Int64 // of all jobs

	mu   sync.Mutex // taken while a part's is held, never the other way round
	jids []string
}

// grown hears that a job has one row more.
func (l *large) grown(jid string, rows int) {
	l.rows.Add(1)
	if rows != l.from {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jids = append(l.jids, jid)
}

// gone hears that a job with so many rows is forgotten.
func (l *large) gone(jid string, rows int) {
	l.rows.Add(-int64(rows))
	if rows < l.from {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jids = slices.DeleteFunc(l.jids, func(one string) bool { return one == jid })
}

// oldest takes the oldest large job out while there are too many rows; the one that came last stays.
func (l *large) oldest() (jid string, ok bool) {
	if l.rows.Load() <= l.most {
		return "", false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.jids) < 2 {
		return "", false
	}
	jid = l.jids[0]
	l.jids = slices.Delete(l.jids, 0, 1)
	return jid, true
}

// trim forgets large jobs while there are too many rows. The caller holds no part.
func (b *Book) trim() {
	for jid, ok := b.large.oldest(); ok; jid, ok = b.large.oldest() {
		b.part(jid).leave(jid)
	}
}

// leave forgets a job, wherever it stands among the others. One that is not known any more was forgotten before.
func (p *part) leave(jid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil || len(e.rows) < p.large.from {
		return
	}
	if e.stray != "" {
		p.strays.remove(e.stray, jid)
	} else if i := slices.Index(p.order[p.head:], jid); i >= 0 {
		p.order = slices.Delete(p.order, p.head+i, p.head+i+1)
	}
	p.forget(jid)
}
