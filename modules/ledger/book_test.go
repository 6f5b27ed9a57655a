package ledger

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// stored takes what is new of a job as the store does, joined with what was stored before.
type stored struct {
	t      testing.TB
	pieces [][]byte
	at     []Stamp
}

func (s *stored) take(b *Book, jid string, at Stamp) *Snapshot {
	s.t.Helper()
	one, err := b.TakeReturn(jid, "a", at)
	if err != nil {
		s.t.Fatal(err)
	}
	piece, err := b.Take(jid, true)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, b := range [][]byte{piece, one} {
		if b != nil {
			s.pieces, s.at = append(s.pieces, b), append(s.at, at)
		}
	}
	got, err := Unpack(s.pieces, s.at)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

func TestBookAndStore(t *testing.T) {
	b, disk := NewBook(Limits{Jobs: 100, Rows: 1000}), &stored{t: t}
	b.Peers.Start(1)
	b.Peers.Named("a", 1, 2)
	b.Peers.Everything(1, 2)
	b.Begin(Job{JID: "j", Fun: "test.ping", Tgt: "*", TgtType: "glob", User: "root", Request: 10, Work: 11, Announced: 12,
		Minions: []string{"a", "b"}, Missing: []string{"x"}})
	b.Note("j", func(j *Job) { j.Sealed, j.Sent = 13, 14 })
	got := disk.take(b, "j", 20)
	want := &Snapshot{Job: Job{JID: "j", Fun: "test.ping", Tgt: "*", TgtType: "glob", User: "root", Request: 10, Work: 11, Announced: 12,
		Sealed: 13, Sent: 14, Stored: 20, Missing: []string{"x"}}, Rows: map[string]*Row{}, Links: &Links{Rest: LinkDown, Other: map[string]State{"a": LinkUp}}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
	if asks := b.Returned("j", "a", Return{At: 30, Worker: "w", Retcode: 1, Minion: &Minion{Received: 25, Outcome: Done, Offset: -3}}); asks != "" {
		t.Errorf("asks %q", asks)
	}
	b.Fired("j", "a", 31)
	got = disk.take(b, "j", 40)
	b.Kept("j", "a", 41, "")
	wantRow := &Row{ID: "a", Worker: "w", Returned: 30, Fired: 31, Stored: 40, Retcode: 1, Minion: &Minion{Received: 25, Outcome: Done, Offset: -3}}
	if diff := cmp.Diff(wantRow, got.Row("a"), cmpopts.IgnoreUnexported(Row{})); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if piece, err := b.Take("j", true); piece != nil || err != nil {
		t.Errorf("nothing is new, got %x, %v", piece, err)
	}
	if joined := got.Join(b.Snapshot("j")); joined.Row("a").Stored != 40 || joined.Job.Sent != 14 || len(joined.Job.Minions) != 2 {
		t.Errorf("joined %+v", joined)
	}
}

// TestBookAgain: what could not be stored is offered once more.
// TestBookBatch publishes a job twice under one id, to other minions.
func TestBookBatch(t *testing.T) {
	b, disk := NewBook(Limits{Jobs: 100, Rows: 1000}), &stored{t: t}
	b.Peers.Start(1)
	b.Peers.Named("b", 1, 2)
	b.Peers.Everything(1, 2)
	b.Begin(Job{JID: "j", Fun: "test.ping", Announced: 12, Minions: []string{"b", "d"}})
	b.Note("j", func(j *Job) { j.Sealed, j.Sent = 13, 14 })
	disk.take(b, "j", 20)
	b.Peers.Named("a", 1, 25)
	b.Begin(Job{JID: "j", Fun: "test.ping", Announced: 30, Minions: []string{"a", "c"}, Missing: []string{"x"}})
	if sent, known := b.Sent("j"); sent != 0 || !known {
		t.Errorf("sent %v, %v before the second publication is", sent, known)
	}
	b.Note("j", func(j *Job) { j.Sealed, j.Sent = 31, 32 })
	b.Returned("j", "a", Return{At: 40})
	disk.take(b, "j", 50)
	got := disk.take(b, "j", 60).Join(b.Snapshot("j"))
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got.Job.Minions); diff != "" || got.Job.Sent != 32 || !b.Meant("j", "d") {
		t.Errorf("sent %v, minions (-want +got):\n%s", got.Job.Sent, diff)
	}
	for id, want := range map[string]State{"a": LinkUp, "b": LinkUp, "c": LinkDown, "d": LinkDown} {
		if state := got.Links.Of(id); state != want {
			t.Errorf("%s: connected %v, want %v", id, state, want)
		}
	}
}

func TestBookAgain(t *testing.T) {
	b, disk := NewBook(Limits{100, 100}), &stored{t: t}
	b.Begin(Job{JID: "j", Fun: "f"})
	b.Returned("j", "a", Return{At: 1})
	if _, err := b.Take("j", true); err != nil {
		t.Fatal(err)
	}
	b.Again("j")
	b.Again("unknown")
	if got := b.Dirty(); len(got) != 1 || got[0] != "j" {
		t.Errorf("dirty %v", got)
	}
	if got := disk.take(b, "j", 5); got.Job.Fun != "f" || got.Row("a").Returned != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestBookRepeatedReturn(t *testing.T) {
	b := NewBook(Limits{100, 100})
	b.Begin(Job{JID: "q", Asks: "j"})
	if asks := b.Returned("q", "a", Return{At: 1}); asks != "j" {
		t.Errorf("asks %q", asks)
	}
	b.Returned("q", "a", Return{At: 2})
	if r := b.Snapshot("q").Row("a"); r.Returned != 1 || r.Again != 1 {
		t.Errorf("got %+v", r)
	}
	b.Kept("q", "a", 0, "disk full")
	b.Kept("q", "nobody", 0, "disk full")
	if r := b.Snapshot("q").Row("a"); r.Lost != "disk full" {
		t.Errorf("got %+v", r)
	}
}

// TestBookIsBounded: the oldest jobs go, whichever limit is reached.
func TestBookIsBounded(t *testing.T) {
	b := NewBook(Limits{Jobs: 10 * shards, Rows: 100 * shards})
	for i := range 1000 * shards {
		jid := fmt.Sprint("j", i)
		b.Begin(Job{JID: jid})
		for n := range i % 30 {
			b.Returned(jid, fmt.Sprint("m", n), Return{At: 1})
		}
	}
	for i := range b.parts {
		p := &b.parts[i]
		rows := 0
		for _, e := range p.jobs {
			rows += len(e.rows)
		}
		if len(p.jobs) > 10 || rows != p.rows || rows > 100+30 || len(p.order)-p.head != len(p.jobs) {
			t.Errorf("part %d: %d jobs, %d rows, counted %d, order %d", i, len(p.jobs), rows, p.rows, len(p.order)-p.head)
		}
	}
	if b.Snapshot("j0") != nil || b.Snapshot(fmt.Sprint("j", 1000*shards-1)) == nil {
		t.Error("the wrong jobs went")
	}
	b.Note("j0", func(*Job) { t.Error("of a job that is not known") })
}

func TestBookManyRows(t *testing.T) {
	b := NewBook(Limits{100, 10})
	for i := range 100 {
		b.NoteRow("j", fmt.Sprint("m", i), func(r *Row) { r.Returned = Stamp(i + 1) })
	}
	s := b.Snapshot("j")
	for i := range 100 {
		if r := s.Row(fmt.Sprint("m", i)); r == nil || r.Returned != Stamp(i+1) {
			t.Fatalf("row %d: %+v", i, r)
		}
	}
}

func TestBookConcurrent(t *testing.T) {
	b := NewBook(Limits{64, 640})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				jid := fmt.Sprint("j", i%50)
				b.Begin(Job{JID: jid, Minions: []string{"a"}})
				b.Note(jid, func(j *Job) { j.Sent = 1 })
				b.Returned(jid, fmt.Sprint("m", w), Return{At: 1, Minion: &Minion{Received: 1}})
				b.Kept(jid, fmt.Sprint("m", w), 2, "")
				b.Peers.Named("a", i%2, Stamp(i))
				_, _ = b.TakeReturn(jid, fmt.Sprint("m", w), 1)
				_, _ = b.Take(jid, i%3 == 0)
				_ = b.Snapshot(jid)
				_ = b.Dirty()
			}
		})
	}
	wg.Wait()
}

func TestPeers(t *testing.T) {
	const u = 4 * blink
	var p Peers
	p.init()
	at := func(id string, when Stamp, want State) {
		t.Helper()
		if got := p.At(id, when); got != want {
			t.Errorf("%s at %d: got %v, want %v", id, when/u, got, want)
		}
	}
	at("a", 5*u, LinkUnknown) // nothing is seen yet
	p.Start(10 * u)
	at("a", 5*u, LinkUnknown)
	at("a", 15*u, LinkDown) // nobody is connected
	p.Everything(1, 20*u)
	at("a", 15*u, LinkDown)      // nobody was
	at("a", 20*u-1, LinkUnknown) // this may be told late
	at("a", 25*u, LinkUnknown)
	p.Named("a", 1, 20*u+1) // it was a
	at("a", 25*u, LinkUp)
	at("a", 20*u, LinkDown)
	at("b", 20*u, LinkDown)
	at("b", 25*u, LinkDown)
	p.Named("a", 2, 30*u) // a second connection
	p.Named("a", 1, 31*u)
	at("a", 35*u, LinkUp)
	p.Everything(2, 32*u) // another minion of its id
	p.Named("a", 2, 32*u)
	at("b", 35*u, LinkDown) // it is not one without a name
	p.Named("a", 0, 40*u)
	p.Everything(0, 40*u)
	at("a", 39*u, LinkUp)
	at("a", 45*u, LinkDown)
	p.SignedIn("a", "accept", "", 50*u)
	if p.Get("a").Brine {
		t.Error("who signs in may be Salt's")
	}
	at("a", 60*u, LinkDown) // but nobody at all is connected
	p.Everything(1, 70*u)
	at("b", 65*u, LinkDown)
	at("a", 75*u, LinkUnknown)
	p.Everything(2, 71*u)
	p.Named("a", 1, 80*u)
	at("a", 85*u, LinkUp)
	at("b", 85*u, LinkUnknown)
	p.Everything(1, 90*u)
	at("b", 85*u, LinkUnknown)
	at("b", 95*u, LinkDown)
	at("b", 65*u, LinkDown)
	for i := range 4 {
		p.Named("a", i%2, Stamp(100+i)*u)
	}
	at("a", 85*u, LinkUnknown) // too long ago
	at("a", 110*u, LinkUp)
	p.Start(120 * u)
	at("a", 110*u, LinkUnknown)
	at("a", 130*u, LinkDown)
}

func TestGone(t *testing.T) {
	var p Peers
	p.init()
	p.Start(1)
	p.Named("up", 1, 2)
	p.Named("late", 1, 2)
	p.Named("late", 0, 3)
	p.Named("down", 1, 2)
	p.Named("down", 0, 3)
	p.Everything(1, 4)
	p.Named("late", 1, 11) // it may have been on its way at 10
	p.Everything(2, 12)
	if diff := cmp.Diff([]string{"down", "never"}, p.Gone([]string{"up", "late", "down", "never"}, 10)); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}
	p.Everything(3, 13) // somebody of Salt's joins
	if diff := cmp.Diff([]string{"down"}, p.Gone([]string{"up", "late", "down", "never"}, 14)); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}
}

// TestFilteringPeers: Salt's minions that filter subscribe to the hash of their id.
func TestFilteringPeers(t *testing.T) {
	const sum = "ae23b94ccaf714337e4ce5ba99ef3dc257e300df" // of m1
	var p Peers
	p.init()
	p.Start(1)
	p.Everything(2, 2) // m1 and somebody without any name
	p.Hashed(sum, 1, 3)
	p.Hashed(sum, 0, 10)
	p.Everything(1, 10)
	for when, want := range map[Stamp]State{2: LinkDown, 5: LinkUp, 15: LinkDown} {
		if got := p.At("m1", when); got != want {
			t.Errorf("at %d: got %v, want %v", when, got, want)
		}
	}
	if diff := cmp.Diff([]string{"m1"}, p.Gone([]string{"m1", "other"}, 15)); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	p.Named("m1", 1, 20) // now it is brine's
	if got := p.At("m1", 25); got != LinkUp {
		t.Errorf("got %v", got)
	}
}

func TestClock(t *testing.T) {
	var p Peers
	p.init()
	for _, tt := range []struct {
		sent, now Stamp
		want      int64
	}{{1000, 1500, 500}, {2000, 2100, 100}, {3000, 3900, 100}, {10_000, 3600_010_000, 3600_000_000}, {20_000, 20_100, 100}} {
		if got := p.Clock("a", tt.sent, tt.now); got != tt.want {
			t.Errorf("%v: got %d", tt, got)
		}
	}
}

func TestPeersAreBounded(t *testing.T) {
	var p Peers
	p.init()
	p.Named("up", 1, 1)
	for i := range maxPeers + 1000 {
		p.SignedIn(fmt.Sprint("m", i), "pend", "", 1)
	}
	if len(p.byID) > maxPeers || p.Get("up").Up != 1 {
		t.Errorf("%d peers, up %+v", len(p.byID), p.Get("up"))
	}
}

func FuzzUnpack(f *testing.F) {
	b := NewBook(Limits{100, 100})
	b.Begin(Job{JID: "j", Sent: 3, Minions: []string{"a"}, Client: &Client{Seen: map[string]Stamp{"a": 1}}})
	b.Returned("j", "a", Return{At: 1, Minion: &Minion{Received: 2}})
	piece, err := b.Take("j", true)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(piece)
	b.Returned("j", "b", Return{At: 1, Worker: "w", Minion: &Minion{Received: 2, Detail: "x"}})
	if piece, err = b.TakeReturn("j", "b", 3); err != nil {
		f.Fatal(err)
	}
	f.Add(piece)
	f.Fuzz(func(t *testing.T, piece []byte) {
		s, err := Unpack([][]byte{piece, piece}, []Stamp{1, 2})
		if err != nil {
			return
		}
		Trace(s, []string{"b"})
		for id := range s.Rows {
			Why(Case{Now: 1, ID: id, Job: s, Key: "accepted"})
		}
	})
}

// BenchmarkReturn is what the ledger adds to a return: the facts, and the piece for the store in groups of 100.
func BenchmarkReturn(b *testing.B) {
	book := NewBook(Limits{4096, 32768})
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = fmt.Sprint("minion", i)
	}
	for i := range b.N {
		jid, id := fmt.Sprint("2026010212000000", i/1000), ids[i%1000]
		if i%1000 == 0 {
			book.Begin(Job{JID: jid, Minions: ids})
		}
		book.Returned(jid, id, Return{At: Stamp(i), Worker: "MWorker-fast-1", Minion: &Minion{Received: 1, Started: 2, Ended: 3, Made: 4, Outcome: Done}})
		book.Fired(jid, id, Stamp(i))
		book.Kept(jid, id, Stamp(i), "")
		if _, err := book.TakeReturn(jid, id, Stamp(i)); err != nil {
			b.Fatal(err)
		}
	}
}
