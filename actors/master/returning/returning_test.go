package returning

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/returners"
	"brine/modules/returners/queue"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

const patience = time.Minute

var errNo = errors.New("password is Sesame")

// taker stands for returners: it remembers what each has taken.
type taker struct {
	turn  chan struct{} // holds one, for who uses the rest
	got   map[string][]string
	sizes map[string][]int
	fail  func(name string, texts []string) error // nil: nothing fails
}

func newTaker() *taker {
	return &taker{turn: make(chan struct{}, 1), got: map[string][]string{}, sizes: map[string][]int{}}
}

func (k *taker) hand(ctx context.Context, name string, items []queue.Item) (int, error) {
	texts := make([]string, len(items))
	for i, it := range items {
		texts[i] = string(it.Body)
	}
	if k.fail != nil {
		if err := k.fail(name, texts); err != nil {
			return 0, err
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	k.got[name] = append(k.got[name], texts...)
	k.sizes[name] = append(k.sizes[name], len(texts))
	return len(texts), nil
}

func (k *taker) taken(name string) []string {
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	return slices.Clone(k.got[name])
}

// rig is a part whose records come from the test.
type rig struct {
	testing.TB
	*Part
	opt   Options
	log   *logText
	sup   *supervisor.Supervisor
	crash *actortest.Crasher
	fired chan *payload.Map
}

// logText is a log.
type logText struct {
	turn chan struct{} // holds one, for who uses the rest
	text strings.Builder
}

func (l *logText) Write(b []byte) (int, error) {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return l.text.Write(b)
}

func (l *logText) String() string {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return l.text.String()
}

// newRig makes options for some returners.
func newRig(t testing.TB, k *taker, names ...string) *rig {
	t.Helper()
	r := &rig{TB: t, log: &logText{turn: make(chan struct{}, 1)}, fired: make(chan *payload.Map, 100)}
	r.opt = Options{Name: "EventReturn", What: "events", Queue: queue.Options{Dir: t.TempDir(), Readers: names,
		Memory: 1 << 20}, Most: 100, Hand: k.hand, Hopeless: returners.Hopeless, Mask: func(text string) string {
		return strings.ReplaceAll(text, "Sesame", "*")
	},
		Fire: func(_ string, data *payload.Map) { r.fired <- data }, Log: slog.New(slog.NewTextHandler(r.log, nil))}
	return r
}

func (r *rig) start() {
	r.Helper()
	var err error
	if r.Part, err = New(r.opt); err != nil {
		r.Fatal(err)
	}
	r.sup = supervisor.Start(supervisor.NewSystem(slog.New(slog.DiscardHandler)), supervisor.Options{Name: "master",
		Chaos: true, RestartDelayMax: 5 * time.Millisecond})
	spec := r.Child()
	r.crash = actortest.NewCrasher(spec.New)
	spec.New = r.crash.New
	actortest.Add(r, r.sup, spec)
}

func (r *rig) stop() {
	r.Helper()
	if rep := r.sup.Stop(10 * time.Second); len(rep.Abandoned) > 0 {
		r.Errorf("abandoned: %v", rep.Abandoned)
	}
	if err := r.Close(); err != nil {
		r.Error(err)
	}
}

func (r *rig) eventually(what string, so func() bool) {
	r.Helper()
	end := time.After(patience)
	for !so() {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-end:
			r.Fatalf("never: %s; %s\n%s", what, r.summary(), r.log.String())
		}
	}
}

func numbers(from, to int) (out []string) {
	for n := from; n < to; n++ {
		out = append(out, fmt.Sprint(n))
	}
	return out
}

// A returner that fails, and one that never answers, hold up no other one; the tree and the log name them, without
// secrets. What they could not take they get from the next process.
func TestHeldUp(t *testing.T) {
	k := newTaker()
	k.fail = func(name string, _ []string) error {
		if name == "bad" {
			return errNo
		}
		return nil
	}
	stuck := make(chan struct{})
	r := newRig(t, k, "good", "bad", "stuck")
	r.opt.Hand = func(ctx context.Context, name string, items []queue.Item) (int, error) {
		if name == "stuck" {
			close(stuck)
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return k.hand(ctx, name, items)
	}
	r.start()
	for _, text := range numbers(0, 500) {
		r.Keep([]byte(text))
	}
	<-stuck
	r.eventually("the good one has all", func() bool { return len(k.taken("good")) == 500 })
	r.eventually("the bad one is named", func() bool {
		return strings.Contains(r.sup.Snapshot()[0].Note, "bad: 500 wait, fails")
	})
	lines := r.log.String()
	if !strings.Contains(lines, "returner=bad") || strings.Contains(lines, "Sesame") {
		t.Error(lines)
	}
	r.stop()
	k.fail = nil
	r.opt.Hand = k.hand
	r.start()
	for _, name := range []string{"bad", "stuck"} {
		r.eventually(name+" has all", func() bool { return len(k.taken(name)) == 500 })
	}
	r.stop()
	for _, name := range []string{"good", "bad", "stuck"} {
		if got := k.taken(name); !slices.Equal(got, numbers(0, 500)) {
			t.Errorf("%s: %d records, or another order", name, len(got))
		}
	}
}

// TestKilled lets the actor die twenty times while two thousand records come: each reaches the returner, and none
// twice: a call that was under way when the actor died has ended before the next one.
func TestKilled(t *testing.T) {
	k := newTaker()
	r := newRig(t, k, "one")
	r.start()
	const total, deaths = 2000, 20
	for n, text := range numbers(0, total) {
		r.Keep([]byte(text))
		if n%(total/deaths) == 50 {
			died := restarts(r.sup.Snapshot())
			if n%200 == 50 {
				r.crash.Panic(&KeepRecord{})
			} else {
				r.crash.Panic(&recordsHanded{})
			}
			r.Keep([]byte("more"))
			r.eventually("a death", func() bool { return restarts(r.sup.Snapshot()) > died })
		}
	}
	r.eventually("all are taken", func() bool { return r.mailed.Load() == 0 && r.queue.Next("one") == total+deaths })
	r.stop()
	seen := map[string]int{}
	for _, text := range k.taken("one") {
		seen[text]++
	}
	for _, text := range numbers(0, total) {
		if seen[text] != 1 {
			t.Errorf("record %s: %d times", text, seen[text])
		}
	}
}

// TestOutcomeOfBefore: the outcome of a call that an incarnation which died has made, and that its successor hears, is
// not taken for that of its own: the records in hand would be handed over once more.
func TestOutcomeOfBefore(t *testing.T) {
	k := newTaker()
	r := newRig(t, k, "one")
	began, release := make(chan bool, 10), make(chan bool)
	r.opt.Hand = func(ctx context.Context, name string, items []queue.Item) (int, error) {
		began <- true
		<-release
		return k.hand(ctx, name, items)
	}
	r.start()
	r.Keep([]byte("0"))
	<-began
	r.ref.Load().Send(&recordsHanded{of: 0, returner: "one"})
	r.Keep([]byte("1"))
	r.eventually("both are kept", func() bool { return r.mailed.Load() == 0 })
	close(release)
	r.eventually("both are taken", func() bool { return r.queue.Next("one") == 2 })
	r.stop()
	if got := k.taken("one"); !slices.Equal(got, numbers(0, 2)) {
		t.Errorf("got %v", got)
	}
}

func restarts(all []stats.Child) (n int) {
	for _, c := range all {
		n += c.Restarts
	}
	return n
}

// Fewer than Least wait for the time, or for the end.
func TestLeast(t *testing.T) {
	k := newTaker()
	r := newRig(t, k, "one")
	r.opt.Least, r.opt.MaxWait = 10, 50*time.Millisecond
	r.start()
	for _, text := range numbers(0, 3) {
		r.Keep([]byte(text))
	}
	r.eventually("by time", func() bool { return len(k.taken("one")) == 3 })
	r.stop()
	r.opt.MaxWait = 0
	r.start()
	for _, text := range numbers(3, 15) {
		r.Keep([]byte(text))
	}
	r.eventually("by number", func() bool { return len(k.taken("one")) >= 13 })
	r.Keep([]byte("15"))
	r.eventually("it is written", func() bool { return r.mailed.Load() == 0 })
	before := len(k.taken("one"))
	r.stop()
	if got := k.taken("one"); !slices.Equal(got, numbers(0, 16)) || before == 16 {
		t.Errorf("%d before the end, then %v", before, got)
	}
}

// A record that its returner will never take, or that it fails of, is dropped, counted and named; the others are taken.
func TestPoison(t *testing.T) {
	k := newTaker()
	k.fail = func(_ string, texts []string) error {
		if slices.Contains(texts, "7") {
			return &returners.Unusable{Err: errNo}
		}
		return nil
	}
	r := newRig(t, k, "one")
	r.opt.Least = 20
	r.start()
	for _, text := range numbers(0, 20) {
		r.Keep([]byte(text))
	}
	r.eventually("the others are taken", func() bool { return len(k.taken("one")) == 19 })
	if data := <-r.fired; data.Str("returner") != "one" || data.Str("why") != "password is *" {
		t.Errorf("got %v", data)
	}
	if note := r.summary(); note != "one: 0 wait, 1 dropped" {
		t.Error(note)
	}
	r.stop()
}

// What a returner fails of for reasons that it does not know itself is found by what it makes of the next record.
func TestDoubt(t *testing.T) {
	k := newTaker()
	k.fail = func(_ string, texts []string) error {
		if slices.Contains(texts, "0") {
			return errNo
		}
		return nil
	}
	r := newRig(t, k, "one")
	r.start()
	r.ripe.Store(0)
	if err := r.Append(false, []byte("0"), []byte("1"), []byte("2")); err != nil {
		t.Fatal(err)
	}
	if m := r.hand(t.Context(), "one", 3, doubtAfter+1); m.err == nil || r.settle(m) {
		t.Errorf("got %+v", m)
	}
	if m := r.hand(t.Context(), "one", 3, doubtAfter); m.err != nil || !r.settle(m) {
		t.Errorf("got %+v", m)
	}
	if got := r.summary(); !strings.Contains(got, "1 dropped") {
		t.Error(got)
	}
	r.stop()
}

// TestPanic: a returner that panics has failed; the actor lives.
func TestPanic(t *testing.T) {
	k := newTaker()
	k.fail = func(name string, _ []string) error {
		if name == "bad" {
			panic("oh")
		}
		return nil
	}
	r := newRig(t, k, "bad", "good")
	r.start()
	r.Keep([]byte("0"))
	r.eventually("the good one has it", func() bool { return len(k.taken("good")) == 1 })
	r.eventually("the bad one is named", func() bool { return strings.Contains(r.log.String(), "panic: oh") })
	if n := restarts(r.sup.Snapshot()); n != 0 {
		t.Errorf("%d deaths", n)
	}
	r.stop()
}

// TestMemory lets a hundred thousand events come beside a returner that takes none, on a disk that keeps 8 MiB: memory
// stays where it is, the drops are counted, and who waits for the first returner does not wait for the other.
func TestMemory(t *testing.T) {
	k := newTaker()
	r := newRig(t, k, "good", "away")
	r.opt.Queue.MaxBytes = 8 << 20
	block := make(chan struct{})
	var good int
	r.opt.Hand = func(ctx context.Context, name string, items []queue.Item) (int, error) {
		if name == "away" {
			select {
			case <-block:
			case <-ctx.Done():
			}
			return 0, errNo
		}
		good += len(items)
		return len(items), nil
	}
	r.start()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const total = 100_000
	body := strings.Repeat("e", 400)
	for range total {
		for r.mailed.Load() > maxMailed/2 || r.queue.End()-r.queue.Next("good") > 5000 {
			runtime.Gosched()
		}
		r.Keep([]byte(body))
	}
	r.eventually("the good one has all", func() bool { return r.queue.Next("good") == total })
	if err := r.Handed(t.Context(), "good"); err != nil {
		t.Error(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 8<<20 {
		t.Errorf("%d bytes more", more)
	}
	close(block)
	r.stop()
	if good != total || !strings.Contains(r.summary(), "dropped") {
		t.Errorf("%d of %d; %s", good, total, r.summary())
	}
	if disk, _ := r.queue.Bytes(); disk > 8<<20 {
		t.Errorf("%d bytes on disk", disk)
	}
}

// Salt's filter: a whitelist lets only its own through, the blacklist takes out of that.
func TestWants(t *testing.T) {
	for _, row := range []struct {
		allow, deny []string
		tag         string
		want        bool
	}{
		{nil, nil, "salt/auth", true},
		{[]string{"salt/job/*"}, nil, "salt/auth", false},
		{[]string{"salt/job/*"}, nil, "salt/job/1/ret/a", true},
		{[]string{"salt/job/*"}, []string{"*/ret/*"}, "salt/job/1/ret/a", false},
		{nil, []string{"salt/[ab]uth"}, "salt/auth", false},
		{nil, []string{"SALT/*"}, "salt/auth", true},
		{[]string{"a?c"}, nil, "a\nc", true},
	} {
		e := &Events{}
		for _, p := range row.allow {
			e.Allow = append(e.Allow, fnmatch.Compile(p))
		}
		for _, p := range row.deny {
			e.Deny = append(e.Deny, fnmatch.Compile(p))
		}
		if got := e.Wants(row.tag); got != row.want {
			t.Errorf("%v: got %v", row, got)
		}
	}
}

// What a returner gets of an event is what Salt's gets.
func TestHand(t *testing.T) {
	var got []any
	e := &Events{Call: func(_ context.Context, _ string, events []any) error {
		got = events
		return nil
	}}
	body, err := event.Pack("a/b", payload.M("x", int64(1), "_stamp", "now"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := e.Hand(t.Context(), "r", []queue.Item{{Body: body}}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if want := []any{payload.M("data", payload.M("x", int64(1), "_stamp", "now"), "tag", "a/b")}; !payload.Equal(got,
		want) {
		t.Errorf("got %v", got)
	}
	if _, err := e.Hand(t.Context(), "r", []queue.Item{{Body: []byte("no event")}}); !returners.Hopeless(err) {
		t.Errorf("got %v", err)
	}
}
