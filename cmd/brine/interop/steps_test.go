//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// returns runs `salt --static --out=json` of a kind and decodes the answers, by minion.
func (s *site) returns(kind string, args ...string) map[string]any {
	s.t.Helper()
	r := s.run(kind, "salt", append([]string{"--static", "--out=json", "-t", s.wait}, args...)...)
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

// all returns nil if exactly these minions answered, each with want.
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
	s.check(kind, func(got map[string]any) error { return all(got, want, ids...) }, args...)
}

// expectEach runs a job and checks that exactly these minions answered, each with a value that good accepts.
func (s *site) expectEach(kind string, ids []string, good func(v any) error, args ...string) {
	s.t.Helper()
	s.check(kind, func(got map[string]any) error {
		for id, v := range got {
			if err := good(v); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
		}
		if len(got) != len(ids) {
			return fmt.Errorf("answers of %d minions, want %q", len(got), ids)
		}
		return nil
	}, args...)
}

// check runs a job. It repeats the job if real Salt may have lost returns.
func (s *site) check(kind string, good func(map[string]any) error, args ...string) {
	s.t.Helper()
	for try := 1; ; try++ {
		err := good(s.returns(kind, args...))
		switch {
		case err == nil:
			return
		case try >= s.tries:
			s.t.Errorf("%s salt %q: %v", kind, args, err)
			return
		}
		s.t.Logf("%s salt %q: %v; once more", kind, args, err)
	}
}

// awaitPing pings with brine's salt until all minions answer. At first its timeouts are short, because a minion
// does not answer a job that was sent before it was connected.
func (s *site) awaitPing(ids ...string) {
	s.t.Helper()
	wait := 1
	s.eventually(patience, fmt.Sprintf("answers of %q", ids), func() error {
		err := all(s.returns(brine, "-t", strconv.Itoa(wait), "-L", strings.Join(ids, ","), "test.ping"), true, ids...)
		wait = min(2*wait, 20)
		return err
	})
}

// awaitReady waits until the logs of started minions say that they are connected.
func (s *site) awaitReady(ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		s.eventually(patience, id+" to be ready", func() error {
			return s.minions[id].says("Minion is ready to receive requests!")
		})
	}
}

// keyFolders are the folders with minions' keys in a master's pki_dir.
var keyFolders = []string{"minions", "minions_pre", "minions_rejected", "minions_denied"}

// keyFile is the path of the key of an id on the master.
func (s *site) keyFile(folder, id string) string {
	return filepath.Join(s.masterPath("etc/salt/pki/master"), folder, id)
}

// keyState names the folders that hold an id's key.
func (s *site) keyState(id string) string {
	var in []string
	for _, folder := range keyFolders {
		if _, err := os.Stat(s.keyFile(folder, id)); err == nil {
			in = append(in, folder)
		}
	}
	return strings.Join(in, " ")
}

// awaitKey waits until an id's key is in a folder, and in no other folder except that of denied keys.
func (s *site) awaitKey(folder string, ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		s.eventually(patience, id+" in "+folder, func() error {
			got := strings.Fields(s.keyState(id))
			if !slices.Contains(got, folder) || folder != "minions_denied" && strings.TrimSuffix(strings.Join(got, " "),
				" minions_denied") != folder {
				return fmt.Errorf("%s is in %q", id, got)
			}
			return nil
		})
	}
}

// listed checks the output of `salt-key -l` of a kind about one folder.
func (s *site) listed(kind, folder string, ids ...string) {
	s.t.Helper()
	word := map[string]string{"minions": "acc", "minions_pre": "un", "minions_rejected": "rej",
		"minions_denied": "den"}[folder]
	r := s.mustRun(kind, "salt-key", "--out=json", "-l", word)
	var got map[string][]string
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		s.t.Errorf("%s salt-key -l %s: %v\n%s", kind, word, err, r.stdout)
		return
	}
	for _, id := range ids {
		if !slices.Contains(got[folder], id) {
			s.t.Errorf("%s salt-key -l %s: no %s in %v", kind, word, id, got)
		}
	}
}

// mustRun runs a tool that must succeed.
func (s *site) mustRun(kind, tool string, args ...string) result {
	s.t.Helper()
	r := s.run(kind, tool, args...)
	if r.code != 0 {
		s.t.Errorf("%s %s %q: exit %d\n%s%s", kind, tool, args, r.code, r.stdout, r.stderr)
	}
	return r
}
