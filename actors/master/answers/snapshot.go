package answers

import (
	"errors"
	"slices"
	"time"

	"brine/modules/fleet/jobstore"
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
	"brine/wire/python"
)

// factsReader is a job store that keeps what is known of jobs.
type factsReader interface {
	Facts(jid string) (pieces [][]byte, written []time.Time, err error)
}

// errNoJob means that nothing at all is known of a job.
var errNoJob = errors.New("no such job")

// Snapshot is all that is known of a job, in memory and on disk. here says that this process has published it.
// nil: nothing.
func (d *Service) Snapshot(jid string) (s *ledger.Snapshot, here bool, err error) {
	if jid == "" {
		return nil, false, nil
	}
	if store, ok := d.Store.(factsReader); ok {
		pieces, written, err := store.Facts(jid)
		if err != nil {
			return nil, false, err
		}
		stamps := make([]ledger.Stamp, len(written))
		for i, t := range written {
			stamps[i] = ledger.At(t)
		}
		if s, err = ledger.Unpack(pieces, stamps); err != nil {
			return nil, false, err
		}
	}
	mem := d.Book.Snapshot(jid)
	here = mem != nil && mem.Job.Announced != 0
	if s = s.Join(mem); s == nil || s.Job.Minions == nil {
		s, err = d.fromLoad(jid, s)
	}
	return s, here, err
}

// fromLoad adds what the job store knows of a job that the ledger does not.
func (d *Service) fromLoad(jid string, s *ledger.Snapshot) (*ledger.Snapshot, error) {
	load, err := d.Store.Load(jid)
	if err != nil || load == nil {
		return s, err
	}
	if s == nil {
		s = &ledger.Snapshot{Rows: map[string]*ledger.Row{}}
	}
	j := &s.Job
	if j.JID == "" || j.Fun == "" {
		ask := payload.NewPublishRequest(load)
		j.JID, j.Fun, j.Tgt = jid, python.Str(ask.Fun()), python.Str(ask.Tgt())
		j.TgtType, j.User = ask.TgtType(), ask.User()
	}
	j.Minions = append(j.Minions, jobstore.MinionsOf(load)...)
	return s, nil
}

// silent are the minions of a job that have not returned, sorted.
func (d *Service) silent(s *ledger.Snapshot) ([]string, error) {
	var ids []string
	for _, id := range slices.Concat(s.Job.Minions, s.Job.Missing) {
		if r := s.Rows[id]; r == nil || r.Returned == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 || s.Job.Announced != 0 { // a job whose facts are whole
		return ids, nil
	}
	returns, err := d.Store.Returns(s.Job.JID)
	return slices.DeleteFunc(ids, func(id string) bool { return returns.Has(id) }), err
}

// unstored are the minions whose return came and could not be stored yet, sorted.
func unstored(s *ledger.Snapshot) (ids []string) {
	for id, r := range s.Rows {
		if r.Unstored() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
