package speakers

import (
	"errors"
	"testing"
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

const jid = "20260101000000000001"

var (
	published = time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC) // what jid tells
	earlier   = published.Add(-time.Second)
	later     = published.Add(time.Second)
)

func TestCounts(t *testing.T) {
	m1 := Answer{JID: jid, Minion: "m1", ID: "m1"}
	since := func(at time.Time) Answer { return Answer{JID: jid, Minion: "m1", ID: "r1", Since: at} }
	r1 := since(earlier)
	for _, tt := range []struct {
		name    string
		tgt     any
		kind    string
		minions []any
		a       Answer
		want    bool
	}{
		{"found", "*", "glob", []any{"m1"}, m1, true},
		{"accepted a moment later", "m*", "glob", nil, m1, true},
		{"accepted a moment later", "m.", "pcre", nil, m1, true},
		{"accepted a moment later", []any{"m1"}, "list", nil, m1, true},
		{"accepted a moment later", "x,m1", "list", nil, m1, true},
		{"another id", "x*", "", []any{"x1"}, m1, false},
		{"another id", "(?=x).*", "pcre", []any{"x1"}, m1, false},
		{"another id", "x1,m10", "list", []any{"x1"}, m1, false},
		{"a pattern that cannot be read", "(", "pcre", nil, m1, true},
		{"no text", []any{"x1"}, "glob", nil, m1, true},
		{"its grains may be others by now", "os:x", "grain", []any{"x1"}, m1, true},
		{"its pillar may be another by now", "I@a:b", "compound", []any{"x1"}, m1, true},

		{"resource of a minion that was found", "*", "glob", []any{"m1"}, r1, true},
		{"resource of a minion that was found", "os:x", "grain", []any{"m1"}, r1, true},
		{"resource of another", "os:x", "grain", []any{"x1"}, r1, false},
		{"the minion alone", "m1", "glob", []any{"m1"}, r1, false},
		{"the minion alone", []any{"m1"}, "list", []any{"m1"}, r1, false},
		{"the resource by its name", "r1", "glob", nil, r1, true},
		{"the resource by its name", "x1,r1", "list", []any{"x1"}, r1, true},
		{"registered at the same moment", "*", "glob", []any{"m1"}, since(published), true},
		{"registered later", "*", "glob", []any{"m1"}, since(later), false},
		{"registered long ago", "*", "glob", []any{"m1"}, since(time.Time{}), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			book := ledger.NewBook(ledger.Limits{Jobs: 10, Rows: 10})
			text, _ := tt.tgt.(string)
			job := ledger.Job{JID: jid, Tgt: text, TgtType: tt.kind, Minions: payload.Texts(tt.minions),
				Announced: ledger.At(published)}
			if list, ok := tt.tgt.([]any); ok {
				job.Tgt, job.Missing = "['"+payload.Texts(list)[0]+"']", payload.Texts(list)
			}
			book.Begin(job)
			load := payload.M("tgt", tt.tgt, "tgt_type", tt.kind, "Minions", tt.minions)
			empty := ledger.NewBook(ledger.Limits{Jobs: 10, Rows: 10})
			none := func(string) (*payload.Map, error) { return nil, nil }
			if tt.kind != "glob" || text != "" { // in memory a target of a wrong type is a text
				if got := (&Jobs{Book: book, Asked: none}).Counts(tt.a); got != tt.want {
					t.Errorf("by memory: %v", got)
				}
			}
			disk := func(string) (*payload.Map, error) { return load, nil }
			if got := (&Jobs{Book: empty, Asked: disk}).Counts(tt.a); got != tt.want {
				t.Errorf("by the disk: %v", got)
			}
		})
	}
}

// TestUnknownJobs: of a job that nobody asked for a minion may speak for itself, and so it may while the disk
// cannot be read.
func TestUnknownJobs(t *testing.T) {
	for _, err := range []error{nil, errors.New("the disk")} {
		book := ledger.NewBook(ledger.Limits{Jobs: 10, Rows: 10})
		book.NoteRow(jid, "m1", func(*ledger.Row) {}) // a minion has spoken of it
		j := &Jobs{Book: book, Asked: func(string) (*payload.Map, error) { return nil, err }}
		if !j.Counts(Answer{JID: jid, Minion: "m1", ID: "m1"}) || j.Counts(Answer{JID: jid, Minion: "m1", ID: "r1"}) {
			t.Errorf("with %v", err)
		}
		if j.Named(Answer{JID: jid, Minion: "m1", ID: "m1"}) {
			t.Error("a job that nobody asked for names somebody")
		}
	}
}

// TestBound: whom a job was bound to memory knows, and what the disk has of its target does not count.
func TestBound(t *testing.T) {
	book := ledger.NewBook(ledger.Limits{Jobs: 10, Rows: 10})
	book.Begin(ledger.Job{JID: jid, Tgt: "*", TgtType: "glob", Minions: []string{"m1"}, Bound: true,
		Announced: ledger.At(published)})
	load := payload.M("tgt", "*", "tgt_type", "glob")
	j := &Jobs{Book: book, Asked: func(string) (*payload.Map, error) { return load, nil }}
	for id, want := range map[string]bool{"m1": true, "m2": false} {
		if got := j.Counts(Answer{JID: jid, Minion: id, ID: id}); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
