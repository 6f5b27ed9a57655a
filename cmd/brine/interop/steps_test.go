//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// returns runs `salt --static --out=json` of a kind and decodes the answers: minion → value.
func (s *site) returns(kind string, args ...string) map[string]any {
	s.t.Helper()
	r := s.run(kind, "salt", append([]string{"--static", "--out=json", "-t", "8"}, args...)...)
	out := map[string]any{}
	start := strings.IndexByte(r.stdout, '{')
	if start < 0 {
		s.t.Logf("salt %q: no answer (exit %d)\n%s%s", args, r.code, r.stdout, r.stderr)
		return out
	}
	if err := json.Unmarshal([]byte(r.stdout[start:]), &out); err != nil {
		s.t.Fatalf("salt %q: %v\n%s", args, err, r.stdout)
	}
	return out
}

// all tells whether exactly these minions answered, each with want.
func all(got map[string]any, want any, ids ...string) error {
	for _, id := range ids {
		v, ok := got[id]
		if !ok {
			return fmt.Errorf("no answer of %s: %v", id, got)
		}
		if fmt.Sprint(v) != fmt.Sprint(want) {
			return fmt.Errorf("%s: got %v, want %v", id, v, want)
		}
	}
	if len(got) != len(ids) {
		return fmt.Errorf("got answers of %d minions, want %q: %v", len(got), ids, got)
	}
	return nil
}

// expect runs a job and checks that exactly these minions answered with want.
func (s *site) expect(kind string, want any, ids []string, args ...string) {
	s.t.Helper()
	if err := all(s.returns(kind, args...), want, ids...); err != nil {
		s.t.Errorf("%s salt %q: %v", kind, args, err)
	}
}

// awaitPing pings until all minions answer.
func (s *site) awaitPing(kind string, limit time.Duration, ids ...string) {
	s.t.Helper()
	s.eventually(limit, fmt.Sprintf("answers of %q", ids), func() error {
		return all(s.returns(kind, "-t", "2", "-L", strings.Join(ids, ","), "test.ping"), true, ids...)
	})
}

// keyState is the folder below the master's pki_dir that holds an id's key.
func (s *site) keyState(id string) string {
	for _, folder := range []string{"minions", "minions_pre", "minions_rejected"} {
		if _, err := os.Stat(filepath.Join(s.masterPath("etc/salt/pki/master"), folder, id)); err == nil {
			return folder
		}
	}
	return ""
}

// awaitKey waits until an id's key is in a folder.
func (s *site) awaitKey(id, folder string) {
	s.t.Helper()
	s.eventually(60*time.Second, id+" in "+folder, func() error {
		if got := s.keyState(id); got != folder {
			return fmt.Errorf("%s is in %q", id, got)
		}
		return nil
	})
}

// mustRun runs a tool that has to succeed.
func (s *site) mustRun(kind, tool string, args ...string) result {
	s.t.Helper()
	r := s.run(kind, tool, args...)
	if r.code != 0 {
		s.t.Errorf("%s %s %q: exit %d\n%s%s", kind, tool, args, r.code, r.stdout, r.stderr)
	}
	return r
}
