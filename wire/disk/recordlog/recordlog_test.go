package recordlog

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const pageSize = 4096

// made writes records of some sizes into a file, and tells their bodies and where each ends.
func made(t testing.TB, path string, headed bool, sizes ...int) (bodies [][]byte, ends []int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := Old(crc32.IEEETable)
	if headed {
		if m, err = New(f); err != nil {
			t.Fatal(err)
		}
	}
	at := m.Begin()
	for i, size := range sizes {
		body := bytes.Repeat([]byte{byte('a' + i%26)}, size)
		copy(body, fmt.Sprintf("%06d", i))
		b := m.Append(nil, func(dst []byte) []byte { return append(dst, body...) })
		if _, err := f.WriteAt(b, at); err != nil {
			t.Fatal(err)
		}
		at += int64(len(b))
		bodies, ends = append(bodies, body), append(ends, at)
	}
	return bodies, ends
}

func scan(t testing.TB, path string) (got [][]byte, found Found) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err = Scan(f, Old(crc32.IEEETable), func(at int64, body []byte) error {
		if len(body) < 6 {
			return errors.New("too short")
		}
		if b := make([]byte, len(body)); true {
			if _, err := f.ReadAt(b, at); err != nil || !bytes.Equal(b, body) {
				t.Errorf("the body at %d is another one: %v", at, err)
			}
		}
		got = append(got, bytes.Clone(body))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, found
}

var sizes = []int{6, 100, 5000, 20, 100_000, 70_000, 6, 300, 4096, 8000, 64}

// TestWhole: what was written is found, with and without a head.
func TestWhole(t *testing.T) {
	for _, headed := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "log")
		bodies, ends := made(t, path, headed, sizes...)
		got, found := scan(t, path)
		if found.Damage() != nil || found.End != ends[len(ends)-1] || found.Format.Headed() != headed ||
			!slices.EqualFunc(got, bodies, bytes.Equal) {
			t.Errorf("headed %v: %d of %d records, %v, end %d", headed, len(got), len(bodies), found.Damage(),
				found.End)
		}
	}
}

// TestDamage: noise at each place, a cut at each place, nothing at all. Every record that was not touched is found, the
// damage is told, and nothing is taken for a record that was none.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "whole")
	bodies, ends := made(t, path, true, sizes...)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, b []byte, from, to int64) {
		t.Helper()
		path := filepath.Join(dir, "harmed")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, found := scan(t, path)
		var want [][]byte
		touched, cut := from < headSize || from < Begin && to > headGap, int64(len(b)) < ends[len(ends)-1]
		last := int64(Begin)
		for i, end := range ends {
			if end <= from || last >= to {
				want, last = append(want, bodies[i]), end
				continue
			}
			last, touched = end, true
		}
		if onEdge := cut && (slices.Contains(ends, from) || from == Begin); onEdge {
			// whoever cuts between two records is not seen
			touched = false
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: %d records, want %d", name, len(got), len(want))
		}
		if told := found.Damage() != nil; told != touched {
			t.Errorf("%s: %v, touched %v", name, found.Damage(), touched)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, pageSize)
	for at := int64(0); at < int64(len(whole)); at += pageSize / 2 {
		for i := range noise {
			noise[i] = byte(rnd.Uint32())
		}
		b := bytes.Clone(whole)
		n := copy(b[at:], noise)
		check(fmt.Sprintf("noise at %d", at), b, at, at+int64(n))
		clear(b[at : at+int64(n)])
		if at != headGap-pageSize && at != headGap-pageSize/2 || at > Begin {
			// zeros between the heads are what was there
			check(fmt.Sprintf("zeros at %d", at), b, at, at+int64(n))
		}
	}
	for _, end := range append(slices.Clone(ends[:len(ends)-1]), Begin) {
		for _, at := range []int64{end, end + 1, end + before, end + before + 1} {
			check(fmt.Sprintf("cut at %d", at), whole[:at], at, int64(len(whole)))
		}
	}
}

// TestNothing: an empty file, noise alone, and a file of which both heads are gone.
func TestNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	made(t, path, true, sizes...)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]byte{"empty": {}, "noise": bytes.Repeat([]byte("noise"), 5000)}
	for _, at := range []int{1, headSize - 1, headSize, 4104, headGap, Begin - 1} {
		cases[fmt.Sprintf("cut at %d", at)] = bytes.Clone(whole[:at])
	}
	copy(whole[:Begin], make([]byte, Begin))
	cases["no heads"] = whole
	for name, b := range cases {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, found := scan(t, path)
		if len(got) > 0 || !errors.Is(found.Damage(), ErrDamaged) || found.Empty != (name == "empty") ||
			found.End != 0 {
			t.Errorf("%s: %d records, %v", name, len(got), found)
		}
	}
}

// TestForged: a record inside of another one is none, when the head of the outer one is damaged: who wrote the body
// does not know how the checksums of this file begin.
func TestForged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	var evil []byte
	for _, guess := range []Format{Old(crc32.IEEETable), Old(castagnoli), {castagnoli, 0, Begin}} {
		evil = guess.Append(evil, func(b []byte) []byte { return append(b, "forged record"...) })
	}
	b := m.Append(nil, func(b []byte) []byte { return append(append(b, bytes.Repeat([]byte{0}, 100)...), evil...) })
	b[0] ^= 0x40 // its length
	b = m.Append(b, func(b []byte) []byte { return append(b, "true record"...) })
	if _, err := f.WriteAt(b, Begin); err != nil {
		t.Fatal(err)
	}
	got, found := scan(t, path)
	if len(got) != 1 || string(got[0]) != "true record" || found.Damage() == nil {
		t.Errorf("got %q, %v", got, found.Damage())
	}
}

// TestBudget: a file made to look like lengths does not keep the search busy for ever; the rest of it is damaged.
func TestBudget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	b := make([]byte, 8<<20)
	for i := 0; i+4 <= len(b); i += 4 { // each place is a length of some MB
		copy(b[i:], []byte{0, 0x20, 0, 0x20})
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, found := scan(t, path); len(got) > 0 || found.Damage() == nil {
		t.Errorf("%d records, %v", len(got), found.Damage())
	}
}

func FuzzScan(f *testing.F) {
	path := filepath.Join(f.TempDir(), "log")
	made(f, path, true, 10, 20)
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, found := scan(t, path); found.End > int64(len(b)) {
			t.Errorf("the end %d is behind the file's, %d", found.End, len(b))
		}
	})
}
