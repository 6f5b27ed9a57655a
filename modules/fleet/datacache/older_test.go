package datacache

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// putOld writes a file of the older form as a master of Salt 3006 does, so many minutes ago.
func putOld(t *testing.T, dir, file string, minutes int, value any) {
	t.Helper()
	path, when := filepath.Join(dir, file), time.Now().Add(-time.Duration(minutes)*time.Minute)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), packedfile.Write(path, value, wholefile.Options{}),
		os.Chtimes(path, when, when))
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, file string) any {
	t.Helper()
	v, err := packedfile.Read(filepath.Join(dir, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return v
}

func checkData(t *testing.T, b *Banks, what string, bank string, want *payload.Map) {
	t.Helper()
	got, err := b.Data(bank, "web1")
	if err != nil || (got == nil) != (want == nil) || !payload.Equal(got, want) {
		t.Errorf("%s: %s is %v, %v; want %v", what, bank, got, err, want)
	}
	if want == nil {
		return
	}
	for range 2 {
		got, err = b.Fields(bank, "web1", want.Keys()...)
		if err != nil || !payload.Equal(got, want) {
			t.Errorf("%s: fields of %s are %v, %v; want %v", what, bank, got, err, want)
		}
	}
}

// TestOtherFormCounts: the other form takes the place of a newest file that is damaged, and is set aside if it is, too.
func TestOtherFormCounts(t *testing.T) {
	b, dir := openBanks(t)
	told := 0
	b.Own(func(setaside.Damage) { told++ })
	if err := b.StoreMine("web1", payload.M("f", "new")); err != nil {
		t.Fatal(err)
	}
	old, own := filepath.Join(dir, "minions/web1/mine.p"), filepath.Join(dir, "mine/web1.p")
	later := time.Now().Add(time.Minute)
	harm := func(path string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte("\xc1"), 0o600), os.Chmod(path, 0o600),
			os.Chtimes(path, later, later)); err != nil {
			t.Fatal(err)
		}
		later = later.Add(time.Minute)
	}
	harm(old)
	checkData(t, b, "the older form is damaged", BankMine, payload.M("f", "new"))
	harm(own)
	harm(old)
	checkData(t, b, "both are damaged", BankMine, nil)
	if told != 3 {
		t.Errorf("%d damages were told, want 3", told)
	}
	for _, path := range []string{old, own} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was not set aside: %v", path, err)
		}
	}
}

// TestNewestCounts: a master of another release may have had the cache before or after a brine master.
func TestNewestCounts(t *testing.T) {
	b, dir := openBanks(t)
	if err := errors.Join(b.Keep("web1", payload.M("os", "new"), payload.M("p", "new")),
		b.StoreMine("web1", payload.M("f", "new"))); err != nil {
		t.Fatal(err)
	}
	putOld(t, dir, "minions/web1/data.p", 5, payload.M("grains", payload.M("os", "old"), "pillar",
		payload.M("p", "old")))
	putOld(t, dir, "minions/web1/mine.p", 5, payload.M("f", "old"))
	checkData(t, b, "an older original", BankGrains, payload.M("os", "new"))
	checkData(t, b, "an older original", BankPillar, payload.M("p", "new"))
	checkData(t, b, "an older original", BankMine, payload.M("f", "new"))
	putOld(t, dir, "minions/web1/data.p", -1, payload.M("grains", payload.M("os", "old")))
	putOld(t, dir, "minions/web1/mine.p", -1, payload.M("f", "old"))
	checkData(t, b, "a newer original", BankGrains, payload.M("os", "old"))
	checkData(t, b, "a newer original, without a pillar", BankPillar, nil)
	checkData(t, b, "a newer original", BankMine, payload.M("f", "old"))
	if err := b.Keep("web1", nil, payload.M("p", "newer")); err != nil {
		t.Fatal(err)
	}
	checkData(t, b, "what the original alone held", BankGrains, payload.M("os", "old"))
	checkData(t, b, "stored", BankPillar, payload.M("p", "newer"))
	if got := read(t, dir, "minions/web1/data.p"); !payload.Equal(got, payload.M("grains", payload.M("os", "old"),
		"pillar", payload.M("p", "newer"))) {
		t.Errorf("the copy is %v", got)
	}
}

// TestCopiesAreNotRead: what a tool of Salt 3008 removes is gone, though a copy of it is left.
func TestCopiesAreNotRead(t *testing.T) {
	b, dir := openBanks(t)
	if err := errors.Join(b.Keep("web1", payload.M("os", "Debian"), payload.M("p", 1)),
		b.StoreMine("web1", payload.M("f", 1))); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"grains/web1.p", "pillar/web1.p", "mine/web1.p"} {
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	for _, bank := range newerBanks {
		checkData(t, b, "removed", bank, nil)
		if ids, err := b.Cached(bank); err != nil || len(ids) > 0 {
			t.Errorf("cached %s: %v, %v", bank, ids, err)
		}
	}
}

// TestForget: what is cleared is cleared in both forms, whoever wrote them, and nothing else is.
func TestForget(t *testing.T) {
	full := payload.M("grains", payload.M("os", "x"), "pillar", payload.M("p", 1))
	for _, tt := range []struct {
		name  string
		banks []string
		data  any // of minions/web1/data.p afterwards
		left  []string
	}{
		{"grains", []string{BankGrains}, payload.M("pillar", payload.M("p", 1)), []string{BankPillar, BankMine}},
		{"pillar", []string{BankPillar}, payload.M("grains", payload.M("os", "x")), []string{BankGrains, BankMine}},
		{"mine", []string{BankMine}, full, []string{BankGrains, BankPillar}},
		{"all", []string{BankPillar, BankGrains, BankMine}, nil, nil},
	} {
		for _, by := range []string{"brine", "3006"} {
			t.Run(tt.name+" of "+by, func(t *testing.T) {
				b, dir := openBanks(t)
				if by == "brine" {
					if err := errors.Join(b.Keep("web1", payload.M("os", "x"), payload.M("p", 1)),
						b.StoreMine("web1", payload.M("f", 1))); err != nil {
						t.Fatal(err)
					}
				} else {
					putOld(t, dir, "minions/web1/data.p", 5, full)
					putOld(t, dir, "minions/web1/mine.p", 5, payload.M("f", 1))
				}
				if err := b.Forget("web1", tt.banks...); err != nil {
					t.Fatal(err)
				}
				if got := read(t, dir, "minions/web1/data.p"); !payload.Equal(got, tt.data) {
					t.Errorf("data.p holds %v, want %v", got, tt.data)
				}
				for _, bank := range newerBanks {
					got, err := b.Data(bank, "web1")
					if want := slices.Contains(tt.left, bank); err != nil || (got != nil) != want {
						t.Errorf("%s: %v, %v; want it there: %v", bank, got, err, want)
					}
				}
			})
		}
	}
}

// TestDropMine: a function goes from the mine in the form in which it stands; a tool makes no form that is not there.
func TestDropMine(t *testing.T) {
	rest := payload.M("g", 2)
	for _, tt := range []struct {
		name       string
		put        func(b *Banks, dir string) error
		newer, old any
		copied     bool
	}{
		{"brine", func(b *Banks, _ string) error {
			return b.StoreMine("web1", payload.M("f", 1, "g", 2))
		}, rest, rest, true},
		{"3008", func(b *Banks, _ string) error {
			return b.Store(BankMine, "web1", payload.M("f", 1, "g", 2))
		}, rest, nil, false},
		{"3006", func(_ *Banks, dir string) error {
			putOld(t, dir, "minions/web1/mine.p", 5, payload.M("f", 1, "g", 2))
			return nil
		}, nil, rest, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, dir := openBanks(t)
			if err := errors.Join(tt.put(b, dir), b.DropMine("web1", "f"), b.DropMine("web1", "none"),
				b.DropMine("web2", "f")); err != nil {
				t.Fatal(err)
			}
			if got := read(t, dir, "mine/web1.p"); !payload.Equal(got, tt.newer) {
				t.Errorf("the newer form holds %v, want %v", got, tt.newer)
			}
			if got := read(t, dir, "minions/web1/mine.p"); !payload.Equal(got, tt.old) ||
				b.copied(BankMine, "web1") != tt.copied {
				t.Errorf("the older form holds %v, want %v; a copy: %v", got, tt.old, b.copied(BankMine, "web1"))
			}
			checkData(t, b, "afterwards", BankMine, rest)
		})
	}
}

// TestForgetAllBut: nothing is left of minions without a key but what they have pushed.
func TestForgetAllBut(t *testing.T) {
	b, dir := openBanks(t)
	for _, id := range []string{"web1", "gone", "gone:x"} {
		if err := errors.Join(b.Keep(id, payload.M("id", id), payload.M("p", 1)), b.StoreMine(id, payload.M("f", 1)),
			b.StorePillar(id, "dev", payload.M("s", 1)), b.StorePillar(id, "feature/x",
				payload.M("s", 1))); err != nil {
			t.Fatal(err)
		}
	}
	putOld(t, dir, "minions/old/data.p", 1, payload.M("pillar", payload.M("secret", 1)))
	putOld(t, dir, "minions/old/mine.p", 1, payload.M("f", 1))
	putOld(t, dir, "minions/pushed/data.p", 1, payload.M("pillar", payload.M("secret", 1)))
	putOld(t, dir, "minions/pushed/files/var/log/x", 1, "log")
	if err := b.ForgetAllBut(func(id string) bool { return id == "web1" }); err != nil {
		t.Fatal(err)
	}
	want := []string{"grains/web1.p", "mine/web1.p", "minions/pushed/files/var/log/x", "minions/web1/data.p",
		"minions/web1/mine.p", "pillar/web1.p", "pillar/web1:dev.p", "pillar/web1:feature/x.p"}
	got := names(files(t, dir))
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("left (-want +got)\n%s", diff)
	}
	if exists(dir, "minions/old") || exists(dir, "minions/gone") || exists(dir, "pillar/gone:feature") {
		t.Error("empty folders are left")
	}
}

// TestSweep: what a tool that knows one form has removed by halves is forgotten; what it preserved stays.
func TestSweep(t *testing.T) {
	b, dir := openBanks(t)
	keyed, stamp := map[string]bool{}, int64(1)
	for _, id := range []string{"stays", "by3006", "by3008", "preserved"} {
		keyed[id] = true
		if err := errors.Join(b.Keep(id, payload.M("id", id), payload.M("secret", 1)),
			b.StoreMine(id, payload.M("f", 1)),
			b.StorePillar(id, "dev", payload.M("s", 1))); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Store(BankPillar, "before", payload.M("kept", "on purpose")); err != nil {
		t.Fatal(err)
	}
	s := &Sweep{Banks: b, Keyed: func() (map[string]bool, error) {
		return keyed, nil
	}, Changed: func() int64 { return stamp }}
	look := func(want ...string) {
		t.Helper()
		got, err := s.Look()
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("forgotten are %q, %v; want %q", got, err, want)
		}
	}
	look()
	for _, id := range []string{"by3006", "by3008", "preserved"} {
		delete(keyed, id)
	}
	stamp++
	look() // the tool has not come to the data yet
	for _, part := range []string{"minions/by3006", "grains/by3008.p", "pillar/by3008.p", "pillar/by3008:dev.p"} {
		if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
			t.Fatal(err)
		}
	}
	look("by3006", "by3008")
	look()
	left := names(files(t, dir))
	slices.Sort(left)
	want := []string{"grains/preserved.p", "grains/stays.p", "mine/preserved.p", "mine/stays.p",
		"minions/preserved/data.p", "minions/preserved/mine.p", "minions/stays/data.p", "minions/stays/mine.p",
		"pillar/before.p", "pillar/preserved.p", "pillar/preserved:dev.p", "pillar/stays.p", "pillar/stays:dev.p"}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("left (-want +got)\n%s", diff)
	}
	if err := os.RemoveAll(filepath.Join(dir, "minions/preserved")); err != nil {
		t.Fatal(err)
	}
	look() // no key has changed for a while
	stamp++
	look("preserved")
}

// TestIDsStayInside: an id leads to no other file of the older form.
func TestIDsStayInside(t *testing.T) {
	b, dir := openBanks(t)
	putOld(t, dir, "data.p", 1, payload.M("grains", payload.M("stolen", 1)))
	putOld(t, dir, "tokens/data.p", 1, payload.M("grains", payload.M("stolen", 1)))
	for _, id := range []string{"..", ".", "../tokens", "a/../..", "a/b", ""} {
		if m, err := b.Data(BankGrains, id); m != nil {
			t.Errorf("%q: got %v, %v", id, m, err)
		}
		if err := b.Forget(id, BankGrains); !exists(dir, "data.p") || !exists(dir, "tokens/data.p") {
			t.Fatalf("%q removed another file, %v", id, err)
		}
		_ = b.Keep(id, payload.M("a", 1), nil)
		_ = b.ForgetAllBut(func(other string) bool { return other != id })
		if got := read(t, dir, "data.p"); !payload.Equal(got, payload.M("grains", payload.M("stolen", 1))) {
			t.Fatalf("%q replaced another file: %v", id, got)
		}
	}
}

// BenchmarkKeep is what keeping costs for each refresh of a minion, with and without the copy.
func BenchmarkKeep(b *testing.B) {
	grains, pillar := payload.NewMap(0), payload.NewMap(0)
	for i := range 80 { // some 4 KB each
		grains.Set("grain"+string(rune('a'+i%26))+string(rune('a'+i/26)), "a value of some forty letters, as they are")
		pillar.Set("key"+string(rune('a'+i%26))+string(rune('a'+i/26)), "a value of some forty letters, as they are")
	}
	banks, err := OpenBanks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	id := func(i int) string {
		return "minion" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26))
	}
	b.Run("newer form", func(b *testing.B) {
		for i := range b.N {
			if err := errors.Join(banks.Store(BankGrains, id(i), grains), banks.Store(BankPillar, id(i),
				pillar)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("both forms", func(b *testing.B) {
		for i := range b.N {
			if err := banks.Keep(id(i), grains, pillar); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("fields of 10000", func(b *testing.B) {
		for i := range b.N {
			if _, err := banks.Fields(BankGrains, id(i%10000), "grainaa"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
