package attack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFullDiskMinion fills the disk of the journal. Jobs run, and their returns stay in memory while the master
// is away. When there is space again they go to disk, and survive a kill from then on.
func TestFullDiskMinion(t *testing.T) {
	t.Parallel() // it mostly waits
	if !mayMount(t) {
		return
	}
	s := newSite(t, "")
	s.minions[honest].stop()
	cache := s.path(honest + "/var/cache/salt/minion")
	d := s.disk(t, cache, 4<<20)
	again := func() {
		s.minions[honest] = s.start("minion "+honest, filepath.Join(links, "salt-minion"), "-c", s.path("etc/"+honest),
			"-l", "debug", "--disable-keepalive")
		s.eventually("the honest minion", func() error { return s.ping(second() / 2) })
	}
	again()
	d.fill()
	for i := 0; !strings.Contains(s.logOf(s.minions[honest]), "jobs and returns cannot be kept on disk"); i++ {
		s.good()      // a job on a full disk still gives its return
		if i > 1000 { // the last page of the journal had free space
			t.Fatal("the journal is written all the same")
		}
	}
	s.stored(s.async(honest, "test.arg", "not-kept"), "not-kept")
	// More than the space that the journal frees when no record in it counts any more, and not in the record of
	// the job's start.
	slow := s.async(honest, "cmd.run", "sleep 2; seq -s - 1 9999")
	s.said(s.minions[honest], "Starting a new job "+slow)
	s.master.kill()
	journal := filepath.Join(cache, "jobs.journal")
	holds := func() error {
		text, err := os.ReadFile(journal)
		if err == nil && !strings.Contains(string(text), "-9998-") {
			err = errors.New("the journal does not hold it")
		}
		return err
	}
	s.said(s.minions[honest], "the return waits for the master")
	if holds() == nil {
		t.Fatal("the disk was not full")
	}
	d.free()
	s.eventually("return on disk", holds)
	s.minions[honest].kill()
	s.startMaster()
	again()
	s.eventually("return", func() error {
		if out := s.tool("salt-run", "jobs.lookup_jid", slow); !strings.Contains(out.stdout, "-9998-") {
			return fmt.Errorf("%+v", out)
		}
		return nil
	})
	s.good()
}

// TestFullDiskKeys fills the disk of the keys. A sign-in that cannot be stored is not accepted, no incomplete
// file is left, and no decision of an operator loses a key.
func TestFullDiskKeys(t *testing.T) {
	t.Parallel() // it mostly waits
	if !mayMount(t) {
		return
	}
	s := newSite(t, "")
	s.master.stop()
	d := s.disk(t, s.pki(""), 1<<20)
	s.startMaster()
	s.eventually("the honest minion", func() error { return s.ping(second() / 2) })
	d.fill()
	if got := s.keyFiles(); got != "minions/honest" {
		t.Fatalf("keys: %s", got)
	}
	s.startMinion("other", "")
	s.said(s.master, "store accepted key")
	if got := s.keyFiles(); got != "minions/honest" {
		t.Errorf("on a full disk: %s", got)
	}
	s.good()
	d.free()
	there := func() {
		s.eventually("the other minion", func() error {
			if out := s.tool("salt", "-t", "5", "other", "test.ping"); !strings.Contains(out.stdout, "True") {
				return fmt.Errorf("%+v", out)
			}
			return nil
		})
	}
	there()
	d.fill()
	for _, args := range [][]string{{"-y", "-r", "other", "--include-accepted"},
		{"-y", "-a", "other", "--include-rejected"}} {
		out := s.tool("salt-key", args...)
		if got := s.keyFiles(); got != "minions/honest, minions/other" &&
			got != "minions/honest, minions_rejected/other" {
			t.Errorf("salt-key %q: %+v: %s", args, out, got)
		}
	}
	s.good()
	d.free()
	s.tool("salt-key", "-y", "-a", "other", "--include-rejected")
	there()
	s.good()
}

// keyFiles lists the files in the folders of keys, and marks files without a whole key.
func (s *site) keyFiles() string {
	s.t.Helper()
	var all []string
	for _, f := range s.files("m/etc/salt/pki/master") {
		rel, err := filepath.Rel(s.pki(""), f)
		if err != nil {
			s.t.Fatal(err)
		}
		if !strings.Contains(rel, "/") {
			continue
		}
		if text, err := os.ReadFile(f); err != nil || !strings.Contains(string(text), "END PUBLIC KEY") {
			rel += fmt.Sprintf(" (%d bytes, %v)", len(text), err)
		}
		all = append(all, rel)
	}
	return strings.Join(all, ", ")
}
