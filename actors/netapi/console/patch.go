package console

import (
	"encoding/json"
	"hash/maphash"
	"slices"
)

// Patch holds the changes of a table since the last patch.
type Patch struct {
	Table string                     `json:"table"`
	Whole bool                       `json:"whole,omitempty" doc:"what the page had before is no longer there"`
	Set   map[string]json.RawMessage `json:"set,omitempty" doc:"rows by key: new ones, and those that are different now"`
	Gone  []string                   `json:"gone,omitempty" doc:"keys of rows that are no longer there"`
	More  int                        `json:"more,omitempty" doc:"rows beyond the most that are sent"`
}

// maxRows is the most rows of a table that are sent.
const maxRows = 20000

// rows is the current content of a table: values with a JSON form, by key.
type rows map[string]any

// differ stores the hash of each row that was sent, and so knows the rows of a page.
type differ struct {
	table string
	seed  maphash.Seed
	sent  map[string]uint64
}

func newDiffer(table string) *differ { return &differ{table: table, seed: maphash.MakeSeed()} }

// next makes a patch that brings the page's rows up to date. ok is false if nothing has changed.
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
			continue // every row has a JSON form
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
