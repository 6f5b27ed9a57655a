package ledger

// entry finds or makes the entry of a job. of is the minion that speaks of it, "" for one that begins here.
func (p *part) entry(jid, of string, most Limits) *entry {
	e := p.jobs[jid]
	switch {
	case e != nil && (e.stray == "" || of != ""):
		return e
	case e != nil: // it begins now
		p.strays.remove(e.stray, jid)
		e.stray = ""
	default:
		e = &entry{job: Job{JID: jid}, stray: of}
		p.jobs[jid] = e
	}
	if of != "" {
		p.strays.add(of, jid)
	} else {
		p.order = append(p.order, jid)
	}
	p.shrink(most)
	return e
}

// shrink forgets what is too much, but not the job that came last. Jobs that only minions speak of have a part of their
// own: they take the place of none that was begun here.
func (p *part) shrink(most Limits) {
	for p.strays.n > 1 && (p.strays.n > max(1, most.Jobs/strayShare) || p.rows > most.Rows) {
		p.forget(p.strays.pick())
	}
	for len(p.order)-p.head > 1 && (len(p.order)-p.head > most.Jobs || p.rows > most.Rows) {
		p.drop()
	}
}

// drop forgets the oldest job that was begun here.
func (p *part) drop() {
	jid := p.order[p.head]
	p.order[p.head] = ""
	p.head++
	p.forget(jid)
	if p.head > 64 && p.head > len(p.order)/2 {
		p.order = append([]string(nil), p.order[p.head:]...)
		p.head = 0
	}
}

func (p *part) forget(jid string) {
	n := len(p.jobs[jid].rows)
	p.rows -= n
	p.large.gone(jid, n)
	delete(p.jobs, jid)
}

const (
	few     = 8       // rows that are searched one by one
	maxRows = 1 << 16 // of a job; of more minions nothing is noted
)

func (e *entry) find(id string) int {
	if e.index != nil {
		if i, ok := e.index[id]; ok {
			return i
		}
		return -1
	}
	for i := range e.rows {
		if e.rows[i].ID == id {
			return i
		}
	}
	return -1
}

// row finds or makes the row of a minion.
func (e *entry) row(p *part, id string) *Row {
	i := e.find(id)
	if i < 0 {
		if i = len(e.rows); i >= maxRows {
			return &Row{}
		}
		e.rows = append(e.rows, Row{ID: id})
		p.rows++
		p.large.grown(e.job.JID, len(e.rows))
		if e.index != nil {
			e.index[id] = i
		} else if len(e.rows) > few {
			e.index = make(map[string]int, 2*few)
			for n := range e.rows {
				e.index[e.rows[n].ID] = n
			}
		}
	}
	return &e.rows[i]
}

// touch marks a row as one to be stored.
func (e *entry) touch(r *Row) {
	if i := e.find(r.ID); i >= 0 && !r.fresh {
		r.fresh = true
		e.dirty = append(e.dirty, i)
	}
}
