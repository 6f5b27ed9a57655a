package backlog

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/wire/disk/recordlog"
	"brine/wire/disk/setaside"
	"brine/wire/event"
	"brine/wire/payload"
)

func body(t testing.TB, tag string, n int) []byte {
	t.Helper()
	b, err := event.Pack(tag, payload.M("n", int64(n)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t testing.TB, path string, l Limits) *Backlog {
	t.Helper()
	b, err := Open(path, l, func(tag string) string { return tag }, func(d setaside.Damage) { t.Error(d) })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func keep(t testing.TB, b *Backlog, tag string, n int) {
	t.Helper()
	if kept, err := b.Keep(tag, body(t, tag, n)); err != nil || !kept {
		t.Fatal(kept, err)
	}
}

// take takes an event and tells its number.
func take(t testing.TB, b *Backlog) (Event, int) {
	t.Helper()
	ev, ok := b.Take()
	if !ok {
		return ev, -1
	}
	_, data, err := event.Unpack(ev.Body)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := data.Int("n")
	return ev, int(n)
}

func none(t testing.TB, b *Backlog) {
	t.Helper()
	if _, n := take(t, b); n != -1 {
		t.Errorf("event %d is handed out", n)
	}
}

// TestLanes: events of a lane come one after another, others meanwhile.
func TestLanes(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "b"), Limits{})
	for i, tag := range []string{"a", "a", "b", "a"} {
		keep(t, b, tag, i)
	}
	first, n := take(t, b)
	other, m := take(t, b)
	if n != 0 || m != 2 {
		t.Fatalf("got %d, %d", n, m)
	}
	none(t, b)
	b.Free(first.Seq)
	second, n := take(t, b)
	if n != 1 {
		t.Fatalf("got %d", n)
	}
	b.Return(second.Seq)
	again, n := take(t, b)
	if n != 1 || again.Tries != 1 {
		t.Fatalf("got %d, %d tries", n, again.Tries)
	}
	b.Free(again.Seq)
	for _, ev := range []Event{first, other, again} {
		b.Settle(ev.Seq)
		b.Settle(ev.Seq) // of no effect
	}
	last, n := take(t, b)
	if n != 3 {
		t.Fatalf("got %d", n)
	}
	b.Settle(last.Seq)
	none(t, b)
	if n, bytes := b.Waiting(); n != 0 || bytes != 0 || len(b.lanes) > 1 {
		t.Errorf("%d events, %d bytes, %d lanes are left", n, bytes, len(b.lanes))
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(b.log.path); err != nil || info.Size() != recordlog.Begin {
		t.Errorf("the file is left with %v", info)
	}
}

// TestReopened: what was not done with comes again after the process has died, in order, with what was begun.
func TestReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b")
	b := open(t, path, Limits{})
	for i := range 5 {
		keep(t, b, "a", i)
	}
	ev, _ := take(t, b)
	b.Settle(ev.Seq)
	b.Free(ev.Seq)
	b = open(t, path, Limits{}) // as after kill -9: nothing was closed
	ev, n := take(t, b)
	if n != 1 {
		t.Fatalf("got %d: a lane whose first event was settled before it was freed", n)
	}
	if state, jid := b.Begin(ev.Seq, "c1", "j1"); state != Mine || jid != "j1" {
		t.Fatal(state, jid)
	}
	if state, jid := b.Begin(ev.Seq, "c1", "j2"); state != Begun || jid != "j1" {
		t.Fatal(state, jid)
	}
	b = open(t, path, Limits{})
	for want := 1; want < 5; want++ {
		ev, n := take(t, b)
		if n != want {
			t.Fatalf("got %d, want %d", n, want)
		}
		if want == 1 {
			if state, jid := b.Begin(ev.Seq, "c1", "j3"); state != Before || jid != "j1" {
				t.Fatal(state, jid)
			}
			if state, jid := b.Begin(ev.Seq, "c1", "j3"); state != Begun || jid != "j1" {
				t.Fatal(state, jid)
			}
			if state, _ := b.Begin(ev.Seq, "c2", "j4"); state != Mine {
				t.Fatal(state)
			}
			b.End(ev.Seq, "c2")
			again := open(t, path, Limits{})
			if state, jid := again.Begin(ev.Seq, "c2", "j5"); state != Begun || jid != "j4" {
				t.Fatal(state, jid)
			}
		}
		b.Free(ev.Seq)
		b.Settle(ev.Seq)
	}
	if state, _ := b.Begin(ev.Seq, "c3", "j"); state != Begun {
		t.Error("a call of an event that is done with is begun")
	}
}

// TestRecall: whoever had events is dead; they come again in their order.
func TestRecall(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "b"), Limits{})
	for i := range 6 {
		keep(t, b, []string{"a", "b"}[i%2], i)
	}
	for range 2 {
		ev, _ := take(t, b)
		b.Free(ev.Seq) // their lanes go on, they are not done with
	}
	take(t, b)
	b.Recall()
	got := map[string][]int{}
	for range 6 {
		ev, n := take(t, b)
		got[ev.Tag] = append(got[ev.Tag], n)
		b.Free(ev.Seq)
		b.Settle(ev.Seq)
	}
	if !slices.Equal(got["a"], []int{0, 2, 4}) || !slices.Equal(got["b"], []int{1, 3, 5}) {
		t.Errorf("got %v", got)
	}
	none(t, b)
}

// TestFull: what is bounded is bounded, and there is room again.
func TestFull(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "b"), Limits{Events: 2})
	keep(t, b, "a", 0)
	keep(t, b, "a", 1)
	if kept, err := b.Keep("a", body(t, "a", 2)); kept || !errors.Is(err, ErrFull) {
		t.Fatal(kept, err)
	}
	ev, _ := take(t, b)
	b.Settle(ev.Seq)
	b.Free(ev.Seq)
	keep(t, b, "a", 3)
	b = open(t, filepath.Join(t.TempDir(), "c"), Limits{Bytes: 100})
	if kept, err := b.Keep("a", make([]byte, 101)); kept || !errors.Is(err, ErrFull) {
		t.Fatal(kept, err)
	}
}

// TestDiskFails: an event that the disk does not take is kept in memory, as far as there is room.
func TestDiskFails(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "b"), Limits{Memory: 60})
	if err := b.log.f.Close(); err != nil { // from now on every write fails
		t.Fatal(err)
	}
	one := body(t, "a", 1)
	if kept, err := b.Keep("a", one); !kept || err == nil {
		t.Fatal(kept, err)
	}
	if kept, err := b.Keep("a", make([]byte, 60)); kept || err == nil {
		t.Fatal(kept, err)
	}
	ev, n := take(t, b)
	if n != 1 || string(ev.Body) != string(one) {
		t.Fatalf("got %d", n)
	}
	if state, _ := b.Begin(ev.Seq, "c", "j"); state != Mine {
		t.Error(state)
	}
	b.Settle(ev.Seq)
	if n, bytes := b.Waiting(); n != 0 || bytes != 0 || b.memory != 0 {
		t.Errorf("%d, %d, %d are left", n, bytes, b.memory)
	}
}

// TestDamaged: whatever stands in the file, the events that are whole come, whether before or behind the damage, and
// the next events do, too. The damage is told of, once, and the file is kept as it was.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b")
	b := open(t, path, Limits{})
	ends := []int{recordlog.Begin}
	for i := range 3 {
		keep(t, b, "a", i)
		ends = append(ends, int(b.log.size))
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, text []byte, from, to int, told bool) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "b")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var damages []setaside.Damage
		b, err := Open(path, Limits{}, func(string) string {
			return "one"
		}, func(d setaside.Damage) { damages = append(damages, d) })
		if err != nil {
			t.Fatal(name, err)
		}
		waiting := 1
		for i := range 3 {
			if ends[i+1] > from && ends[i] < to {
				continue
			}
			ev, n := take(t, b)
			if n != i {
				t.Fatalf("%s: got %d, want %d", name, n, i)
			}
			b.Free(ev.Seq)
			waiting++
		}
		none(t, b)
		keep(t, b, "b", 9)
		if err := b.log.close(); err != nil { // the process dies
			t.Fatal(err)
		}
		if told != (len(damages) == 1) {
			t.Errorf("%s: told of %v", name, damages)
		}
		for _, d := range damages {
			if kept, err := os.ReadFile(d.Kept); err != nil || string(kept) != string(text) {
				t.Errorf("%s: %s does not hold what was there: %v", name, d.Kept, err)
			}
		}
		b = open(t, path, Limits{})
		if n, _ := b.Waiting(); n != waiting {
			t.Fatalf("%s: %d events after it, want %d", name, n, waiting)
		}
		_ = b.log.close()
	}
	check("empty", nil, 0, len(whole), true)
	for cut := recordlog.Begin; cut < len(whole); cut += 3 {
		check(fmt.Sprintf("cut at %d", cut), whole[:cut], cut, len(whole), !slices.Contains(ends, cut))
		check(fmt.Sprintf("another bit at %d", cut), slices.Concat(whole[:cut], []byte{whole[cut] ^ 1}, whole[cut+1:]),
			cut, cut+1, true)
		check(fmt.Sprintf("garbage at %d", cut), slices.Concat(whole[:cut],
			[]byte("garbage that is longer than a head")), cut, len(whole), true)
	}
}

// TestDamagedMeanwhile: an event that cannot be read any more is not handed out, and is told of.
func TestDamagedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b")
	var damages []setaside.Damage
	b, err := Open(path, Limits{}, func(string) string {
		return "one"
	}, func(d setaside.Damage) { damages = append(damages, d) })
	if err != nil {
		t.Fatal(err)
	}
	keep(t, b, "a", 1)
	at := b.log.size - 5
	keep(t, b, "a", 2)
	if _, err := b.log.f.WriteAt([]byte("noise"), at); err != nil {
		t.Fatal(err)
	}
	if _, n := take(t, b); n != 2 {
		t.Errorf("got event %d", n)
	}
	if len(damages) != 1 || damages[0].Path != path {
		t.Errorf("told of %v", damages)
	}
}

// TestOlder: the file of a release without heads is read, and is one with a head then.
func TestOlder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b")
	var text []byte
	for i := range 2 {
		text = recordlog.Old(crc32.IEEETable).Append(text, record{kind: kindEvent, seq: uint64(i + 1),
			rest: body(t, "a", i)}.pack)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, path, Limits{})
	if n, _ := b.Waiting(); n != 2 || !b.log.format.Headed() {
		t.Errorf("%d events wait", n)
	}
	if _, n := take(t, b); n != 0 {
		t.Errorf("got event %d", n)
	}
}

// TestNoRoom: a file that cannot be made keeps nobody from keeping events; it is made when there is room.
func TestNoRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "b")
	b := open(t, path, Limits{})
	if kept, err := b.Keep("a", body(t, "a", 1)); !kept || err == nil {
		t.Fatal(kept, err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	keep(t, b, "a", 2)
	if err := b.Close(); err != nil { // writes the first one, too
		t.Fatal(err)
	}
	b = open(t, path, Limits{})
	if n, _ := b.Waiting(); n != 2 {
		t.Errorf("%d events wait", n)
	}
}

// TestRenewed: the file stays small while some events stay, and what stays is whole.
func TestRenewed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b")
	b := open(t, path, Limits{})
	keep(t, b, "stays", 7)
	stays, _ := take(t, b)
	b.Begin(stays.Seq, "c", "j")
	filler := strings.Repeat("x", 1000)
	for range 5000 {
		big, err := event.Pack("a", payload.M("x", filler), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Keep("a", big); err != nil {
			t.Fatal(err)
		}
		ev, _ := b.Take()
		b.Free(ev.Seq)
		b.Settle(ev.Seq)
	}
	if b.log.size > 2*slack {
		t.Errorf("the file has %d bytes", b.log.size)
	}
	b = open(t, path, Limits{})
	ev, n := take(t, b)
	if state, jid := b.Begin(ev.Seq, "c", "k"); n != 7 || state != Before || jid != "j" {
		t.Error(n, state, jid)
	}
	none(t, b)
}

// TestModel compares with what is expected of any run of steps, with the process killed between.
func TestModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b")
	rng := rand.New(rand.NewPCG(1, 2))
	b := open(t, path, Limits{})
	left, out := map[int]string{}, map[int]Event{}
	last := map[string]int{"a": -1, "b": -1, "c": -1}
	for step := range 20000 {
		switch rng.IntN(10) {
		case 0, 1, 2, 3:
			tag := string("abc"[rng.IntN(3)])
			keep(t, b, tag, step)
			left[step] = tag
		case 4, 5, 6:
			if ev, n := take(t, b); n >= 0 {
				if left[n] != ev.Tag || out[n].Seq != 0 {
					t.Fatalf("step %d: event %d comes, which is done with or in hand", step, n)
				}
				if n < last[ev.Tag] && !ev.Again {
					t.Fatalf("step %d: event %d comes after %d", step, n, last[ev.Tag])
				}
				last[ev.Tag] = max(n, last[ev.Tag])
				out[n] = ev
			}
		case 7, 8:
			for n, ev := range out {
				b.Free(ev.Seq)
				b.Settle(ev.Seq)
				delete(out, n)
				delete(left, n)
				break
			}
		case 9:
			clear(out)
			last = map[string]int{"a": -1, "b": -1, "c": -1}
			if rng.IntN(4) > 0 {
				b.Recall()
			} else {
				b = open(t, path, Limits{})
			}
		}
		if n, _ := b.Waiting(); n != len(left) {
			t.Fatalf("step %d: %d wait, want %d", step, n, len(left))
		}
	}
}

func BenchmarkEvent(b *testing.B) {
	back := open(b, filepath.Join(b.TempDir(), "b"), Limits{})
	raw := body(b, "my/app/event", 1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := back.Keep("a", raw); err != nil {
			b.Fatal(err)
		}
		ev, _ := back.Take()
		back.Begin(ev.Seq, "local|a", fmt.Sprint(i))
		back.Free(ev.Seq)
		back.Settle(ev.Seq)
	}
}
