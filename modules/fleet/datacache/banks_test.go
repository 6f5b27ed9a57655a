package datacache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// saltDir is a cachedir written by Salt 3008.3 (testdata/make.py).
const saltDir = "testdata/salt3008"

func openBanks(t *testing.T) (*Banks, string) {
	t.Helper()
	dir := t.TempDir()
	b, err := OpenBanks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b, dir
}

// TestBanksReadSalt reads a data cache that Salt wrote, and one of a release before 3008.
func TestBanksReadSalt(t *testing.T) {
	b, err := OpenBanks(saltDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		bank, id string
		want     *payload.Map
	}{
		{"grains", "web1", payload.M("os", "Debian", "ipv4", []any{"10.0.0.1"}, "raw", []byte{0xff})},
		{"pillar", "web1", payload.M("a", payload.M("b", 1))},
		{"mine", "web1", payload.M("test.ping", true)},
		{"grains", "old1", payload.M("os", "Suse")},
		{"pillar", "old1", payload.M("p", 1)},
		{"mine", "old1", payload.M("network.ip_addrs", []any{"10.0.0.9"})},
		{"grains", "nobody", nil},
		{"mine", "nobody", nil},
	} {
		got, err := b.Data(tt.bank, tt.id)
		if err != nil {
			t.Fatal(err)
		}
		if (got == nil) != (tt.want == nil) || !payload.Equal(got, tt.want) {
			t.Errorf("%s of %s: got %v, want %v", tt.bank, tt.id, got, tt.want)
		}
	}
	for bank, want := range map[string][]string{"grains": {"old1", "web1"}, "mine": {"old1", "web1"}, "none": nil} {
		got, err := b.Cached(bank)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cached %s (-want +got)\n%s", bank, diff)
		}
	}
}

// TestBanksWriteAsSalt stores the same values and compares the files.
func TestBanksWriteAsSalt(t *testing.T) {
	b, dir := openBanks(t)
	err := errors.Join(
		b.Keep("web1", payload.M("os", "Debian", "ipv4", []any{"10.0.0.1"}, "raw", []byte{0xff}),
			payload.M("a", payload.M("b", 1))),
		b.StoreMine("web1", payload.M("test.ping", true)),
		b.Store("minions/old1", "data", payload.M("grains", payload.M("os", "Suse"), "pillar", payload.M("p", 1))),
		b.Store("minions/old1", "mine", payload.M("network.ip_addrs", []any{"10.0.0.9"})))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files(t, saltDir), files(t, dir)); diff != "" {
		t.Errorf("(-Salt +brine)\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(dir, "pillar/web1.p")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a pillar others can read: %v, %v", info, err)
	}
}

func TestBanks(t *testing.T) {
	b, dir := openBanks(t)
	if v, err := b.Fetch("x", "y"); v != nil || err != nil {
		t.Errorf("no such key: got %v, %v", v, err)
	}
	for _, v := range []any{int64(1), "two", []any{"three"}} {
		if err := b.Store("x", "y", v); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Fetch("x", "y"); err != nil || !payload.Equal(got, v) {
			t.Errorf("got %v, %v; want %v", got, err, v)
		}
	}
	if err := b.StorePillar("web1", "dev/x", payload.M("k", "v")); err != nil {
		t.Fatal(err)
	}
	if !exists(dir, "pillar/web1:dev/x.p") || !b.Contains("pillar", "web1:dev/x") || !b.Contains("pillar", "") ||
		b.Contains("x", "") == b.Contains("x", "z") {
		t.Error("Contains, or the file of an environment with a slash")
	}
	if since := time.Since(b.Updated("x", "y")); since < 0 || since > time.Minute || !b.Updated("x", "z").IsZero() {
		t.Errorf("updated %v ago", since)
	}
	if ok, err := b.Flush("x", "y"); !ok || err != nil {
		t.Errorf("flush: got %v, %v", ok, err)
	}
	if ok, err := b.Flush("x", "y"); ok || err != nil {
		t.Errorf("flush twice: got %v, %v", ok, err)
	}
	if ok, err := b.Flush("pillar", ""); !ok || err != nil || exists(dir, "pillar") {
		t.Errorf("flush a bank: got %v, %v", ok, err)
	}
}

func TestBanksStayInside(t *testing.T) {
	b, dir := openBanks(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "secret.p"), []byte{1}, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(filepath.Join(filepath.Dir(dir), "secret.p"))
	for _, at := range [][2]string{{"..", "secret"}, {"grains", "../../secret"}, {"/etc", "passwd"}, {"", "x"},
		{"grains", "a\x00b"}, {".", ""}, {"grains/../..", ""}, {"tokens", ""}, {"tokens", "x"},
		{"grains/../tokens", ""}, {"./sessions", ""}, {"jobs", ""}, {"jobs.db", ""}, {".root_key", ""}, {"proc", "1"}} {
		if v, err := b.Fetch(at[0], at[1]); err == nil {
			t.Errorf("fetch %q: got %v, want an error", at, v)
		}
		if err := b.Store(at[0], at[1], 1); err == nil {
			t.Errorf("store %q: want an error", at)
		}
		if ok, err := b.Flush(at[0], at[1]); ok || err == nil {
			t.Errorf("flush %q: got %v, %v; want an error", at, ok, err)
		}
		if _, err := b.List(at[0]); err == nil && at[0] != "grains" {
			t.Errorf("list %q: want an error", at[0])
		}
		if b.Contains(at[0], at[1]) {
			t.Errorf("contains %q", at)
		}
	}
}

func TestBanksDamage(t *testing.T) {
	b, dir := openBanks(t)
	if err := b.StoreGrains("web1", payload.M("a", 1)); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"empty": {}, "cut": {0x82, 0xa1}, "no map": {0x01}} {
		if err := os.WriteFile(filepath.Join(dir, "grains/web1.p"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Data("grains", "web1"); !errors.Is(err, packedfile.ErrDamaged) {
			t.Errorf("%s: got %v, want packedfile.ErrDamaged", name, err)
		}
	}
	if err := b.StoreGrains("web1", payload.M("a", 2)); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Data("grains", "web1"); err != nil || !payload.Equal(got, payload.M("a", 2)) {
		t.Errorf("stored over: got %v, %v", got, err)
	}
}

func TestBanksForget(t *testing.T) {
	b, dir := openBanks(t)
	for _, at := range [][2]string{{"grains", "m"}, {"pillar", "m"}, {"mine", "m"}, {"minions/m", "data"},
		{"minions/m", "mine"}, {"grains", "other"}} {
		if err := b.Store(at[0], at[1], payload.M("a", 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Forget("m", BankMine); err != nil {
		t.Fatal(err)
	}
	if m, err := b.Mine("m"); m != nil || err != nil {
		t.Errorf("mine: got %v, %v", m, err)
	}
	if err := b.ForgetAllBut(func(id string) bool { return id != "m" }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"grains/other.p"}, names(files(t, dir))); diff != "" {
		t.Errorf("left (-want +got)\n%s", diff)
	}
}

func names(m map[string]string) (out []string) {
	for name := range m {
		out = append(out, name)
	}
	return out
}

// TestBanksSweep removes what a killed process left half written, not what another process is writing.
func TestBanksSweep(t *testing.T) {
	_, dir := openBanks(t)
	half, busy := filepath.Join(dir, wholefile.TempPrefix+"abc"), filepath.Join(dir, ".___atomic_write"+"def")
	for _, file := range []string{half, busy} {
		if err := os.WriteFile(file, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * staleAge)
	if err := os.Chtimes(half, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBanks(dir); err != nil || exists(half) || !exists(busy) {
		t.Errorf("got %v; the old file is there: %v, the new one: %v", err, exists(half), exists(busy))
	}
}

// TestFields: entries of the grains are those of the file, whatever happens to it.
func TestFields(t *testing.T) {
	b, dir := openBanks(t)
	store := func(grains *payload.Map) {
		t.Helper()
		if err := b.StoreGrains("web1", grains); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "grains", "web1.p")
	age := func(by time.Duration) {
		t.Helper()
		when := time.Now().Add(-by)
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, want *payload.Map, keys ...any) {
		t.Helper()
		for range 3 {
			got, err := b.Fields(BankGrains, "web1", keys...)
			if err != nil || (got == nil) != (want == nil) || want != nil && !payload.Equal(got, want) {
				t.Errorf("%s: got %v, %v, want %v", what, got, err, want)
			}
		}
	}
	check("nothing known", nil, "os")
	store(payload.M("os", "Debian", "mem", 5, "list", []any{"a"}))
	check("fresh file", payload.M("os", "Debian"), "os")
	age(time.Hour)
	check("old file", payload.M("os", "Debian"), "os")
	check("another key", payload.M("list", []any{"a"}), "list")
	check("two keys", payload.M("os", "Debian", "mem", 5), "mem", "os")
	check("no such key", payload.NewMap(0), "kernel")
	check("no key", payload.NewMap(0))
	store(payload.M("os", "Ubuntu", "mem", 5, "list", []any{"a"})) // of the same size
	age(time.Hour)
	check("replaced", payload.M("os", "Ubuntu"), "os")
	if err := os.WriteFile(file, []byte{0x81}, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Fields(BankGrains, "web1", "os"); !errors.Is(err, packedfile.ErrDamaged) {
		t.Errorf("damaged file: %v", err)
	}
	if err := b.ForgetAllBut(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	check("flushed", nil, "os")
	if err := b.Store("minions/web1", "data", payload.M("grains", payload.M("os", "Old"), "pillar",
		payload.M("a", 1))); err != nil {
		t.Fatal(err)
	}
	check("of an old release", payload.M("os", "Old"), "os")
	if _, err := b.Fields("..", "web1", "os"); err == nil {
		t.Error("a bank outside of the cache was read")
	}
}

// TestFieldsAreBounded: what is remembered has an end, and the column used last stays.
func TestFieldsAreBounded(t *testing.T) {
	var f fieldCache
	state := fileState{size: 1}
	for i := range 50 {
		col := column{BankGrains, fmt.Sprint("grain", i)}
		for n := range 20 {
			m := payload.M("text", strings.Repeat("x", 10000))
			f.put(col, fmt.Sprint("id", n), cell{state, m, weigh(m)})
			f.put(col, fmt.Sprint("id", n), cell{state, m, weigh(m)}) // counts once
		}
		if f.get(column{BankGrains, "grain0"}, "id0", state) == nil {
			t.Fatalf("the column used last is gone after %d others", i)
		}
	}
	sum := 0
	for _, c := range f.columns {
		own := 0
		for _, one := range c.byID {
			own += one.weight
		}
		if own != c.weight {
			t.Errorf("a column weighs %d, not %d", own, c.weight)
		}
		sum += own
	}
	if sum != f.weight || sum > maxFieldBytes || sum < maxFieldBytes/2 {
		t.Errorf("%d bytes are counted, %d kept", f.weight, sum)
	}
	if f.get(column{BankGrains, "grain0"}, "id0", fileState{size: 2}) != nil {
		t.Error("the entry of another file was taken")
	}
}

// files reads the files below a directory, by their paths in it.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out, root := map[string]string{}, os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func exists(parts ...string) bool {
	_, err := os.Lstat(filepath.Join(parts...))
	return err == nil
}

// TestDamagedIsSetAside: who owns the cache puts a damaged file where no bank is, once, and goes on as if there were
// none; who does not leaves it.
func TestDamagedIsSetAside(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBanks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, bank := range []string{BankGrains, BankPillar, BankMine} {
		for name, text := range map[string]string{"empty": "", "noise": "\xc1\xfe", "no map": "\x05"} {
			file := filepath.Join(dir, bank, "web1.p")
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := AttachBanks(dir).Data(bank, "web1"); !errors.Is(err, packedfile.ErrDamaged) {
				t.Errorf("%s %s: who does not own it gets %v", bank, name, err)
			}
			var told []setaside.Damage
			b.Own(func(d setaside.Damage) { told = append(told, d) })
			for range 2 {
				if m, err := b.Data(bank, "web1"); m != nil || err != nil {
					t.Errorf("%s %s: got %v, %v", bank, name, m, err)
				}
			}
			if len(told) != 1 || told[0].Path != file || filepath.Dir(told[0].Kept) != filepath.Join(dir,
				setaside.Folder) {
				t.Fatalf("%s %s: told of %v", bank, name, told)
			}
			if kept, err := os.ReadFile(told[0].Kept); err != nil || string(kept) != text {
				t.Errorf("%s %s: kept %q, %v", bank, name, kept, err)
			}
		}
		if names, err := b.List(bank); err != nil || len(names) > 0 {
			t.Errorf("the bank lists %v, %v", names, err)
		}
	}
}
