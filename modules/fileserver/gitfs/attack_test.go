package gitfs

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"

	"github.com/go-git/go-git/v5/plumbing"
)

// forge makes repositories that no git program makes.
type forge struct {
	t   *testing.T
	dir string
	o   *objects
}

func newForge(t *testing.T) *forge {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "evil.git")
	if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &forge{t, dir, openObjects(dir)}
}

func (f *forge) url() string { return "file://" + f.dir }

func (f *forge) put(kind plumbing.ObjectType, data []byte) plumbing.Hash {
	f.t.Helper()
	m := &plumbing.MemoryObject{}
	m.SetType(kind)
	if _, err := m.Write(data); err != nil {
		f.t.Fatal(err)
	}
	h, err := f.o.store.SetEncodedObject(m)
	if err != nil {
		f.t.Fatal(err)
	}
	return h
}

func (f *forge) blob(text string) plumbing.Hash { return f.put(plumbing.BlobObject, []byte(text)) }

// tree makes a tree of triples: mode, name, hash.
func (f *forge) tree(of ...any) plumbing.Hash {
	var b bytes.Buffer
	for i := 0; i < len(of); i += 3 {
		h := of[i+2].(plumbing.Hash)
		fmt.Fprintf(&b, "%o %s\x00%s", of[i], of[i+1], h[:])
	}
	return f.put(plumbing.TreeObject, b.Bytes())
}

// commit makes a commit and lets a reference mean it.
func (f *forge) commit(ref string, tree plumbing.Hash) plumbing.Hash {
	h := f.put(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\nauthor a <a@b> 0 +0000\ncommitter a <a@b> 0 "+
		"+0000\n\nx\n", tree))
	f.refs(ref, h)
	return h
}

// refs lets references mean something, whatever they are called.
func (f *forge) refs(of ...any) {
	f.t.Helper()
	path := filepath.Join(f.dir, "packed-refs")
	old, _ := os.ReadFile(path)
	for i := 0; i < len(of); i += 2 {
		lines := slices.DeleteFunc(strings.Split(string(old), "\n"), func(l string) bool {
			return l == "" || strings.HasSuffix(l, " "+of[i].(string))
		})
		old = []byte(strings.Join(append(lines, of[i+1].(plumbing.Hash).String()+" "+of[i].(string)), "\n") + "\n")
	}
	if err := os.WriteFile(path, old, 0o644); err != nil {
		f.t.Fatal(err)
	}
}

const master = "refs/heads/master"

// fetched is a backend that has fetched the repository.
func (f *forge) fetched(params ...any) *Backend {
	f.t.Helper()
	b, err := backendOf(f.t, f.url(), params...)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := b.Update(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	return b
}

// everything returns what lies in a folder, links not followed.
func everything(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		out = append(out, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEvilTrees: names that lead elsewhere are neither listed, nor found, nor written out; links lead out of nothing.
func TestEvilTrees(t *testing.T) {
	f := newForge(t)
	bad, good := f.blob("evil"), f.blob("good")
	up := f.tree(modeFile|0o644, "passwd", bad)
	tree := f.tree(
		modeDir, "..", up, modeDir, ".", up, modeDir, ".git", f.tree(modeDir, "hooks",
			f.tree(modeFile|0o755, "post-checkout", bad)), modeDir, ".GIT", up, modeFile|0o644, "../../up", bad,
		modeFile|0o644, "/etc/x", bad, modeFile|0o644, "", bad, modeFile|0o644, "bad\xff", bad,
		modeFile|0o644, "good.txt", good, modeModule, "module", plumbing.NewHash(strings.Repeat("ab", 20)),
		modeLink, "etc", f.blob("/etc"), modeLink, "out", f.blob("../../../../../../../../etc/passwd"), modeLink,
		"self", f.blob("self"), modeLink, "dot", f.blob("."), modeLink, "in", f.blob("good.txt"), modeLink, "nul",
		f.blob("a\x00b"), modeLink, "empty", f.blob(""), modeDir, "sub", f.tree(modeLink, "top", f.blob(".."), modeLink,
			"trick", f.blob("top/../../x"), modeLink, "climb", f.blob("../../x")))
	f.commit(master, tree)
	b := f.fetched()
	l, err := b.Lists("base")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"dot", "empty", "etc", "good.txt", "in", "nul", "out", "self", "sub/climb", "sub/top", "sub/trick"}
	if !slices.Equal(l.Files, want) {
		t.Errorf("files: %q", l.Files)
	}
	for _, name := range []string{"../passwd", "passwd", ".git/hooks/post-checkout", ".GIT/passwd", "../../up",
		"/etc/x", "etc/passwd", "out", "self", "dot", "sub/top", "sub/trick", "sub/climb", "module", "nul", "empty",
		"bad\xff", "", ".", "..", "sub"} {
		if f, ok := b.Find("base", name, nil); ok {
			t.Errorf("%q is found: %v", name, f)
		}
	}
	if _, ok := b.Find("base", "in", nil); !ok {
		t.Error("a link inside is not found")
	}
	r := b.repos[0]
	dir, err := r.checkout(r.state(), hashOf(r.state().Refs["refs/remotes/origin/master"]))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := everything(t, dir), []string{".", "dot", "good.txt", "in", "self", "sub", "sub/top"}; !slices.Equal(
		got, want) {
		t.Errorf("written out: %q", got)
	}
	for _, p := range everything(t, filepath.Dir(filepath.Dir(r.dir))) {
		if strings.Contains(p, "passwd") || strings.Contains(p, "hooks") {
			t.Errorf("written out: %s", p)
		}
	}
}

// TestStaysInside: no chain of links that each stay inside leads out.
func TestStaysInside(t *testing.T) {
	for _, tt := range []struct {
		name, target string
		want         bool
	}{
		{"a", "b", true}, {"a", "..", false}, {"d/a", "..", true}, {"d/a", "../..", false}, {"d/a", "../b/c", true},
		{"d/e/a", "../../x", true},
		{"d/a", "b/../c", false}, {"a", "/etc", false}, {"a", "", false}, {"a", "./b", true},
		{"d/a", ".././/../x", false}, {"a", "b\x00", false},
	} {
		if got := staysInside(tt.name, tt.target); got != tt.want {
			t.Errorf("%s -> %q: got %v", tt.name, tt.target, got)
		}
	}
}

// TestEvilRefs: what is no name of a branch becomes no environment.
func TestEvilRefs(t *testing.T) {
	f := newForge(t)
	h := f.commit(master, f.tree(modeFile|0o644, "a", f.blob("a")))
	for _, name := range []string{"refs/heads/../../x", "refs/heads/a..b", "refs/heads/.hidden", "refs/heads/x.lock",
		"refs/heads/con\x01trol", "refs/heads/esc\x1b[31m",
		"refs/heads/back\\slash", "refs/heads/bad\xff", "refs/heads/a//b", "refs/heads/end.", "refs/heads/a@{b",
		"refs/heads/star*", "refs/heads/" + strings.Repeat("x", 2000)} {
		f.refs(name, h)
	}
	f.refs("refs/heads/feature/deep/er", h, "refs/heads/ünï", h, "refs/tags/key", f.blob("a tag may mean a file"))
	b := f.fetched()
	if got, want := b.Envs(), []string{"base", "feature/deep/er", "key", "ünï"}; !slices.Equal(got, want) {
		t.Errorf("environments: %q", got)
	}
	for _, env := range []string{"key", "..", "../x", "feature", "refs/heads/master", "origin/master", "", "\x00",
		"HEAD", strings.Repeat("a", 5000), "master:a", "base^{tree}"} {
		if f, ok := b.Find(env, "a", nil); ok {
			t.Errorf("environment %q has %v", env, f)
		}
	}
}

// TestTreeWithoutEnd: a tree that holds itself a million times over is refused, and others are served.
func TestTreeWithoutEnd(t *testing.T) {
	f := newForge(t)
	tree := f.tree(modeFile|0o644, "a", f.blob("a"))
	f.commit("refs/heads/good", tree)
	for range 12 {
		var of []any
		for i := range 10 {
			of = append(of, modeDir, fmt.Sprint("d", i), tree)
		}
		tree = f.tree(of...)
	}
	f.commit(master, tree)
	b := f.fetched()
	for range 3 {
		if _, err := b.Lists("base"); !errors.Is(err, errTooMuch) {
			t.Errorf("the names of it: %v", err)
		}
	}
	if _, ok := b.Find("good", "a", nil); !ok {
		t.Error("another branch is not served")
	}
}

// TestDeepTree: folders within each other without an end.
func TestDeepTree(t *testing.T) {
	f := newForge(t)
	tree := f.tree(modeFile|0o644, "a", f.blob("a"))
	for range 1000 {
		tree = f.tree(modeDir, "d", tree)
	}
	f.commit(master, tree)
	if _, err := f.fetched().Lists("base"); !errors.Is(err, errTooMuch) {
		t.Errorf("its names: %v", err)
	}
}

// TestLinksWithoutEnd: a chain of links that is too long, or a circle, is no file.
func TestLinksWithoutEnd(t *testing.T) {
	f := newForge(t)
	of := []any{modeFile | 0o644, "l000", f.blob("a")}
	for i := 1; i < 200; i++ {
		of = append(of, modeLink, fmt.Sprintf("l%03d", i), f.blob(fmt.Sprintf("l%03d", i-1)))
	}
	f.commit(master, f.tree(of...))
	b := f.fetched()
	if _, ok := b.Find("base", "l050", nil); !ok {
		t.Error("fifty links were not followed")
	}
	if _, ok := b.Find("base", "l199", nil); ok {
		t.Error("two hundred links were followed")
	}
}

// packOf makes a pack of ready entries.
func packOf(entries ...[]byte) []byte {
	b := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, uint32(len(entries)))...)
	for _, e := range entries {
		b = append(b, e...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// packEntry is an entry of a pack that claims some size.
func packEntry(kind byte, claims uint64, base, data []byte) []byte {
	head := []byte{kind<<4 | byte(claims&15)}
	for claims >>= 4; claims > 0; claims >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(claims&0x7f))
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(data)
	_ = w.Close()
	return append(append(head, base...), z.Bytes()...)
}

// TestEvilPacks: packs that are damaged, lie about sizes or grow without an end are refused, and nothing of them stays.
func TestEvilPacks(t *testing.T) {
	lim := Limits{Pack: 1 << 20, Unpacked: 4 << 20, Object: 1 << 20, Refs: 10}
	text := []byte("some text")
	sum := sha1.Sum([]byte("blob 9\x00some text"))
	delta := func(from, to uint64) []byte {
		return append(binary.AppendUvarint(binary.AppendUvarint(nil, from), to), 9, 's', 'o', 'm', 'e', ' ', 't', 'e',
			'x', 't')
	}
	var many [][]byte
	for i := range 5 {
		many = append(many, packEntry(3, 1<<20, nil, bytes.Repeat([]byte{byte(i)}, 1<<20)))
	}
	good := packOf(packEntry(3, 9, nil, text))
	for name, pack := range map[string][]byte{
		"nothing": nil, "no pack": []byte("PACK it in"), "cut short": good[:len(good)-25],
		"another sum":             append(slices.Clone(good[:len(good)-1]), 0),
		"many entries claimed":    append([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"), good[12:]...),
		"object too large":        packOf(packEntry(3, 2<<20, nil, make([]byte, 2<<20))),
		"size of 2^60":            packOf(packEntry(3, 1<<60, nil, text)),
		"more than it says":       packOf(packEntry(3, 9, nil, make([]byte, 512<<10))),
		"less than it says":       packOf(packEntry(3, 900_000, nil, text)),
		"too much in all":         packOf(many...),
		"delta of 2^50":           packOf(packEntry(3, 9, nil, text), packEntry(7, 18, sum[:], delta(9, 1<<50))),
		"delta without a base":    packOf(packEntry(7, 12, make([]byte, 20), delta(9, 9))),
		"delta before the pack":   packOf(packEntry(6, 12, []byte{0xff, 0x7f}, delta(9, 9))),
		"entry of no kind":        packOf(packEntry(5, 9, nil, text)),
		"no zlib":                 packOf(append([]byte{0x39}, text...)),
		"longer than the limit":   append(slices.Clone(good), make([]byte, 2<<20)...),
		"delta on another length": packOf(packEntry(3, 9, nil, text), packEntry(7, 12, sum[:], delta(5, 9))),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := takePack(t.Context(), dir, bytes.NewReader(pack), lim); err == nil {
				t.Error("it was taken")
			}
			for _, p := range everything(t, dir) {
				if strings.Contains(p, "pack-") || strings.Contains(p, "tmp") {
					t.Errorf("%s stayed", p)
				}
			}
		})
	}
	if err := takePack(t.Context(), t.TempDir(), bytes.NewReader(good), lim); err != nil {
		t.Errorf("a sound pack: %v", err)
	}
	if err := takePack(t.Context(), t.TempDir(), endless{}, lim); !errors.Is(err, errTooMuch) {
		t.Errorf("a pack without an end: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

var _ io.Reader = endless{}

// TestRewritten: a history that was written anew is served as it is now, and branches that went are gone.
func TestRewritten(t *testing.T) {
	f := newForge(t)
	f.commit("refs/heads/old", f.tree(modeFile|0o644, "old", f.blob("old")))
	f.commit(master, f.tree(modeFile|0o644, "a", f.blob("first")))
	b := f.fetched()
	if err := os.RemoveAll(f.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(f.dir, "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.o = openObjects(f.dir)
	f.commit(master, f.tree(modeFile|0o644, "a", f.blob("second"), modeFile|0o644, "b", f.blob("b")))
	changes, err := b.Update(t.Context())
	if err != nil || len(changes.Changed) != 1 || changes.Event().Value("changed") != any(true) {
		t.Fatalf("got %v, %v", changes, err)
	}
	if got := b.Envs(); !slices.Equal(got, []string{"base"}) {
		t.Errorf("environments: %q", got)
	}
	file, _ := b.Find("base", "a", nil)
	if text, err := os.ReadFile(file.Path); err != nil || string(text) != "second" {
		t.Errorf("a: %q, %v", text, err)
	}
	if err := os.RemoveAll(f.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Update(t.Context()); err == nil {
		t.Error("a remote that went: no error")
	}
	if _, ok := b.Find("base", "b", nil); !ok {
		t.Error("what was fetched is not served without the remote")
	}
}

// TestBadRemotes: what is no URL of a repository is refused, and no program is started for it.
func TestBadRemotes(t *testing.T) {
	touched := filepath.Join(t.TempDir(), "touched")
	for _, u := range []string{"ext::sh -c touch% " + touched, "ext::touch " + touched, "fd::7", "git://x/y.git",
		"ftp://x/y", "-oProxyCommand=touch " + touched,
		"ssh://-oProxyCommand=x/y", "file://", "http:///x", "https://", "/srv/repo.git", "x", "", "http://x/a b",
		"http://x/\x00", "ssh://x/a'`id`", "--upload-pack=id",
		"git@-x:y", "javascript:x", "https://h/%zz", "ssh://h", "file:relative"} {
		if b, err := backendOf(t, u); err == nil || len(b.repos) != 0 {
			t.Errorf("%q is taken", u)
		}
	}
	for _, u := range []string{"git@host:path/x.git", "ssh://git@h:2222/x", "https://u:p@h/x.git",
		"file:///srv/x%20y.git", "http://h:8080/x"} {
		if _, err := backendOf(t, u); err != nil {
			t.Errorf("%q: %v", u, err)
		}
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("a program was started")
	}
	for _, params := range [][]any{{"nosuch", 1}, {"depth", 1}, {"refspecs", "refs/heads/*"},
		{"refspecs", "^refs/heads/x:y"}, {"ref_types", "branches"}, {"update_interval", "soon"},
		{"privkey", "/nonexistent"}, {"user", "x"}, {"env", "base"}} {
		if b, err := backendOf(t, "https://h/x.git", params...); err == nil || len(b.repos) != 0 {
			t.Errorf("%v is taken", params)
		}
	}
	for _, opts := range []*payload.Map{
		payload.M("gitfs_remotes", []any{"https://h/x.git"}, "gitfs_provider", "dulwich"),
		payload.M("gitfs_remotes", []any{"https://h/x.git", "https://h/x.git"}),
		payload.M("gitfs_remotes", []any{payload.M("https://h/x.git", []any{payload.M("name", "a")}),
			payload.M("https://h/y.git", []any{payload.M("name", "a")})}),
	} {
		if b, err := New(opts.Set("cachedir", t.TempDir())); err == nil || b != nil {
			t.Errorf("%v is taken", opts)
		}
	}
}

// TestLock: a lock keeps updates away until it is cleared, one of a process that went does not, and copies are private.
func TestLock(t *testing.T) {
	f := newForge(t)
	f.commit(master, f.tree(modeFile|0o644, "a", f.blob("a")))
	b := f.fetched()
	if told, err := b.Lock("*nothing*"); err != nil || told != nil {
		t.Errorf("of others: %v, %v", told, err)
	}
	if told, err := b.Lock(""); err != nil || len(told) != 1 || !strings.HasPrefix(told[0],
		"Set update lock for gitfs remote 'file://") {
		t.Errorf("got %v, %v", told, err)
	}
	if _, err := b.Update(t.Context()); !errors.Is(err, errLocked) &&
		(err == nil || !strings.Contains(err.Error(), errLocked.Error())) {
		t.Errorf("locked: %v", err)
	}
	if raw, err := os.ReadFile(b.repos[0].lockFile()); err != nil || !strings.HasPrefix(string(raw), "0\n") {
		t.Errorf("the lock names a process, which may end: %q, %v", raw, err)
	}
	if told, err := b.ClearLock(""); err != nil || len(told) != 1 || !strings.HasPrefix(told[0],
		"Removed update lock for gitfs remote 'file://") {
		t.Errorf("got %v, %v", told, err)
	}
	if _, err := b.Update(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(b.repos[0].lockFile(), []byte("999999999\n"+machineID()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Update(t.Context()); err != nil {
		t.Errorf("a lock of a process that went: %v", err)
	}
	if _, ok := b.Find("base", "a", nil); !ok {
		t.Error("not found")
	}
	for _, p := range everything(t, b.repos[0].dir) {
		if info, err := os.Lstat(filepath.Join(b.repos[0].dir, p)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
	if err := b.ClearCache(); err != nil {
		t.Error(err)
	}
	if got := b.Envs(); len(got) != 0 {
		t.Errorf("after the cache was cleared: %q", got)
	}
	if _, err := b.Update(t.Context()); err != nil || len(b.Envs()) != 1 {
		t.Errorf("fetched anew: %v, %q", err, b.Envs())
	}
}

// TestTwoProcesses: what one fetches the other serves; damaged copies are fetched anew.
func TestTwoProcesses(t *testing.T) {
	f := newForge(t)
	f.commit(master, f.tree(modeFile|0o644, "a", f.blob("a")))
	opts := payload.M("gitfs_remotes", []any{f.url()}, "cachedir", t.TempDir())
	one, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	two, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := two.Find("base", "a", nil); ok {
		t.Error("found before it was fetched")
	}
	for i := range 60 { // more than maxPacks: the objects move to a new folder
		name := fmt.Sprint("n", i)
		f.commit(master, f.tree(modeFile|0o644, name, f.blob(name)))
		f.o = openObjects(f.dir)
		if _, err := one.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		if file, ok := two.Find("base", name, nil); !ok {
			t.Errorf("%s is not found", name)
		} else if text, err := os.ReadFile(file.Path); err != nil || string(text) != name {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	folders, err := filepath.Glob(filepath.Join(one.repos[0].dir, "o-*"))
	if err != nil || len(folders) != 1 {
		t.Errorf("folders: %q, %v", folders, err)
	}
	packs, err := filepath.Glob(filepath.Join(one.repos[0].dir, "o-*", "objects", "pack", "*"))
	if err != nil || len(packs) > 2*maxPacks {
		t.Errorf("%d files of packs, %v", len(packs), err)
	}
	for _, p := range packs {
		if err := os.WriteFile(p, []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	three, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := three.Lists("base"); err == nil {
		t.Error("damaged packs: no error")
	}
	if _, err := three.Update(t.Context()); err != nil {
		t.Errorf("damaged packs: %v", err)
	}
	if _, ok := three.Find("base", "n59", nil); !ok {
		t.Error("damaged packs were not fetched anew")
	}
}
