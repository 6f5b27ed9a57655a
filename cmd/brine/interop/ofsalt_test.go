//go:build interop

package interop

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ofSaltCommands are commands for a brine minion and a Salt minion about the files of a real master. Each
// minion has its own folder ROOT/got.
var ofSaltCommands = [][]string{
	{"cp.envs"},
	{"cp.list_master"},
	{"cp.list_master", "saltenv=dev", "prefix=web"},
	{"cp.list_master", "saltenv=nope"},
	{"cp.list_master_dirs"},
	{"cp.list_master_symlinks"},
	{"cp.list_states"},
	{"cp.hash_file", "salt://web/dev.txt", "saltenv=dev"},
	{"cp.hash_file", "salt://none"},
	{"cp.stat_file", "salt://web/files/script.sh"},
	{"cp.get_file", "salt://big.bin", "ROOT/got/big.bin", "makedirs=True"},
	{"cp.get_file", "salt://big.bin", "ROOT/got/zipped.bin", "gzip=5"},
	{"cp.get_file", "salt://empty", "ROOT/got/empty"},
	{"cp.get_file", "salt://none", "ROOT/got/none"},
	{"cp.get_file", "salt://link", "ROOT/got/link"},
	{"cp.get_file", "salt://eight", "ROOT/got/eight"},
	{"cp.get_file_str", "salt://web/files/conf.d/1.conf"},
	{"cp.get_url", "salt://web/init.sls", "ROOT/got/url"},
	{"cp.get_dir", "salt://many", "ROOT/got/dir"},
	{"cp.get_template", "salt://web/files/web.conf.jinja", "ROOT/got/template", "port=1"},
	{"cp.cache_file", "salt://web/init.sls"},
	{"cp.cache_file", "salt://none"},
	{"cp.cache_files", "salt://web/init.sls,salt://web/map.jinja"},
	{"cp.cache_dir", "salt://web/files"},
	{"cp.cache_dest", "salt://web/map.jinja"},
	{"cp.cache_local_file", "ROOT/got/url"},
	{"cp.is_cached", "salt://web/init.sls"},
	{"cp.list_minion"},
	{"cp.cache_master", "dev"},
	{"cp.push", "ROOT/got/big.bin"},
	{"cp.push", "ROOT/got/nothing"},
	{"cp.push_dir", "ROOT/got/dir", "glob=*1.txt"},
}

// many is the number of small files in one folder.
const many = 300

// randomFile writes a file of the given size that cannot be compressed, and returns its hash.
func randomFile(t *testing.T, path string, size int) string {
	t.Helper()
	data := make([]byte, size)
	if _, err := rand.NewChaCha8([32]byte{2}).Read(data); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// TestFilesOfSalt lets a brine minion fetch and push files behind a real master. It acts like a Salt minion.
// After the master is killed during a large file, the transfer continues where it stopped.
func TestFilesOfSalt(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	f := newFleet(t, reference, brine, map[string]string{"mbrine": brine, "m" + reference: reference}, plain)
	tree := f.masterPath("tree")
	copyTree(t, tree)
	for i := range many {
		f.write(filepath.Join(tree, fmt.Sprintf("base/many/%d/%d.txt", i%7, i)), strings.Repeat("small ", i))
	}
	randomFile(t, filepath.Join(tree, "base/eight"), 8<<20)
	want := randomFile(t, filepath.Join(tree, "base/huge"), 96<<20)
	f.configure(variant{"files", "file_recv: True\nfile_roots:\n  base:\n    - " + tree + "/base\n  dev:\n    - " +
		tree + "/dev\n", plain.minion})
	f.startAll()
	f.acceptAll()
	for i, words := range ofSaltCommands {
		f.step(fmt.Sprintf("%02d %s", i, words[0]), func(f *fleet) {
			want, got := f.ownAnswer("m"+reference, words), f.ownAnswer("mbrine", words)
			if diff := cmp.Diff(want, got); diff != "" {
				f.t.Errorf("%q: Salt -, brine +\n%s", words, diff)
			}
			f.t.Logf("%.200v", want)
		})
	}
	for _, dir := range []string{"ID/got", "ID/var/cache/salt/minion/files",
		"m/var/cache/salt/master/minions/ID/files"} {
		theirs, ours := f.contentOf(dir, "m"+reference), f.contentOf(dir, "mbrine")
		if diff := cmp.Diff(theirs, ours); diff != "" || len(ours) < 3 {
			t.Errorf("%d files in %s: Salt -, brine +\n%s", len(ours), dir, diff)
		}
	}
	f.goesOn(want)
}

// ownAnswer is the answer of one minion, without data that identifies it.
func (f *fleet) ownAnswer(id string, words []string) any {
	f.t.Helper()
	args := []string{"-t", "60", id}
	for _, w := range words {
		args = append(args, strings.ReplaceAll(w, "ROOT/got", f.minionRoot(id)+"/got"))
	}
	var got map[string]any
	for range f.tries {
		if got = f.returns(brine, args...); len(got) == 1 {
			break
		}
	}
	text, err := json.Marshal(got[id])
	var out any
	if err == nil {
		err = json.Unmarshal([]byte(strings.ReplaceAll(string(text), f.minionRoot(id), "ROOT")), &out)
	}
	if err != nil || len(got) != 1 {
		f.t.Fatalf("%q: %v, %v", args, got, err)
	}
	return out
}

// contentOf maps the files in a folder of a minion to hashes, with its id replaced by ID.
func (f *fleet) contentOf(dir, id string) map[string]string {
	out := map[string]string{}
	all := content(f.t, f.minionRoot(id), filepath.Join("..", strings.ReplaceAll(dir, "ID", id)))
	for name, sum := range all {
		out[strings.ReplaceAll(name, id, "ID")] = sum
	}
	return out
}

// goesOn kills and restarts the master while the brine minion fetches a large file. The partial file becomes
// the whole file, and no other partial file is left.
func (f *fleet) goesOn(want string) {
	f.t.Helper()
	dir := filepath.Join(f.minionRoot("mbrine"), "got/huge")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.t.Fatal(err)
	}
	const begun = 2 << 20
	jid := lastWord(f.mustRun(brine, "salt", "--async", "mbrine", "cp.get_file", "salt://huge", dir+"/file").stdout)
	var before fs.FileInfo
	f.eventually(patience, "the file that is begun", func() error {
		list, err := os.ReadDir(dir)
		if err != nil || len(list) != 1 {
			return fmt.Errorf("%v, %v", list, err)
		}
		if before, err = list[0].Info(); err == nil && before.Size() < begun {
			err = fmt.Errorf("it has %d bytes", before.Size())
		}
		return err
	})
	f.site.master.kill()
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 || list[0].Name() == "file" {
		f.t.Fatalf("the master was killed too late: %v, %v", list, err)
	}
	f.startMaster(reference)
	f.eventually(patience, "the return of "+jid, func() error {
		r := f.run(brine, "salt-run", "--out=json", "jobs.lookup_jid", jid)
		return contains(r.stdout, dir+"/file")
	})
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		f.t.Fatalf("%v, %v", list, err)
	}
	after, err := list[0].Info()
	if err != nil || inode(after) != inode(before) {
		f.t.Errorf("the file that is whole was begun anew: %v", err)
	}
	if got := content(f.t, dir, "."); !maps.Equal(got, map[string]string{".": "", "file": want}) {
		f.t.Errorf("it is %v, want %s", got, want)
	}
}

func inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }
