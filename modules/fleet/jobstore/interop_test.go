//go:build interop

package jobstore

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"brine/modules/modtest"

	"github.com/google/go-cmp/cmp"
)

// TestSaltRunReads: the runners of an installed Salt find returns in the files beside brine's own store.
func TestSaltRunReads(t *testing.T) {
	tool := modtest.SaltProgram(t, "3008", "salt-run")
	root := t.TempDir()
	cache := filepath.Join(root, "cache")
	conf := fmt.Sprintf("root_dir: %s\npki_dir: %s/pki\ncachedir: %s\nsock_dir: %s/run\nlog_file: %s/log\nid: "+
		"m_master\n", root, root, cache, root, root)
	for _, dir := range []string{filepath.Join(cache, "proc"), filepath.Join(root, "pki"), filepath.Join(root, "run")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "master"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, cache)
	if err := s.Announce(Load{JID: jid1, Load: ping(jid1), Minions: []string{"web1", "web2"}}); err != nil {
		t.Fatal(err)
	}
	commit(t, s, nil, answer(jid1, "web1", true), answer(jid1, "web2", "two"))
	out, err := exec.CommandContext(t.Context(), tool, "-c", root, "--out", "json", "jobs.lookup_jid", jid1).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if diff := cmp.Diff(map[string]any{"web1": true, "web2": "two"}, got); diff != "" {
		t.Errorf("jobs.lookup_jid (-want +got)\n%s", diff)
	}
}
