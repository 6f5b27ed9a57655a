package jobstore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/disk/packedfile"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// TestReturnFiles stores the jobs of make.py in brine's own store. What was announced has every file Salt's own job
// cache has, byte by byte, whoever wrote it first.
func TestReturnFiles(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	load := Load{JID: jid1, Load: saltLoad(), Minions: []string{"web2", "web1"}}
	if err := s.Announce(load); err != nil {
		t.Fatal(err)
	}
	load.Announced = true
	commit(t, s, []Load{load, {JID: jid1, Minions: []string{"web9", "web8"}, Syndic: "syn1"},
		{JID: saltNoCache, Load: payload.M("jid", saltNoCache, "fun", "saltutil.find_job", "tgt", "*"),
			Minions: []string{"web1"}, NoCache: true},
	})
	commit(t, s, nil, saltReturns()...)
	if err := os.WriteFile(filepath.Join(jobDir(t, dir, jid1), fileEndTime), []byte("2026, Nov 20 10:53:27.000651"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files(t, filepath.Join(saltDir, "jobs")), files(t, filepath.Join(dir, "jobs"))); diff != "" {
		t.Errorf("(-Salt +brine)\n%s", diff)
	}
}

// TestReturnFilesFirst: the first return of a minion stays in the files too, also over a restart, and a job that
// brine's tools published has none.
func TestReturnFilesFirst(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	if err := s.Announce(Load{JID: jid1, Load: ping(jid1), Minions: []string{"web1", "web2"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Note(Load{JID: jid2, Load: ping(jid2)}); err != nil {
		t.Fatal(err)
	}
	commit(t, s, nil, answer(jid1, "web1", "first"), answer(jid1, "web1", "second"), answer(jid2, "web1", "noted"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir)
	commit(t, s, nil, answer(jid1, "web1", "third"), answer(jid1, "web2", "late"),
		answer(jid3, "web2", "nobody published it"))
	want := map[string]string{"web1": "first", "web2": "late"}
	for id, text := range want {
		v, err := packedfile.Read(filepath.Join(jobDir(t, dir, jid1), id, fileReturn))
		if m, ok := v.(*payload.Map); err != nil || !ok || m.Value("return") != text {
			t.Errorf("return of %s: %v, %v, want %q", id, v, err, text)
		}
	}
	if exists(jobDir(t, dir, jid2)) {
		t.Error("a job of brine's tools has files")
	}
	if !exists(jobDir(t, dir, jid3), "web2", fileReturn) {
		t.Error("a job that nobody announced has no file of its return")
	}
}

// TestReturnFilesFail: where a file cannot be written the return is stored all the same, and the failure told.
func TestReturnFilesFail(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Options{CacheDir: dir, EndTimes: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Announce(Load{JID: jid1, Load: ping(jid1)}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(jobDir(t, dir, jid1), "web1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := s.Commit(nil, []Return{answer(jid1, "web1", true), answer(jid1, "web2", true)})
	if err != nil || len(res.Failed) > 0 || res.Files == nil || !strings.Contains(res.Files.Error(), "web1") {
		t.Errorf("got %+v, %v", res, err)
	}
	if got := getJID(t, s, jid1); got.Len() != 2 {
		t.Errorf("stored are %v", got)
	}
	if !exists(jobDir(t, dir, jid1), "web2", fileReturn) || !exists(jobDir(t, dir, jid1), fileEndTime) {
		t.Error("the other return has no file, or the job no end time")
	}
}

// BenchmarkReturnFiles: the returns of a hundred minions to one job, with files and without.
func BenchmarkReturnFiles(b *testing.B) {
	for _, announced := range []bool{false, true} {
		b.Run(map[bool]string{true: "files", false: "store"}[announced], func(b *testing.B) {
			s := openStore(b, b.TempDir())
			for n := 0; b.Loop(); n++ {
				jid := fmt.Sprintf("%020d", n)
				l := Load{JID: jid, Load: ping(jid), Minions: []string{"web1"}}
				write := s.Note
				if announced {
					write = s.Announce
				}
				if err := write(l); err != nil {
					b.Fatal(err)
				}
				l.Announced = true
				returns := make([]Return, 100)
				for i := range returns {
					returns[i] = answer(jid, fmt.Sprintf("web%d", i), true)
				}
				if _, err := s.Commit([]Load{l}, returns); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
