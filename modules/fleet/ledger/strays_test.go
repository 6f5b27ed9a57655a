package ledger

import (
	"fmt"
	"testing"
)

// TestStrays: jobs of which only minions speak push out none that was begun here, and those of a minion that invents
// many push out its own before those of others.
func TestStrays(t *testing.T) {
	const part = 64 // jobs that a part of the book has room for; which job is in which part is left to chance
	const begun, own = part, part/strayShare/2 - 1
	b := NewBook(Limits{Jobs: part * shards, Rows: 1024 * shards})
	jid := func(kind string, i int) string { return fmt.Sprintf("%s-%d", kind, i) }
	for i := range begun {
		b.Begin(Job{JID: jid("begun", i), Announced: 1})
	}
	for i := range own {
		b.NoteRow(jid("own", i), "honest", func(*Row) {})
	}
	for i := range 20_000 {
		b.Returned(jid("made up", i), "thief", Return{At: 1})
	}
	for i := range begun {
		if !b.Knows(jid("begun", i)) {
			t.Fatalf("job %d is forgotten", i)
		}
	}
	for i := range own {
		if !b.Knows(jid("own", i)) {
			t.Fatalf("job %d of another minion is forgotten", i)
		}
	}
	n := 0
	for i := range 20_000 {
		if b.Knows(jid("made up", i)) {
			n++
		}
	}
	if n == 0 || n > part/strayShare*shards {
		t.Errorf("%d made up jobs are remembered", n)
	}
}

// TestStrayBegins: a job of which a minion spoke before it was begun is none of its own any more.
func TestStrayBegins(t *testing.T) {
	b := NewBook(Limits{Jobs: 4 * shards, Rows: 1024 * shards})
	b.NoteRow("j", "m", func(r *Row) { r.RefusedAt = 1 })
	b.Begin(Job{JID: "j", Announced: 2, Minions: []string{"m"}})
	for i := range 1000 {
		b.NoteRow(fmt.Sprint(i), "m", func(*Row) {})
	}
	if s := b.Snapshot("j"); s == nil || s.Rows["m"] == nil || s.Job.Announced != 2 {
		t.Errorf("got %+v", s)
	}
	if announced, meant, again := b.Stance("j", "m"); !announced || !meant || again {
		t.Errorf("stance: %v %v %v", announced, meant, again)
	}
}
