package jobs

import (
	"log/slog"
	"time"

	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/ledger"
)

// jobFacts makes pieces of the book for the JobStore.
type jobFacts struct {
	book *ledger.Book // nil: there are none
	log  *slog.Logger
}

// pieces takes what is new of the jobs in a group, or of all.
func (f jobFacts) pieces(g *group) []jobstore.Load {
	if f.book == nil {
		return nil
	}
	seen, all := map[string]bool{}, false
	var out []jobstore.Load
	take := func(jid string) {
		if seen[jid] && !all {
			return
		}
		seen[jid] = true
		piece, err := f.book.Take(jid, all)
		if err != nil {
			f.log.Error("what is known of a job cannot be packed", "jid", jid, "err", err)
		} else if piece != nil {
			out = append(out, jobstore.Load{JID: jid, Facts: piece, Announced: true})
		}
	}
	for _, r := range g.returns {
		take(r.JID)
	}
	if g.facts {
		all = true
		for _, jid := range f.book.Dirty() {
			take(jid)
		}
	}
	return out
}

// of takes what is new of a return.
func (f jobFacts) of(r *StoreReturn, now time.Time) []byte {
	if f.book == nil {
		return nil
	}
	piece, err := f.book.TakeReturn(r.JID, r.ID, ledger.At(now))
	if err != nil {
		f.log.Error("what is known of a return cannot be packed", "jid", r.JID, "minion", r.ID, "err", err)
	}
	return piece
}

// again gives the facts of a job back.
func (f jobFacts) again(jid string) {
	if f.book != nil {
		f.book.Again(jid)
	}
}

// unkept gives pieces back that were not stored.
func (f jobFacts) unkept(pieces []jobstore.Load, returns []jobstore.Return) {
	for _, p := range pieces {
		f.book.Again(p.JID)
	}
	for _, r := range returns {
		if r.Facts != nil {
			f.book.Again(r.JID)
		}
	}
}
