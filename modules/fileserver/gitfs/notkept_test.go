package gitfs

import (
	"os"
	"path/filepath"
	"testing"

	"brine/modules/fileserver"
	"brine/wire/payload"
)

// TestNotKept: a file that cannot be written below the cache is an error. It is not as if there were none, no other
// backend has it in its place, and what was fetched does not count as damaged.
func TestNotKept(t *testing.T) {
	f := newForge(t)
	f.commit(master, f.tree(modeFile|0o644, "a", f.blob("a")))
	cache, root := t.TempDir(), t.TempDir()
	b, err := New(payload.M("gitfs_remotes", []any{f.url()}, "cachedir", cache))
	if err == nil {
		_, err = b.Update(t.Context())
	}
	blobs := ""
	if err == nil {
		blobs = filepath.Join(b.repos[0].dir, "blobs")
		err = os.WriteFile(filepath.Join(root, "a"), []byte("of another backend"), 0o600)
	}
	if err == nil {
		err = os.RemoveAll(blobs)
	}
	if err == nil {
		err = os.WriteFile(blobs, nil, 0o600) // in the way
	}
	roots, bad := fileserver.NewRoots(fileserver.RootsOptions{Envs: map[string][]string{"base": {root}}})
	if err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	s, err := fileserver.New(fileserver.Options{HashType: "sha256", Buffer: 1024, Backends: []fileserver.Backend{b,
		roots}})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := s.Serve("a", "base", 0, 0); err == nil {
		t.Errorf("served: %q of %q", p.Data, p.Dest)
	}
	for _, cmd := range []string{payload.CmdServeFile, payload.CmdFileFind, payload.CmdFileHash,
		payload.CmdFileHashAndStat} {
		if v, _, err := s.Answer(cmd, payload.M("path", "a", "saltenv", "base", "loc", 0)); err == nil {
			t.Errorf("%s: %v", cmd, v)
		}
	}
	if b.repos[0].damaged.Load() {
		t.Error("it counts as damaged")
	}
	if err := os.Remove(blobs); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Serve("a", "base", 0, 0); err != nil || string(p.Data) != "a" {
		t.Errorf("when there is room: %q, %v", p.Data, err)
	}
}
