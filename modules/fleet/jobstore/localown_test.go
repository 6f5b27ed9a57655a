package jobstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestOwnFilesGoFirst: in Salt's layout too the jobs that a minion makes up go before published ones, and before
// another minion's few; one that was published since is nobody's.
func TestOwnFilesGoFirst(t *testing.T) {
	dir := t.TempDir()
	c, err := OpenLocalCache(Options{CacheDir: dir, MaxBytes: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	jid := func(kind, i int) string { return fmt.Sprintf("202601%02d%012d", kind, i) }
	minute := 0
	put := func(jid, id string, load *payload.Map, n int) {
		t.Helper()
		var loads []Load
		if load != nil {
			loads = []Load{{JID: jid, Load: load, Minions: []string{id}}}
		}
		commit(t, c, loads, Return{JID: jid, ID: id, By: id, Load: payload.M("return", strings.Repeat("x", n), "fun",
			"test.ping")})
		at := time.Now().Add(time.Duration(minute-1000) * time.Minute) // the age of a job is that of this file
		minute++
		if err := os.Chtimes(filepath.Join(jobDir(t, dir, jid), fileJID), at, at); err != nil {
			t.Fatal(err)
		}
	}
	published := payload.M("fun", "test.ping")
	for i := range 20 {
		put(jid(1, i), "honest", published, 1000)
	}
	put(jid(2, 0), "honest", nil, 500)
	put(jid(3, 0), "thief", nil, 1000)
	put(jid(3, 0), "honest", published, 1000) // spoken of before it was published
	for i := 1; i < 10; i++ {
		put(jid(3, i), "thief", nil, 50_000)
	}
	if n, err := c.Clean(time.Now()); err != nil || n == 0 {
		t.Fatalf("removed %d, %v", n, err)
	}
	for kind, n := range map[int]int{1: 20, 2: 1, 3: 1} {
		for i := range n {
			if got, err := c.GetJID(jid(kind, i)); err != nil || !got.Has("honest") {
				t.Errorf("job %d of kind %d is gone: %v", i, kind, err)
			}
		}
	}
	if got, err := c.GetJID(jid(3, 9)); err != nil || !got.Has("thief") {
		t.Errorf("the last job of the minion: %v, %v", got, err)
	}
	if n := treeSize(filepath.Join(dir, "jobs")); n > 200_000 {
		t.Errorf("%d bytes are left", n)
	}
}
