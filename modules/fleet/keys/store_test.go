package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const pem = "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"

// newStore makes a store in a fresh folder with these files: "minions/web1" → text.
func newStore(t testing.TB, files map[string]string) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pki")
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
	}
	return NewStore(Options{Dir: dir}), dir
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestGetOrder(t *testing.T) {
	s, dir := newStore(t, map[string]string{
		"minions/a": "accepted", "minions_pre/b": "pending", "minions_rejected/c": "rejected",
		"minions_denied/d": "denied", "minions/two": "accepted", "minions_pre/two": "pending", "minions/three": "x",
		"minions_rejected/three": "rejected", "minions/crlf": "a\r\nb\r\n", "minions/folder/x": "",
	})
	if err := os.Symlink(filepath.Join(dir, "minions/a"), filepath.Join(dir, "minions/link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		id      string
		want    Status
		wantPub string
		wantErr error
	}{
		{"a", Accepted, "accepted", nil},
		{"b", Pending, "pending", nil},
		{"c", Rejected, "rejected", nil},
		{"d", "", "", nil},
		{"two", Pending, "pending", nil},
		{"three", Rejected, "rejected", nil},
		{"crlf", Accepted, "a\nb\n", nil},
		{"folder", "", "", nil},
		{"link", "", "", nil},
		{"nobody", "", "", nil},
		{strings.Repeat("x", 255), "", "", nil},
		{strings.Repeat("x", 256), "", "", ErrInvalidID},
		{"a\nb", "", "", ErrInvalidID},
		{"../minions/a", "", "", ErrInvalidID},
		{"", "", "", ErrInvalidID},
		{".", "", "", ErrInvalidID},
		{"..", "", "", ErrInvalidID},
		{"a\x00", "", "", ErrInvalidID},
		{`a\b`, "", "", ErrInvalidID},
	} {
		got, pub, err := s.Get(tt.id)
		if !errors.Is(err, tt.wantErr) || err == nil && (got != tt.want || pub != tt.wantPub) {
			t.Errorf("Get(%q): got %q %q %v, want %q %q %v", tt.id, got, pub, err, tt.want, tt.wantPub, tt.wantErr)
		}
	}
	if !s.IsFolder(Accepted, "folder") || s.IsFolder(Accepted, "a") {
		t.Error("IsFolder does not tell folders from files")
	}
}

func TestPutMovesAndModes(t *testing.T) {
	s, dir := newStore(t, nil)
	for _, st := range []Status{Pending, Accepted, Rejected, Accepted} {
		if err := s.Put(st, "web1", pem); err != nil {
			t.Fatal(err)
		}
		if got, pub, err := s.Get("web1"); got != st || pub != pem || err != nil {
			t.Errorf("after Put(%s): got %s %q %v", st, got, pub, err)
		}
	}
	if err := s.Put(Denied, "web1", "other"); err != nil {
		t.Fatal(err)
	}
	if pub, ok, err := s.Read(Denied, "web1"); pub != "other" || !ok || err != nil {
		t.Errorf("denied key: got %q %v %v", pub, ok, err)
	}
	info, err := os.Stat(filepath.Join(dir, "minions/web1"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v %v", info.Mode(), err)
	}
	if info, err = os.Stat(filepath.Join(dir, "minions")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("key folder: %v %v", info.Mode(), err)
	}
	if err := s.Put(Accepted, "../evil", pem); !errors.Is(err, ErrInvalidID) {
		t.Errorf("Put outside: got %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*", ".*"))
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if gone, err := s.Remove(Accepted, "web1"); !gone || err != nil {
		t.Errorf("Remove: %v %v", gone, err)
	}
	if gone, err := s.Remove(Accepted, "web1"); gone || err != nil {
		t.Errorf("second Remove: %v %v", gone, err)
	}
}

// A key that is moved is never without a status for readers.
func TestMovesAreAtomicForReaders(t *testing.T) {
	s, _ := newStore(t, nil)
	if err := s.Put(Pending, "web1", pem); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				st, pub, err := s.Get("web1")
				if err != nil || st != "" && pub != pem {
					t.Errorf("Get: %q %q %v", st, pub, err)
				}
			}
		})
	}
	for i := range 60 {
		if err := s.Put([]Status{Accepted, Rejected}[i%2], "web1", pem); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}

func TestListOrderAndWhatIsIgnored(t *testing.T) {
	s, dir := newStore(t, map[string]string{
		"minions/web2": "", "minions/Web1": "", "minions/web1": "", "minions/db": "", "minions/.hidden": "",
		"minions/.key_cache": "", "minions_pre/new": "", "minions_pre/two": "", "minions/two": "",
		"minions_denied/web1": "", "master.pem": "", "master.pub": "", "notes.txt": "",
	})
	if err := os.Symlink("web1", filepath.Join(dir, "minions/link")); err != nil {
		t.Fatal(err)
	}
	got, err := s.ListAll()
	if err != nil {
		t.Fatal(err)
	}
	want := Groups{
		{Pending, []string{"new", "two"}}, {Rejected, []string{}}, {Accepted, []string{"db", "Web1", "web1", "web2"}},
		{Denied, []string{"web1"}}, {Local, []string{"master.pem", "master.pub"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ListAll (-want +got):\n%s", diff)
	}
}

// What another process does to a folder counts at once, however fast it follows, and an old list is not read again.
func TestListSeesOtherProcesses(t *testing.T) {
	s, dir := newStore(t, map[string]string{"minions/a": ""})
	for i := range 50 {
		id := fmt.Sprintf("m%02d", i)
		writeFile(t, filepath.Join(dir, "minions", id), "")
		ids, err := s.IDs(Accepted)
		if err != nil || !slices.Contains(ids, id) {
			t.Fatalf("round %d: %q %v", i, ids, err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "minions"), old, old); err != nil {
		t.Fatal(err)
	}
	first, _ := s.ids(Accepted)
	second, _ := s.ids(Accepted)
	if len(first) != 51 || &first[0] != &second[0] {
		t.Error("an unchanged folder was read again")
	}
	if err := os.RemoveAll(filepath.Join(dir, "minions")); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.IDs(Accepted); len(ids) > 0 || err != nil {
		t.Errorf("after the folder went: %q %v", ids, err)
	}
}

func TestAutosignStubs(t *testing.T) {
	now := time.Now()
	s, dir := newStore(t, map[string]string{"minions_autosign/new": "", "minions_autosign/old": "",
		"minions_autosign/keep": ""})
	old := now.Add(-3 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "minions_autosign/old"), old, old); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		id   string
		want bool
	}{{"new", true}, {"new", false}, {"old", false}, {"nobody", false}} {
		if got, err := s.TakeAutosign(tt.id, 2*time.Hour, now); got != tt.want || err != nil {
			t.Errorf("TakeAutosign(%s): %v %v", tt.id, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "minions_autosign/old")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the expired stub is still there: %v", err)
	}
	if err := os.Chtimes(filepath.Join(dir, "minions_autosign/keep"), old, old); err != nil {
		t.Fatal(err)
	}
	if got, err := s.TakeAutosign("keep", 0, now); !got || err != nil {
		t.Errorf("without expiry: %v %v", got, err)
	}
}

func TestFingerprints(t *testing.T) {
	text, err := os.ReadFile("testdata/fingerprints.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Public map[string]string
		Finger map[string]map[string]string
		CRLF   string `json:"crlf_minion_sha256"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	for name, by := range v.Finger {
		for hash, want := range by {
			if got, err := Fingerprint(v.Public[name], hash); got != want || err != nil {
				t.Errorf("%s %s: got %s %v, want %s", name, hash, got, err, want)
			}
		}
	}
	crlf := strings.ReplaceAll(v.Public["minion"], "\n", "\r\n")
	if got, err := Fingerprint(crlf, ""); got != v.CRLF || err != nil {
		t.Errorf("CRLF: got %s %v, want %s", got, err, v.CRLF)
	}
	if _, err := Fingerprint(pem, "crc32"); err == nil {
		t.Error("an unknown hash was taken")
	}
	for _, odd := range []string{"", "\n\n", "one", "one\ntwo"} {
		if got, err := Fingerprint(odd, "md5"); got != "d4:1d:8c:d9:8f:00:b2:04:e9:80:09:98:ec:f8:42:7e" || err != nil {
			t.Errorf("%q: got %s %v, want the hash of nothing", odd, got, err)
		}
	}
}

func benchStore(b *testing.B, n int) (*Store, string) {
	b.Helper()
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("minions/node-%05d.example.com", i)] = pem
	}
	s, dir := newStore(b, files)
	old := time.Now().Add(-time.Hour)
	for _, path := range []string{"minions", "minions/node-00042.example.com"} {
		if err := os.Chtimes(filepath.Join(dir, path), old, old); err != nil {
			b.Fatal(err)
		}
	}
	return s, dir
}

func BenchmarkGet(b *testing.B) {
	s, _ := benchStore(b, 100)
	for b.Loop() {
		if st, _, err := s.Get("node-00042.example.com"); st != Accepted || err != nil {
			b.Fatal(st, err)
		}
	}
}

func BenchmarkAcceptedUnchanged(b *testing.B) {
	s, _ := benchStore(b, 100)
	a := s.ForAuth(0)
	for b.Loop() {
		if _, ok := a.Accepted("node-00042.example.com"); !ok {
			b.Fatal("not accepted")
		}
	}
}

func BenchmarkList10kUnchanged(b *testing.B) {
	s, _ := benchStore(b, 10_000)
	for b.Loop() {
		if ids, err := s.ids(Accepted); len(ids) != 10_000 || err != nil {
			b.Fatal(len(ids), err)
		}
	}
}

func BenchmarkList10kChanged(b *testing.B) {
	s, dir := benchStore(b, 10_000)
	at := time.Now()
	for b.Loop() {
		at = at.Add(time.Second)
		if err := os.Chtimes(filepath.Join(dir, "minions"), at, at); err != nil {
			b.Fatal(err)
		}
		if ids, err := s.ids(Accepted); len(ids) != 10_000 || err != nil {
			b.Fatal(len(ids), err)
		}
	}
}
