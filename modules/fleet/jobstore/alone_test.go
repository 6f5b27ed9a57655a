package jobstore

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// deepReturn is a return that a peer can send: a field beside its result is as deeply nested as a load may be.
func deepReturn(t *testing.T, jid, id string) Return {
	t.Helper()
	b := append([]byte{0x83, 0xa3, 'j', 'i', 'd', 1, 0xa6, 'r', 'e', 't', 'u', 'r', 'n', 0xc3, 0xa5, 'e', 'x', 't', 'r',
		'a'}, bytes.Repeat([]byte{0x91}, 511)...)
	load, err := payload.UnmarshalLoad(append(b, 0xc0))
	if err != nil {
		t.Fatal(err)
	}
	return Return{JID: jid, ID: id, Load: load.(*payload.Map)}
}

// commits is what every job cache does.
type commits interface {
	Commit(loads []Load, returns []Return) (Result, error)
	Returned(jid, id string) (bool, error)
}

func bothCaches(t *testing.T, f func(*testing.T, commits)) {
	t.Run("store", func(t *testing.T) { f(t, openStore(t, t.TempDir())) })
	t.Run("local", func(t *testing.T) {
		c, err := OpenLocalCache(Options{CacheDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		f(t, c)
	})
}

// TestDeepReturn stores what a peer can send, however deep.
func TestDeepReturn(t *testing.T) {
	bothCaches(t, func(t *testing.T, c commits) {
		all := []Return{answer("20260101000000000001", "a", "x"), deepReturn(t, "20260101000000000002", "b"),
			answer("20260101000000000003", "c", "y")}
		res, err := c.Commit(nil, all)
		if err != nil || len(res.Failed)+len(res.Extras) > 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		for _, r := range all {
			if ok, err := c.Returned(r.JID, r.ID); !ok || err != nil {
				t.Errorf("%s: %v, %v", r.ID, ok, err)
			}
		}
	})
}

// TestFailsAlone: what cannot be stored because of what it holds keeps nothing else from being stored.
func TestFailsAlone(t *testing.T) {
	bothCaches(t, func(t *testing.T, c commits) {
		jid := func(i int) string { return fmt.Sprintf("2026010100000000%04d", i) }
		bad := answer(jid(2), "b", "x")
		bad.Load.Set("return", func() {})
		worse := answer(jid(4), "d", "x") // its result packs, what else it holds does not
		worse.Load.Set("extra", func() {})
		all := []Return{answer(jid(1), "a", "x"), bad, answer(jid(3), "c", "x"), worse, answer(jid(5), "e", "x")}
		loads := []Load{{JID: jid(6), Load: payload.M("arg", func() {})}, {JID: jid(7), Load: ping(jid(7))}}
		res, err := c.Commit(loads, all)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Failed) != 2 || res.Failed[0].Index != 1 || res.Failed[1].Index != 3 || len(res.Loads) != 1 ||
			res.Loads[0].Index != 0 {
			t.Errorf("failed: %+v, loads %+v", res.Failed, res.Loads)
		}
		for i, r := range all {
			if ok, err := c.Returned(r.JID, r.ID); ok != (i%2 == 0) || err != nil {
				t.Errorf("%s is stored: %v, %v", r.ID, ok, err)
			}
		}
	})
}

// TestDamageAlone: a page of the file that stops a transaction fails what needs that page, as long as the file cannot
// be repaired.
func TestDamageAlone(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	jid := func(i int) string { return fmt.Sprintf("2026010100000000%04d", i) }
	for i := range 20 {
		if _, err := s.StoreReturns([]Return{answer(jid(i), "a", strings.Repeat(string(rune('a'+i)),
			3000))}); err != nil {
			t.Fatal(err)
		}
	}
	image, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	spoil := func(i int) {
		f, err := os.OpenFile(s.Path(), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for at := 0; ; at += page { // old versions of the page, too
			off := bytes.Index(image[at:], bytes.Repeat([]byte{byte('a' + i)}, 3000))
			if off < 0 {
				return
			}
			at = (at + off) / page * page
			if _, err := f.WriteAt([]byte{0xff, 0xff}, int64(at+8)); err != nil { // its kind
				t.Fatal(err)
			}
		}
	}
	spoil(7)
	s.repairs = time.Now().Add(time.Hour)
	var all []Return
	for i := 5; i < 10; i++ {
		all = append(all, answer(jid(i), "b", "late"))
	}
	all = append(all, answer(jid(50), "a", "new"))
	res, err := s.Commit([]Load{{JID: jid(51), Load: ping(jid(51))}}, all)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Failed) == 0 || len(res.Failed) > 2 || len(res.Loads) > 0 {
		t.Errorf("failed: %v, loads %v", res.Failed, res.Loads)
	}
	failed := map[int]bool{}
	for _, f := range res.Failed {
		failed[f.Index] = true
	}
	for i, r := range all {
		if failed[i] {
			continue
		}
		if ok, err := s.Returned(r.JID, r.ID); !ok || err != nil {
			t.Errorf("%s of %s: %v, %v", r.ID, r.JID, ok, err)
		}
	}
	if !failed[2] {
		t.Error("the damage is not there")
	}
}
