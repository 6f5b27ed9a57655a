package jobstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// localFacts reads the pieces of a job as text, with r behind those of returns.
func localFacts(t *testing.T, c *LocalCache, jid string) (out []string) {
	t.Helper()
	pieces, written, err := c.Facts(jid)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pieces {
		text := string(p)
		if written[i].IsZero() {
			text += " r"
		}
		out = append(out, text)
	}
	return out
}

func wantFacts(t *testing.T, c *LocalCache, jid string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, localFacts(t, c, jid)); diff != "" {
		t.Errorf("pieces of %s (-want +got):\n%s", jid, diff)
	}
}

// TestLocalFacts: facts lie beside Salt's files, change nothing of what is read there, and go with their job.
func TestLocalFacts(t *testing.T) {
	dir := t.TempDir()
	c, err := OpenLocalCache(Options{CacheDir: dir, Keep: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ret, late := answer(jid1, "a", "value"), answer(jid1, "b", 1)
	ret.Facts, late.Facts = []byte("of a"), []byte("of b")
	commit(t, c, []Load{{JID: jid1, Load: ping(jid1), Minions: []string{"a", "b"}}, {JID: jid1, Facts: []byte("one")},
		{JID: jid2, Facts: []byte("of no job")}}, ret)
	commit(t, c, []Load{{JID: jid1, Facts: []byte("two")}}, late)
	want := []string{"one", "of a r", "two", "of b r"}
	wantFacts(t, c, jid1, want...)
	wantFacts(t, c, jid2)
	wantFacts(t, c, "../x")
	if _, written, _ := c.Facts(jid1); time.Since(written[0]).Abs() > time.Hour {
		t.Errorf("written %v", written[0])
	}
	if got := getJID(t, c, jid1); got.Len() != 2 {
		t.Errorf("returns %v", got)
	}

	ret.Facts = []byte("after a commit that failed")
	other := answer(jid1, "b", "other")
	other.Facts = []byte("of nobody")
	commit(t, c, nil, ret, other)
	want = append(want, "after a commit that failed r")
	wantFacts(t, c, jid1, want...)

	path := filepath.Join(jobDir(t, dir, jid1), fileFacts)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole[:len(whole)-3], 0, 0, 0, 0), 0o600); err != nil { // a power cut
		t.Fatal(err)
	}
	commit(t, c, []Load{{JID: jid1, Facts: []byte("three")}})
	wantFacts(t, c, jid1, append(want[:len(want)-1], "three")...)

	if n, err := c.Clean(time.Now().Add(2 * time.Hour)); n != 1 || err != nil {
		t.Errorf("cleaned %d, %v", n, err)
	}
	wantFacts(t, c, jid1)
	commit(t, c, []Load{{JID: jid1, Facts: []byte("too late")}})
	wantFacts(t, c, jid1)
}

// FuzzCutRecord: whatever a file holds, all records of it that are whole are found, and nothing beyond its end is read.
func FuzzCutRecord(f *testing.F) {
	one := appendRecord(nil, 7, []byte("piece"))
	f.Add([]byte{}, []byte("x"))
	f.Add(one, []byte("piece"))
	f.Add(one[:len(one)-1], []byte("x"))
	f.Add(append(make([]byte, 20), one...), []byte("x"))
	f.Fuzz(func(t *testing.T, before, piece []byte) {
		total := 0
		for b := before; ; {
			got, _, rest := cutRecord(b)
			if got == nil {
				break
			}
			if total += len(got) + recordHead; total > len(before) {
				t.Fatal("more came out than is there")
			}
			b = rest
		}
		if len(piece) == 0 {
			return
		}
		got, at, rest := cutRecord(appendRecord(nil, 9, piece))
		if string(got) != string(piece) || at != 9 || len(rest) != 0 {
			t.Errorf("got %q, %d, %q", got, at, rest)
		}
	})
}
