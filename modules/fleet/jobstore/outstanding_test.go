package jobstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// pendingCache is what is tested here of both job caches.
type pendingCache interface {
	Pending(Search) ([]Pending, bool, error)
}

func TestPending(t *testing.T) {
	each(t, func(t *testing.T, _ string, open func(Options) cache) {
		c := open(Options{})
		never := func() bool { return false }
		commit := func(loads []Load, returns ...Return) {
			t.Helper()
			if _, err := c.Commit(loads, returns); err != nil {
				t.Fatal(err)
			}
		}
		commit([]Load{{JID: jid1, Load: ping(jid1), Minions: []string{"b", "a", "c"}}}, answer(jid1, "b", true))
		commit([]Load{{JID: jid2, Load: ping(jid2), Minions: []string{"a"}}}, answer(jid2, "a", true),
			answer(jid2, "stranger", true))
		commit([]Load{{JID: jid3, Load: ping(jid3), Minions: []string{"a"}}}, answer(jid3, "stranger", true))
		search := func(q Search) (list []string, whole bool) {
			t.Helper()
			got, whole, err := c.(pendingCache).Pending(q)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range got {
				list = append(list, fmt.Sprintf("%s %d %v %s", p.JID, p.Minions, p.Silent, p.Load.Str("fun")))
				if time.Since(p.Created) > time.Hour {
					t.Errorf("%s was created at %s", p.JID, p.Created)
				}
			}
			slices.Sort(list)
			return list, whole
		}
		hour := time.Now().Add(-time.Hour)
		want := []string{jid1 + " 3 [a c] test.ping", jid3 + " 1 [a] test.ping"}
		if got, whole := search(Search{Since: hour, Most: 10, Stop: never}); !slices.Equal(got, want) || !whole {
			t.Errorf("got %v, %v", got, whole)
		}
		if got, whole := search(Search{Since: hour, Most: 1, Stop: never}); len(got) != 1 || whole {
			t.Errorf("one: got %v, %v", got, whole)
		}
		if got, whole := search(Search{Since: hour, Most: 10, Stop: func() bool {
			return true
		}}); len(got) != 0 || whole {
			t.Errorf("stopped: got %v, %v", got, whole)
		}
		if got, whole := search(Search{Since: time.Now().Add(time.Hour), Most: 10, Stop: never}); len(got) != 0 ||
			!whole {
			t.Errorf("later: got %v, %v", got, whole)
		}
		commit([]Load{{JID: jid2, Minions: []string{"late"}}})
		if got, _ := search(Search{Since: hour, Most: 10, Stop: never}); len(got) != 3 ||
			got[1] != jid2+" 2 [late] test.ping" {
			t.Errorf("a minion that came later: got %v", got)
		}
		commit(nil, answer(jid1, "a", true), answer(jid1, "c", true), answer(jid3, "a", true),
			answer(jid2, "late", true))
		if got, whole := search(Search{Since: hour, Most: 10, Stop: never}); len(got) != 0 || !whole {
			t.Errorf("all returned: got %v, %v", got, whole)
		}
	})
}

// TestNewest: a search for all jobs has those that are done, too, and what is not known of a job is not claimed.
func TestNewest(t *testing.T) {
	each(t, func(t *testing.T, _ string, open func(Options) cache) {
		c := open(Options{})
		mine := ping(jid3)
		mine.Set("user", "me")
		for _, one := range []struct {
			load    Load
			returns []Return
		}{
			{Load{JID: jid1, Load: ping(jid1), Minions: []string{"a", "b"}}, []Return{answer(jid1, "a", true),
				answer(jid1, "b", true)}},
			{Load{JID: jid2, Load: ping(jid2), Minions: []string{"a"}, NoCache: true}, nil},
			{Load{JID: jid3, Load: mine, Minions: []string{"a", "b"}}, []Return{answer(jid3, "b", true)}},
		} {
			if _, err := c.Commit([]Load{one.load}, one.returns); err != nil {
				t.Fatal(err)
			}
		}
		search := func(q Search) (list []string) {
			t.Helper()
			q.Stop = func() bool { return false }
			got, _, err := c.(pendingCache).Pending(q)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range got {
				list = append(list, fmt.Sprintf("%s %d %v %v", p.JID, p.Minions, p.Silent, p.NoCache))
			}
			slices.Sort(list)
			return list
		}
		all := []string{jid1 + " 2 [] false", jid2 + " 1 [] true", jid3 + " 2 [a] false"}
		for range 2 { // also once it is known which ones are done
			if got := search(Search{All: true, Most: 10}); !slices.Equal(got, all) {
				t.Errorf("all: got %v, want %v", got, all)
			}
			if got := search(Search{Most: 10}); !slices.Equal(got, all[2:]) {
				t.Errorf("outstanding: got %v, want %v", got, all[2:])
			}
		}
		his := func(load *payload.Map) bool { return load.Str("user") == "me" }
		if got := search(Search{All: true, Most: 1, Want: his}); !slices.Equal(got, all[2:]) {
			t.Errorf("of one user: got %v, want %v", got, all[2:])
		}
		if got := search(Search{All: true, Most: 2}); len(got) != 2 {
			t.Errorf("two: got %v", got)
		}
	})
}

// TestNameReader: the minions are read off the packed job, however it was packed.
func TestNameReader(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 70000} {
		j := &job{load: ping(jid1)}
		for i := range n {
			j.minions = append(j.minions, strings.Repeat("x", []int{1, 40, 300}[i%3]))
		}
		packed, err := j.pack()
		if err != nil {
			t.Fatal(err)
		}
		r, ok := readNames(packed)
		if !ok || r.left != n {
			t.Fatalf("%d minions: got %d, %v", n, r.left, ok)
		}
		for i := range n {
			if name, ok := r.next(); !ok || string(name) != j.minions[i] {
				t.Fatalf("%d minions, name %d: got %q, %v", n, i, name, ok)
			}
		}
		if _, ok := r.next(); ok {
			t.Errorf("%d minions: there is one more", n)
		}
		for cut := range min(len(packed), 400) { // must not panic
			r, _ := readNames(packed[:cut])
			for ok := true; ok; {
				_, ok = r.next()
			}
		}
	}
}

// BenchmarkPending looks through a thousand jobs of a hundred minions each, one of them pending.
func BenchmarkPending(b *testing.B) {
	s := openStore(b, b.TempDir())
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("minion%04d", i))
	}
	for i := range 1000 {
		jid := fmt.Sprintf("2026112010532%07d", i)
		var returns []Return
		for _, id := range ids[max(0, i-998):] {
			returns = append(returns, answer(jid, id, true))
		}
		if _, err := s.Commit([]Load{{JID: jid, Load: ping(jid), Minions: ids, Announced: true}}, returns); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		found, _, err := s.Pending(Search{Most: 100, Stop: func() bool { return false }})
		if err != nil || len(found) == 0 {
			b.Fatalf("found %d, %v", len(found), err)
		}
	}
}
