package ledger

// Rows copies the facts of some minions of a job; those of which there are none are left out.
func (b *Book) Rows(jid string, ids []string) []Row {
	p := b.part(jid)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.jobs[jid]
	if e == nil {
		return nil
	}
	var rows []Row
	for _, id := range ids {
		if i := e.find(id); i >= 0 {
			rows = append(rows, e.rows[i].copied())
		}
	}
	return rows
}

// copied is a row that nobody changes any more.
func (r *Row) copied() Row {
	out := *r
	if r.Minion != nil {
		m := *r.Minion
		out.Minion = &m
	}
	return out
}
