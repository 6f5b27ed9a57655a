package ledger

import (
	"fmt"
	"maps"
	"slices"

	"brine/wire/payload"
)

// Snapshot is all that is known of a job at a moment. Who reads it owns it.
type Snapshot struct {
	Job   Job
	Rows  map[string]*Row
	Links *Links // how minions were connected when the job was sent; nil: see the book's peers
}

// Links tell how the minions of a job were connected when it was sent.
type Links struct {
	Rest  State // of those that are in no list
	Other map[string]State
}

// Of is how one minion was connected.
func (l *Links) Of(id string) State {
	if l == nil {
		return LinkUnknown
	}
	if s, ok := l.Other[id]; ok {
		return s
	}
	return l.Rest
}

// Row returns the facts of a minion; nil when there are none.
func (s *Snapshot) Row(id string) *Row {
	if s == nil {
		return nil
	}
	return s.Rows[id]
}

// names of the parts of a stored piece, beside the fields of the job.
const (
	keyRows    = "rows"
	keyMissing = "missing"
	keyClient  = "client"
	keyLinks   = "links"
	keyMinion  = "minion"
)

// pack makes a piece to be stored: the job, when whole is set, and some rows.
func pack(job *Job, whole bool, links *Links, rows []*Row) ([]byte, error) {
	m := payload.NewMap(4)
	if whole {
		write(m, jobFields, job)
		if len(job.Missing) > 0 {
			m.Set(keyMissing, job.Missing)
		}
		if job.Client != nil {
			m.Set(keyClient, job.Client.Map())
		}
		if links != nil {
			m.Set(keyLinks, links.pack())
		}
	}
	if len(rows) > 0 {
		list := make([]any, len(rows))
		for i, r := range rows {
			list[i] = r.pack(nil)
		}
		m.Set(keyRows, list)
	}
	return payload.MarshalBin(m)
}

// returnPiece begins a piece that is the facts of one return, as no map does.
const returnPiece = 1

// Map is what is known of a minion, as operators see it.
func (r *Row) Map() *payload.Map { return rowMap(r) }

func rowMap(r *Row) *payload.Map {
	m := write(payload.NewMap(6), rowFields, r)
	if r.Minion != nil {
		m.Set(keyMinion, r.Minion.Map())
	}
	return m
}

// Unpack joins the stored pieces of a job, oldest first. stored is when each was written. No pieces: nil.
func Unpack(pieces [][]byte, stored []Stamp) (*Snapshot, error) {
	if len(pieces) == 0 {
		return nil, nil
	}
	s := &Snapshot{Rows: map[string]*Row{}}
	for i, b := range pieces {
		if len(b) > 0 && b[0] == returnPiece {
			if err := s.addPacked(b[1:]); err != nil {
				return nil, fmt.Errorf("read facts: %w", err)
			}
			continue
		}
		m, err := payload.UnmarshalBinMap(b)
		if err != nil {
			return nil, fmt.Errorf("read facts: %w", err)
		}
		if err := s.add(m, stored[i]); err != nil {
			return nil, fmt.Errorf("read facts: %w", err)
		}
	}
	return s, nil
}

func (s *Snapshot) addPacked(b []byte) error {
	r, err := unpackRow(b)
	if err == nil && r.ID != "" {
		s.addRow(r)
	}
	return err
}

func (s *Snapshot) add(m *payload.Map, stored Stamp) error {
	var job Job
	read(m, jobFields, &job)
	merge(&s.Job, &job, jobFields)
	if l := payload.Texts(m.List(keyMissing)); len(l) > 0 {
		s.Job.Missing = l
	}
	if c := m.Map(keyClient); c != nil {
		s.Job.Client = ReadClient(c)
	}
	if l := m.Map(keyLinks); l != nil {
		s.Links = readLinks(l)
	}
	if job.JID != "" && s.Job.Stored == 0 {
		s.Job.Stored = stored
	}
	for _, v := range m.List(keyRows) {
		if err := s.addPacked(payload.AsBytes(v)); err != nil {
			return err
		}
	}
	return nil
}

// addRow joins a row with what is known already.
func (s *Snapshot) addRow(r *Row) {
	known := s.Rows[r.ID]
	if known == nil {
		s.Rows[r.ID] = r
		return
	}
	known.take(r)
}

// take joins newer facts of the same minion.
func (r *Row) take(newer *Row) {
	first := r.Stored
	merge(r, newer, rowFields)
	if first != 0 {
		r.Stored = first
	}
	if newer.FoundAt != 0 {
		r.Running = newer.Running
	}
	if newer.Minion != nil {
		r.hear(newer.Minion)
	}
}

// hear joins what a minion says now with what it has said.
func (r *Row) hear(m *Minion) {
	if r.Minion == nil {
		r.Minion = &Minion{}
	}
	merge(r.Minion, m, minionFields)
	r.Minion.Offset = m.Offset
}

// Join adds newer facts of the same job.
func (s *Snapshot) Join(newer *Snapshot) *Snapshot {
	switch {
	case s == nil:
		return newer
	case newer == nil:
		return s
	}
	stored := s.Job.Stored
	merge(&s.Job, &newer.Job, jobFields)
	if stored != 0 {
		s.Job.Stored = stored
	}
	if newer.Job.Minions != nil {
		s.Job.Minions = newer.Job.Minions
	}
	if newer.Job.Missing != nil {
		s.Job.Missing = newer.Job.Missing
	}
	if newer.Job.Client != nil {
		s.Job.Client = newer.Job.Client
	}
	if newer.Links != nil {
		s.Links = newer.Links
	}
	for _, r := range newer.Rows {
		s.addRow(r)
	}
	return s
}

func (l *Links) pack() *payload.Map {
	m := payload.M("rest", int64(l.Rest))
	by := map[State][]string{}
	for id, s := range l.Other {
		by[s] = append(by[s], id)
	}
	for _, s := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[s])
		m.Set(int64(s), by[s])
	}
	return m
}

func readLinks(m *payload.Map) *Links {
	rest, _ := m.Int("rest")
	l := &Links{Rest: State(rest), Other: map[string]State{}}
	for _, s := range []State{LinkUnknown, LinkDown, LinkUp} {
		list, _ := m.Value(int64(s)).([]any)
		for _, id := range payload.Texts(list) {
			l.Other[id] = s
		}
	}
	return l
}

func stampsMap(stamps map[string]Stamp) *payload.Map {
	m := payload.NewMap(len(stamps))
	for _, id := range slices.Sorted(maps.Keys(stamps)) {
		m.Set(id, int64(stamps[id]))
	}
	return m
}

func readStamps(m *payload.Map) map[string]Stamp {
	out := make(map[string]Stamp, m.Len())
	for k, v := range m.All() {
		id, isText := k.(string)
		n, isNum := v.(int64)
		if isText && isNum {
			out[id] = Stamp(n)
		}
	}
	return out
}
