package jobstore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/setaside"
)

const rescueJobs, rescueMinions = 16, 12

// rich makes a store of many pages, with large values among the small, and returns its content.
func rich(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	s := openStore(t, dir)
	for i := range rescueJobs {
		jid := fmt.Sprintf("%020d", i)
		var returns []Return
		for m := range rescueMinions {
			var v any = m
			if m == 3 && i%4 == 0 {
				v = strings.Repeat("large ", 1500)
			}
			returns = append(returns, answer(jid, fmt.Sprintf("web%d", m), v))
		}
		commit(t, s, []Load{{JID: jid, Load: ping(jid), Minions: []string{"web1"}}}, returns...)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ask reads all that a store holds, so that it meets what is damaged.
func ask(t *testing.T, s *Store) {
	t.Helper()
	for i := range rescueJobs {
		jid := fmt.Sprintf("%020d", i)
		_, loadErr := s.GetLoad(jid)
		_, err := s.GetJID(jid)
		if err = errors.Join(loadErr, err); err != nil && !errors.Is(err, packedfile.ErrDamaged) {
			t.Errorf("job %s: %v", jid, err)
		}
	}
}

// holdings are what a store can be asked for.
func holdings(t *testing.T, s *Store) (jobs, returns int) {
	t.Helper()
	for i := range rescueJobs {
		jid := fmt.Sprintf("%020d", i)
		if load, err := s.GetLoad(jid); err != nil {
			t.Errorf("job %s: %v", jid, err)
		} else if load != nil {
			jobs++
		}
		ret, err := s.GetJID(jid)
		if err != nil {
			t.Errorf("returns of %s: %v", jid, err)
		}
		returns += ret.Len()
	}
	if _, err := s.GetJIDs(Filter{}); err != nil {
		t.Errorf("list: %v", err)
	}
	return jobs, returns
}

// harmed opens a store with that content, and tells what it says of it.
func harmed(t *testing.T, b []byte) (s *Store, told *[]setaside.Damage) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, StoreFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	told = &[]setaside.Damage{}
	s, err := Open(Options{CacheDir: dir, Damaged: func(d setaside.Damage) { *told = append(*told, d) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, told
}

// TestDamage harms the file in every page by itself, and in other ways. The store opens, says what is damaged, sets it
// aside as it was, has all that did not stand in that page, and takes what comes.
func TestDamage(t *testing.T) {
	whole := rich(t)
	page := os.Getpagesize()
	newest, _ := newestMeta(bytes.NewReader(whole))
	type harm struct {
		name      string
		b         []byte
		keepsMost bool // at most the page and what hangs on it is lost
	}
	cases := []harm{
		{"empty", nil, false},
		{"text", []byte(strings.Repeat("this is no database\n", 2000)), false},
		{"one byte", whole[:1], false},
		{"half a page", whole[:page/2], false},
		{"two pages", whole[:2*page], false},
		{"half", whole[:int(newest.pages)/2*page], false},
		{"no meta pages", append(make([]byte, 2*page), whole[2*page:]...), false},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for at := 0; at < int(newest.pages); at++ {
		b := bytes.Clone(whole)
		for k := range page {
			b[at*page+k] = byte(random.Uint32())
		}
		cases = append(cases, harm{fmt.Sprintf("noise in page %d of %d", at, newest.pages), b, true})
	}
	lost, silent := 0, 0
	for _, c := range cases {
		s, told := harmed(t, c.b)
		late := answer("20261126000000000000", "web1", "after the damage")
		if err := s.SaveLoad(Load{JID: late.JID, Load: ping(late.JID)}); err != nil {
			t.Errorf("%s: a load is refused: %v", c.name, err)
		}
		if _, err := s.Clean(time.Now()); err != nil { // looks at all pages
			t.Errorf("%s: clean: %v", c.name, err)
		}
		ask(t, s)
		s.repairs = time.Time{}
		if _, err := s.StoreReturns([]Return{late}); err != nil {
			t.Errorf("%s: a return is refused: %v", c.name, err)
		}
		if ok, err := s.Returned(late.JID, "web1"); !ok || err != nil {
			t.Errorf("%s: the return is not there: %v", c.name, err)
		}
		jobs, returns := holdings(t, s)
		gone := rescueJobs - jobs + rescueJobs*rescueMinions - returns
		if c.keepsMost && gone > (rescueJobs+rescueJobs*rescueMinions)/4 {
			t.Errorf("%s: %d of %d jobs and %d of %d returns are left", c.name, jobs, rescueJobs, returns,
				rescueJobs*rescueMinions)
		}
		if len(*told) == 0 {
			silent++
			if gone > 0 {
				t.Errorf("%s: %d jobs and returns are lost, and nothing is said", c.name, gone)
			}
		}
		lost += gone
		for _, d := range *told {
			if !strings.HasSuffix(d.Path, StoreFile) || !errors.Is(d.Err, packedfile.ErrDamaged) {
				t.Errorf("%s: told %+v", c.name, d)
			}
			if d.Kept != "" && !setaside.Is(d.Kept) {
				t.Errorf("%s: kept as %s", c.name, d.Kept)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		again, err := Open(Options{CacheDir: filepath.Dir(s.file), Damaged: func(d setaside.Damage) {
			t.Errorf("%s: told once more: %+v", c.name, d)
		}})
		if err != nil {
			t.Errorf("%s: again: %v", c.name, err)
			continue
		}
		if j, r := holdings(t, again); j != jobs || r < returns {
			t.Errorf("%s: opened again %d jobs, %d returns, before %d, %d", c.name, j, r, jobs, returns)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d cases, %d jobs and returns lost in all, %d without a word (pages that are free)", len(cases), lost,
		silent)
	if lost == 0 {
		t.Error("nothing was ever lost: the harm does not reach the store")
	}
}

// lastOfJobs is the leaf to which new jobs come.
func lastOfJobs(t testing.TB, f *os.File) (id uint64) {
	t.Helper()
	newest, _ := newestMeta(f)
	p := &pages{in: f, meta: newest, seen: map[uint64]bool{}}
	free, _ := p.free()
	newestKey := ""
	for at := uint64(2); at < newest.pages; at++ {
		pg, ok := p.read(at)
		if all, _ := pg.elements(); ok && !free[at] && pg.flags == leafFlag && len(all) > 0 {
			last := all[len(all)-1]
			if _, err := unpackJob(last.value); err == nil && string(last.key) > newestKey {
				id, newestKey = at, string(last.key)
			}
		}
	}
	if id == 0 {
		t.Fatal("no leaf of jobs")
	}
	return id
}

// TestRepairInUse: damage that comes while the store is open is repaired by the commit that meets it, which stores what
// it was given. A full disk in the way of that is told of once, and the repair is made when there is room.
func TestRepairInUse(t *testing.T) {
	s, told := harmed(t, rich(t))
	f, err := os.OpenFile(s.file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte("noise"), 819),
		int64(lastOfJobs(t, f))*int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	inTheWay := s.file + repairSuffix // stands for a disk that takes no second file
	if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	ret := answer("20261126000000000000", "web1", true)
	for range 3 {
		if _, err := s.StoreReturns([]Return{ret}); !errors.Is(err, packedfile.ErrDamaged) {
			t.Fatalf("got %v, want the damage", err)
		}
		s.repairs = time.Time{}
	}
	if len(*told) != 1 || (*told)[0].Kept != "" {
		t.Errorf("told %+v", *told)
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	if extra, err := s.StoreReturns([]Return{ret}); err != nil || len(extra) > 0 {
		t.Fatalf("the return is refused: %v, %v", extra, err)
	}
	if ok, err := s.Returned(ret.JID, ret.ID); !ok || err != nil {
		t.Errorf("the return is not there: %v", err)
	}
	if len(*told) != 2 || !setaside.Is((*told)[1].Kept) {
		t.Errorf("told %+v", *told)
	}
	if _, returns := holdings(t, s); returns != rescueJobs*rescueMinions { // the loads of the jobs stood in that page
		t.Errorf("%d returns are left", returns)
	}
}

// TestRepairWhileCompacting: a copy of a file that is repaired meanwhile does not take the place of the new one.
func TestRepairWhileCompacting(t *testing.T) {
	s, _ := harmed(t, rich(t))
	s.changes = newChanges() // as Compact has it while it copies
	c := copying{s: s}
	if !repairAll(t, s) || !s.changes.void {
		t.Fatal("it was not repaired")
	}
	if err := c.swap(t.Context()); !errors.Is(err, errRepaired) {
		t.Errorf("got %v, want %v", err, errRepaired)
	}
}

// repairAll harms a leaf and repairs the file.
func repairAll(t testing.TB, s *Store) bool {
	t.Helper()
	f, err := os.OpenFile(s.file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, os.Getpagesize()),
		int64(lastOfJobs(t, f))*int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	return s.repair(packedfile.ErrDamaged)
}
