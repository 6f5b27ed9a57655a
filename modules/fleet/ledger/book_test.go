package ledger

import (
	"fmt"
	"slices"
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
	newPorts(&b.Peers).to("a", 1, 2)
	b.Begin(Job{JID: "j", Fun: "test.ping", Tgt: "*", TgtType: "glob", User: "root", Request: 10, Work: 11,
		Announced: 12, Minions: []string{"a", "b"}, Missing: []string{"x"}})
	b.Note("j", func(j *Job) { j.Sealed, j.Sent = 13, 14 })
	got := disk.take(b, "j", 20)
	want := &Snapshot{Job: Job{JID: "j", Fun: "test.ping", Tgt: "*", TgtType: "glob", User: "root", Request: 10,
		Work: 11, Announced: 12, Sealed: 13, Sent: 14, Stored: 20, Missing: []string{"x"}}, Rows: map[string]*Row{},
		Links: &Links{Rest: LinkDown, Other: map[string]State{"a": LinkUp}}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
	if asks := b.Returned("j", "a", Return{At: 30, Worker: "w", Retcode: 1, Minion: &Minion{Received: 25, Outcome: Done,
		Offset: -3}}); asks != "" {
		t.Errorf("asks %q", asks)
	}
	b.Fired("j", "a", 31)
	got = disk.take(b, "j", 40)
	b.Kept("j", "a", 41, "")
	wantRow := &Row{ID: "a", Worker: "w", Returned: 30, Fired: 31, Stored: 40, Retcode: 1, Minion: &Minion{Received: 25,
		Outcome: Done, Offset: -3}}
	if diff := cmp.Diff(wantRow, got.Row("a"), cmpopts.IgnoreUnexported(Row{})); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if piece, err := b.Take("j", true); piece != nil || err != nil {
		t.Errorf("nothing is new, got %x, %v", piece, err)
	}
	if joined := got.Join(b.Snapshot("j")); joined.Row("a").Stored != 40 || joined.Job.Sent != 14 ||
		len(joined.Job.Minions) != 2 {
		t.Errorf("joined %+v", joined)
	}
}

// TestBookAgain: what could not be stored is offered once more.
// TestBookBatch publishes a job twice under one id, to other minions.
func TestBookBatch(t *testing.T) {
	b, disk := NewBook(Limits{Jobs: 100, Rows: 1000}), &stored{t: t}
	b.Peers.Start(1)
	l := newPorts(&b.Peers)
	l.to("b", 1, 2)
	b.Begin(Job{JID: "j", Fun: "test.ping", Announced: 12, Minions: []string{"b", "d"}})
	b.Note("j", func(j *Job) { j.Sealed, j.Sent = 13, 14 })
	disk.take(b, "j", 20)
	l.to("a", 1, 25)
	b.Begin(Job{JID: "j", Fun: "test.ping", Announced: 30, Minions: []string{"a", "c"}, Missing: []string{"x"}})
	if sent, known := b.Sent("j"); sent != 0 || !known {
		t.Errorf("sent %v, %v before the second publication is", sent, known)
	}
	b.Note("j", func(j *Job) { j.Sealed, j.Sent = 31, 32 })
	b.Returned("j", "a", Return{At: 40})
	disk.take(b, "j", 50)
	got := disk.take(b, "j", 60).Join(b.Snapshot("j"))
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got.Job.Minions); diff != "" || got.Job.Sent != 32 ||
		!b.Meant("j", "d") {
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
			t.Errorf("part %d: %d jobs, %d rows, counted %d, order %d", i, len(p.jobs), rows, p.rows,
				len(p.order)-p.head)
		}
	}
	if b.Snapshot("j0") != nil || b.Snapshot(fmt.Sprint("j", 1000*shards-1)) == nil {
		t.Error("the wrong jobs went")
	}
	b.Note("j0", func(*Job) { t.Error("of a job that is not known") })
}

// TestLargeJobsAreBounded: of jobs that mean a whole fleet a few stay, however many parts there are, and small ones
// beside them.
func TestLargeJobsAreBounded(t *testing.T) {
	const fleet, limit = 1000, 2000
	b := NewBook(Limits{Jobs: 100 * shards, Rows: limit})
	ids := make([]string, fleet)
	for i := range ids {
		ids[i] = fmt.Sprint("m", i)
	}
	for i := range 100 {
		small := fmt.Sprint("small", i)
		b.Begin(Job{JID: small})
		b.Returned(small, "m1", Return{At: 1})
		jid := fmt.Sprint("large", i)
		if i%2 == 0 {
			b.Begin(Job{JID: jid})
		}
		for n, id := range ids {
			if n%2 == 0 {
				b.Returned(jid, id, Return{At: 1})
			} else {
				b.NoteRow(jid, id, func(r *Row) { r.Returned = 1 })
			}
		}
	}
	rows, larges := 0, 0
	for i := range b.parts {
		p := &b.parts[i]
		for _, e := range p.jobs {
			rows += len(e.rows)
			if len(e.rows) == fleet {
				larges++
			}
		}
		if begun := len(p.order) - p.head; begun+p.strays.n != len(p.jobs) {
			t.Errorf("part %d: %d jobs, %d in order, %d strays", i, len(p.jobs), begun, p.strays.n)
		}
	}
	if int64(rows) != b.large.rows.Load() || rows > 2*limit || larges < 2 {
		t.Errorf("%d rows, counted %d, %d large jobs", rows, b.large.rows.Load(), larges)
	}
	if len(b.large.jids) != larges {
		t.Errorf("%d large jobs, known are %v", larges, b.large.jids)
	}
	if b.Snapshot("large99") == nil || b.Snapshot("large1") != nil || b.Snapshot("small99") == nil {
		t.Error("the wrong jobs went")
	}
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
				b.Peers.Subscribed("a", "A", uint64(i), Stamp(i))
				b.Peers.Unsubscribed("a", "A", uint64(i), Stamp(i))
				_, _ = b.TakeReturn(jid, fmt.Sprint("m", w), 1)
				_, _ = b.Take(jid, i%3 == 0)
				_ = b.Snapshot(jid)
				_ = b.Dirty()
			}
		})
	}
	wg.Wait()
}

// ports drives the ports of a test: n connections of an id, or of nobody knows whom.
type ports struct {
	*Peers
	last uint64
	of   map[string][]uint64
}

func newPorts(p *Peers) *ports { return &ports{Peers: p, of: map[string][]uint64{}} }

// to makes or ends connections until there are n.
func (l *ports) to(id string, n int, now Stamp) {
	for len(l.of[id]) < n {
		l.last++
		l.Connection(l.last, "192.0.2.1:7", true, now)
		if id != "" {
			l.Subscribed(id, "topic of "+id, l.last, now)
		}
		l.of[id] = append(l.of[id], l.last)
	}
	for len(l.of[id]) > n {
		if id != "" {
			l.Unsubscribed(id, "topic of "+id, 0, now)
		}
		l.Connection(l.of[id][0], "", false, now)
		l.of[id] = l.of[id][1:]
	}
}

func TestPeers(t *testing.T) {
	const u = 4 * blink
	var p Peers
	p.init()
	l := newPorts(&p)
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
	p.Connection(1000, "", true, 20*u)
	at("a", 15*u, LinkDown)      // nobody was
	at("a", 20*u-1, LinkUnknown) // this may be told late
	at("a", 25*u, LinkUnknown)
	p.Subscribed("a", "A", 1000, 20*u+1) // it was a
	at("a", 25*u, LinkUp)
	at("a", 20*u, LinkDown)
	at("b", 20*u, LinkDown)
	at("b", 25*u, LinkDown)
	l.to("a", 1, 30*u) // a second connection
	l.to("a", 0, 31*u)
	at("a", 35*u, LinkUp)
	l.to("a", 1, 32*u) // another minion of its id
	at("b", 35*u, LinkDown)
	l.to("a", 0, 40*u)
	p.Unsubscribed("a", "A", 0, 40*u)
	p.Connection(1000, "", false, 40*u)
	at("a", 39*u, LinkUp)
	at("a", 45*u, LinkDown)
	p.SignedIn("a", "denied", Reason{}, 49*u)
	if !p.Get("a").Linked {
		t.Error("a sign-in that came to nothing made another program of it")
	}
	p.SignedIn("a", "accept", Reason{}, 50*u)
	if p.Get("a").Linked || p.Get("a").Brine {
		t.Error("who signs in may be Salt's")
	}
	at("a", 60*u, LinkDown) // but nobody at all is connected
	l.to("", 1, 70*u)
	at("b", 65*u, LinkDown)
	at("a", 75*u, LinkUnknown)
	l.to("a", 1, 80*u)
	at("a", 85*u, LinkUp)
	at("b", 85*u, LinkUnknown)
	l.to("", 0, 90*u)
	at("b", 85*u, LinkUnknown)
	at("b", 95*u, LinkDown)
	at("b", 65*u, LinkDown)
	for i := range 4 {
		l.to("a", i%2, Stamp(100+i)*u)
	}
	at("a", 85*u, LinkUnknown) // too long ago
	at("a", 110*u, LinkUp)
	p.Start(120 * u)
	at("a", 110*u, LinkUnknown)
	at("a", 130*u, LinkDown)
}

// TestClaimsAreNoFacts: whoever ends what he has not begun, or says so often, changes nothing.
func TestClaimsAreNoFacts(t *testing.T) {
	const u = 4 * blink
	var p Peers
	p.init()
	p.Start(1)
	l := newPorts(&p)
	l.to("a", 1, u)
	topic := "topic of a"
	p.Connection(77, "", true, 2*u)
	for range 10 {
		if p.Unsubscribed("a", topic, 77, 2*u) {
			t.Error("the end of another's subscription was taken")
		}
	}
	if got := p.At("a", 3*u); got != LinkUp {
		t.Errorf("a: %v", got)
	}
	if p.Unsubscribed("a", "other", 0, 3*u) || p.Unsubscribed("never", topic, 0, 3*u) || p.Holds("a", "other") ||
		!p.Holds("a", topic) {
		t.Error("topics that nobody holds")
	}
	p.Subscribed("a", topic, 77, 4*u) // somebody has overheard it, and makes the most of it
	p.Subscribed("a", topic, 77, 4*u)
	for range 10 {
		p.Unsubscribed("a", topic, 77, 4*u)
	}
	if got := p.At("a", 5*u); got != LinkUp {
		t.Errorf("a: %v", got)
	}
	p.Connection(77, "", false, 6*u)
	l.to("a", 0, 7*u)
	if got := p.At("a", 8*u); got != LinkDown {
		t.Errorf("a has gone: %v", got)
	}
}

// TestRelink: the connection of somebody whose key is not the accepted one any more says nothing of the id.
func TestRelink(t *testing.T) {
	const u = 4 * blink
	var p Peers
	p.init()
	p.Start(1)
	newPorts(&p).to("a", 1, u)
	mine := func(topic string) bool { return topic == "new" }
	p.Relink("a", mine, 2*u)
	if got := p.At("a", 3*u); got != LinkDown || p.Holds("a", "topic of a") || len(p.Up()) != 0 {
		t.Errorf("after another key was accepted: %v, up %v", got, p.Up())
	}
	if got := p.At("b", 3*u); got != LinkUnknown {
		t.Errorf("somebody is connected, and is not known: %v", got)
	}
	p.Subscribed("a", "new", 50, 4*u)
	p.Unsubscribed("a", "topic of a", 0, 5*u) // the old one leaves
	if got := p.At("a", 6*u); got != LinkUp {
		t.Errorf("the new one: %v", got)
	}
	p.Relink("a", func(string) bool { return false }, 7*u)
	p.Relink("a", mine, 8*u)
	if got := p.At("a", 9*u); got != LinkUp {
		t.Errorf("its key is accepted again: %v", got)
	}
	p.Relink("never", mine, 9*u)
}

func TestUp(t *testing.T) {
	var p Peers
	p.init()
	p.Start(1)
	l := newPorts(&p)
	l.to("a", 1, 2)
	l.to("", 2, 2)
	p.Subscribed("b", "B", 999, 2) // its connection is not told yet
	if diff := cmp.Diff(map[string]string{"a": "192.0.2.1", "b": ""}, p.Up()); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}
	if n := p.Connections(); n != 3 {
		t.Errorf("%d connections", n)
	}
}

func TestGone(t *testing.T) {
	var p Peers
	p.init()
	p.Start(1)
	l := newPorts(&p)
	l.to("up", 1, 2)
	l.to("late", 1, 2)
	l.to("late", 0, 3)
	l.to("down", 1, 2)
	l.to("down", 0, 3)
	l.to("late", 1, 11) // it may have been on its way at 10
	if diff := cmp.Diff([]string{"down", "never"}, p.Gone([]string{"up", "late", "down", "never"}, 10)); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}
	l.to("", 1, 13) // somebody of Salt's joins
	if diff := cmp.Diff([]string{"down"}, p.Gone([]string{"up", "late", "down", "never"}, 14)); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}
}

func TestClock(t *testing.T) {
	var p Peers
	p.init()
	for _, tt := range []struct {
		sent, now Stamp
		want      int64
	}{{1000, 1500, 500}, {2000, 2100, 100}, {3000, 3900, 100}, {10_000, 3600_010_000, 3600_000_000},
		{20_000, 20_100, 100}} {
		if got := p.Clock("a", tt.sent, tt.now); got != tt.want {
			t.Errorf("%v: got %d", tt, got)
		}
	}
}

// TestClaimsAreBounded: what is said of ids by people without a key crowds out nothing that is known of minions.
func TestClaimsAreBounded(t *testing.T) {
	var p Peers
	p.init()
	real := map[string]bool{"up": true, "down": true, "busy": true, "refused": true}
	p.Accepted = func(id string) bool { return real[id] }
	p.Start(1)
	l := newPorts(&p)
	l.to("up", 1, 1)
	l.to("down", 1, 1)
	l.to("down", 0, 2)
	p.Worked("busy", "1", "test.ping", 2)
	p.Refused("refused", Reason{RefusedRequest, "clock"}, true, 2)
	for i := range 1 << 16 {
		p.SignedIn(fmt.Sprint("m", i), "pend", Reason{}, 3)
		p.Refused(fmt.Sprint("n", i), Reason{RefusedRequest, "no key"}, false, 3)
	}
	if len(p.claims) > maxClaims || len(p.byID) != len(real) {
		t.Errorf("%d claims, %d peers", len(p.claims), len(p.byID))
	}
	if p.Get("up").Up != 1 || p.At("down", 3) != LinkDown || p.Get("busy").JobJID != "1" ||
		p.Get("refused").RefusedAs.Text != "clock" {
		t.Errorf("up %+v, down %v, busy %+v", p.Get("up"), p.At("down", 3), p.Get("busy"))
	}
	p.Refused("refused", Reason{RefusedRequest, "no session"}, false, 4)
	if one := p.Get("refused"); one.RefusedAs.Text != "clock" || one.ClaimedAs.Text != "no session" {
		t.Errorf("refused %+v", one)
	}
	p.SignedIn("new", "pend", Reason{}, 4)
	real["new"] = true
	p.SignedIn("new", "accept", Reason{}, 5)
	if p.claims["new"] != nil || p.Get("new").SignAct != "accept" {
		t.Errorf("new %+v", p.Get("new"))
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
		book.Returned(jid, id, Return{At: Stamp(i), Worker: "MWorker-fast-1", Minion: &Minion{Received: 1, Started: 2,
			Ended: 3, Made: 4, Outcome: Done}})
		book.Fired(jid, id, Stamp(i))
		book.Kept(jid, id, Stamp(i), "")
		if _, err := book.TakeReturn(jid, id, Stamp(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestConnectionsInAnyOrder: the events of a connection, its subscription and the end of that come by two ways.
// Whatever comes first, once all is told the minion that is there is known, and nobody else is.
func TestConnectionsInAnyOrder(t *testing.T) {
	var p Peers
	p.init()
	p.Start(1)
	p.Subscribed("a", "A", 1, 2)
	p.Connection(1, "192.0.2.1:1", true, 2)
	p.Connection(1, "192.0.2.1:1", false, 3) // the end of another one that had its descriptor
	p.Connection(1, "192.0.2.1:1", true, 3)
	if p.nameless != 0 || p.Connections() != 1 || p.Up()["a"] != "192.0.2.1" {
		t.Errorf("came, went and came: %d nameless of %d, %v", p.nameless, p.Connections(), p.Up())
	}
	for conn := uint64(2); conn < 100; conn++ { // it connects anew before the end of the last is told
		now := Stamp(conn)
		p.Connection(conn, "192.0.2.1:2", true, now)
		p.Subscribed("a", "A", conn, now)
		p.Connection(conn-1, "", false, now)
		p.Unsubscribed("a", "A", 0, now)
	}
	if p.nameless != 0 || p.Connections() != 1 || len(p.conns) > 2 || len(p.vouched) > 2 ||
		len(p.byID["a"].links[0].conns) > 2 {
		t.Errorf("%d nameless, %v, %v, %+v", p.nameless, p.conns, p.vouched, p.byID["a"].links[0])
	}
	p.Unsubscribed("a", "A", 0, 100) // its end, and then the event
	if p.nameless != 1 || p.Get("a").Up != 0 {
		t.Errorf("%d nameless, %+v", p.nameless, p.Get("a"))
	}
	p.Connection(99, "", false, 101)
	if p.nameless != 0 || len(p.conns)+len(p.vouched)+p.Connections() != 0 {
		t.Errorf("after all: %d nameless, %v, %v", p.nameless, p.conns, p.vouched)
	}
}

// TestMinionsInAnyOrder: a job means its minions, in whatever order its target names them.
func TestMinionsInAnyOrder(t *testing.T) {
	b := NewBook(Limits{Jobs: 10, Rows: 10})
	ids := []string{"d", "B", "a", "C"}
	b.Begin(Job{JID: "j", Announced: 1, Minions: ids, Missing: []string{"z", "y"}})
	for _, id := range ids {
		if _, meant, _ := b.Stance("j", id); !meant || !b.Meant("j", id) {
			t.Errorf("%s is not meant", id)
		}
	}
	job, known := b.Job("j")
	if !known || !slices.IsSorted(job.Minions) || !slices.IsSorted(job.Missing) || ids[0] != "d" {
		t.Errorf("the job %+v, the list %q", job, ids)
	}
	if _, known := b.Job("other"); known {
		t.Error("a job that nobody has begun is known")
	}
}
