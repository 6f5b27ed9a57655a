//go:build interop

package interop

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fileCommands are commands of minions about the tree in testdata/files. ROOT is the folder of the site.
var fileCommands = [][]string{
	{"cp.envs"},
	{"cp.list_master"},
	{"cp.list_master", "saltenv=dev"},
	{"cp.list_master", "prefix=web/files"},
	{"cp.list_master", "saltenv=nope"},
	{"cp.list_master_dirs"},
	{"cp.list_master_symlinks"},
	{"cp.list_states"},
	{"cp.hash_file", "salt://web/init.sls"},
	{"cp.hash_file", "salt://web/dev.txt", "saltenv=dev"},
	{"cp.hash_file", "salt://none"},
	{"cp.stat_file", "salt://web/files/script.sh"},
	{"cp.get_file", "salt://big.bin", "ROOT/got/big.bin", "makedirs=True"},
	{"cp.get_file", "salt://big.bin", "ROOT/got/zipped.bin", "gzip=5"},
	{"cp.get_file", "salt://empty", "ROOT/got/empty"},
	{"cp.get_file", "salt://none", "ROOT/got/none"},
	{"cp.get_file", "salt://link", "ROOT/got/link"},
	{"cp.get_file", "salt://web/dev.txt?saltenv=dev", "ROOT/got/dev.txt"},
	{"cp.get_file_str", "salt://web/files/conf.d/1.conf"},
	{"cp.get_url", "salt://web/init.sls", "ROOT/got/url"},
	// in one folder for all minions, Salt's would race
	{"cp.get_dir", "salt://web", "ROOT/dir-{{ grains.id }}", "template=jinja"},
	{"cp.get_template", "salt://web/files/web.conf.jinja", "ROOT/got/template", "port=1"},
	{"cp.cache_file", "salt://web/init.sls"},
	{"cp.cache_files", "salt://web/init.sls,salt://web/map.jinja"},
	{"cp.cache_dir", "salt://web/files"},
	{"cp.is_cached", "salt://web/init.sls"},
	{"cp.cache_master", "dev"},
	{"saltutil.sync_all"},
	{"greet.hello", "world"},
	{"grains.get", "own_grain"},
	{"state.show_top"},
	{"state.show_sls", "web"},
	{"state.show_sls", "web", "saltenv=dev"},
	{"state.apply", "web", "test=True"},
	{"state.apply", "web"},
	{"state.apply", "web", "saltenv=dev"},
	{"state.apply", "none"},
	{"state.apply"},
	{"state.highstate"},
	{"cp.cache_master"},
}

// copyTree copies the files of testdata/files to a folder, and adds some that are not in the repository.
func copyTree(t *testing.T, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS("testdata/files")); err != nil {
		t.Fatal(err)
	}
	big := make([]byte, 3<<20+17)
	random := rand.NewChaCha8([32]byte{1})
	_, err := random.Read(big[:2<<20]) // the rest can be compressed
	for name, data := range map[string][]byte{"big.bin": big, "empty": nil} {
		if err == nil {
			err = os.WriteFile(filepath.Join(to, "base", name), data, 0o644)
		}
	}
	if err == nil {
		err = os.Symlink("web/init.sls", filepath.Join(to, "base/link"))
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(to, "base/web/files/conf.d/hollow"), 0o755)
	}
	if err == nil {
		err = os.Chmod(filepath.Join(to, "base/web/files/script.sh"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fileFleet starts a master of a kind with a tree of files and no pillar, and real minions.
func fileFleet(t *testing.T, master, tree string) *fleet {
	t.Helper()
	kinds := map[string]string{}
	for _, release := range chosen(reference, "3006") {
		kinds["m"+release] = release
	}
	f := newFleet(t, master, brine, kinds, plain)
	if err := os.RemoveAll(f.masterPath("pillar")); err != nil {
		t.Fatal(err)
	}
	f.configure(variant{"files", "file_roots:\n  base:\n    - " + tree + "/base\n  dev:\n    - " + tree + "/dev\n",
		"  out: " + f.root + "/out\nsign_pub_messages: True\n"})
	f.startAll()
	f.acceptAll()
	return f
}

// TestServedFiles gives Salt minions behind a brine master and behind a Salt 3008 master the same tree of files
// and the same commands. Their answers, their caches and the files that they write are the same.
func TestServedFiles(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	tree := t.TempDir()
	copyTree(t, tree)
	ours, theirs := fileFleet(t, brine, tree), fileFleet(t, reference, tree)
	for i, words := range fileCommands {
		t.Run(fmt.Sprintf("%02d %s", i, words[0]), func(t *testing.T) {
			got := make(chan map[string]any, 1)
			go func() {
				defer close(got) // for a test that has ended
				got <- ours.answered(t, words)
			}()
			want := theirs.answered(t, words)
			if diff := cmp.Diff(want, <-got); diff != "" {
				t.Errorf("%q: behind Salt -, behind brine +\n%s", words, diff)
			}
			t.Logf("%.200v", want)
		})
	}
	for _, id := range ours.ids {
		for _, dir := range []string{id + "/var/cache/salt/minion/files", id + "/var/cache/salt/minion/extmods", "got",
			"dir-" + id, "out-" + id} {
			want := content(t, theirs.root, dir)
			if diff := cmp.Diff(want, content(t, ours.root, dir)); diff != "" {
				t.Errorf("%s: behind Salt -, behind brine +\n%s", dir, diff)
			}
			if len(want) == 0 {
				t.Errorf("%s is empty", dir)
			}
		}
	}
	t.Run("runners", func(t *testing.T) { sameRuns(t, ours, theirs) })
}

// sameRuns compares the output of salt-run about the files.
func sameRuns(t *testing.T, ours, theirs *fleet) {
	for _, words := range [][]string{{"fileserver.envs"}, {"fileserver.envs", "sources=True"}, {"fileserver.file_list"},
		{"fileserver.file_list", "saltenv=dev", "backend=roots"}, {"fileserver.file_list", "backend=-roots"},
		{"fileserver.dir_list"}, {"fileserver.empty_dir_list"}, {"fileserver.symlink_list"}, {"fileserver.update"},
		{"saltutil.sync_grains"}, {"saltutil.sync_all"}, {"saltutil.sync_all"}, {"fileserver.clear_cache"},
		{"fileserver.lock"}, {"fileserver.clear_lock"}, {"fileserver.clear_file_list_cache"},
		{"fileserver.clear_file_list_cache", "saltenv=nope"}} {
		args := append([]string{"--out=json"}, words...)
		want := theirs.mustRun(reference, "salt-run", args...).stdout
		for _, kind := range []string{brine, reference} {
			if kind == reference && (words[0] == "fileserver.clear_file_list_cache" ||
				words[0] == "saltutil.sync_grains" || words[0] == "saltutil.sync_all") {
				continue // Salt's reads files that a brine master does not write; modules are synced once
			}
			if got := ours.mustRun(kind, "salt-run", args...).stdout; got != want {
				t.Errorf("%s salt-run %q: got %s, want %s", kind, words, got, want)
			}
		}
	}
}

// answered returns the answers of all minions to one command, without data that differs each time.
func (f *fleet) answered(t *testing.T, words []string) map[string]any {
	t.Helper()
	args := []string{"-t", "60", "*"} // a second attempt after a timeout would find the work done
	for _, w := range words {
		args = append(args, strings.ReplaceAll(w, "ROOT", f.root))
	}
	outer := f.t
	f.t = t
	defer func() { f.t = outer }()
	var got map[string]any
	for range f.tries {
		if got = f.returns(brine, args...); len(got) == len(f.ids) {
			break
		}
	}
	if ids := slices.Sorted(maps.Keys(got)); !slices.Equal(ids, f.ids) {
		t.Fatalf("%q: answers of %q, want %q", words, ids, f.ids)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(f.root), []byte("ROOT")), &out); err != nil {
		t.Fatal(err)
	}
	for _, v := range out {
		if list, ok := v.([]any); ok { // environments are in any order
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		if m, ok := v.(map[string]any); ok {
			forget(m, "duration", "start_time", "pid", "_stamp")
			sortComments(m)
		}
	}
	return out
}

// sortComments sorts the lines in the comments of states, because those of file.recurse are in any order.
func sortComments(states map[string]any) {
	for _, v := range states {
		if state, ok := v.(map[string]any); ok {
			lines := strings.Split(fmt.Sprint(state["comment"]), "\n")
			slices.Sort(lines)
			state["comment"] = lines
		}
	}
}

// content maps the files below a folder to hashes of their content without the root's name, and folders to "".
func content(t *testing.T, root, below string) map[string]string {
	t.Helper()
	out, dir := map[string]string{}, filepath.Join(root, below)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || d.Name() == "__pycache__" {
			return fs.SkipDir
		}
		if d.IsDir() {
			out[rel] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(bytes.ReplaceAll(data, []byte(root), nil))
		out[rel] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil && err != fs.SkipDir {
		t.Fatal(err)
	}
	return out
}
