package console

import (
	"encoding/json"
	"hash/maphash"
	"slices"
)

// Patch tells what has changed in a table since the patch before it.
type Patch struct {
	Table string                     `json:"table"`
	Whole bool                       `json:"whole,omitempty" doc:"what the page had before is no longer there"`
	Set   map[string]json.RawMessage `json:"set,omitempty" doc:"rows by key: new ones, and those that are different now"`
	Gone  []string                   `json:"gone,omitempty" doc:"keys of rows that are no longer there"`
	More  int                        `json:"more,omitempty" doc:"rows beyond the most that are sent"`
}

// maxRows is how many rows of a table are sent.
const maxRows = 20000

// rows are a table as it is now: anything that has a JSON form, by key.
type rows map[string]any

// differ remembers of each row that was sent its hash, and so what a page has.
type differ struct {
	table string
	seed  maphash.Seed
	sent  map[string]uint64
}

func newDiffer(table string) *differ { return &differ{table: table, seed: maphash.MakeSeed()} }

// next is what has to be sent so that a page has the rows that are there now. ok is false when that is nothing.
func (d *differ) next(now rows) (p Patch, ok bool) {
	p = Patch{Table: d.table, Set: map[string]json.RawMessage{}}
	if d.sent == nil {
		p.Whole, d.sent = true, map[string]uint64{}
	}
	keys := make([]string, 0, len(now))
	for key := range now {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if len(keys) > maxRows {
		p.More, keys = len(keys)-maxRows, keys[:maxRows]
	}
	there := make(map[string]bool, len(keys))
	for _, key := range keys {
		text, err := json.Marshal(now[key])
		if err != nil {
			continue // no row without a JSON form is made
		}
		there[key] = true
		hash := maphash.Bytes(d.seed, text)
		if was, had := d.sent[key]; !had || was != hash {
			d.sent[key], p.Set[key] = hash, text
		}
	}
	for key := range d.sent {
		if !there[key] {
			delete(d.sent, key)
			p.Gone = append(p.Gone, key)
		}
	}
	slices.Sort(p.Gone)
	return p, p.Whole || len(p.Set) > 0 || len(p.Gone) > 0
}
