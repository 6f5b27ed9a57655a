package fileserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// TestMinionsAsSalt asks what Salt was asked about pushed files, with roots before, behind and without them.
func TestMinionsAsSalt(t *testing.T) {
	rec, root := load(t, "minions3008.json")
	n := 0
	for i, config := range rec.Configs {
		opts := payload.M("hash_type", "sha256", "file_buffer_size", 1<<20, "fileserver_followsymlinks", true,
			"minionfs_env", "base")
		opts.Update(underRoot(fromJSON(config.Opts), root).(*payload.Map))
		s, err := Configured(opts)
		if s == nil {
			t.Fatal(err)
		}
		for _, row := range config.Answers {
			asked := row[1].(map[string]any)
			reply, _, err := s.Answer("_"+row[0].(string), fromJSON(asked).(*payload.Map))
			got := shown(t, reply, asked, root)
			if err != nil {
				got = map[string]any{"raised": err.Error()}
			}
			if unlikeSaltsMinions(row[0].(string), asked) {
				continue
			}
			if diff := cmp.Diff(row[2], got); diff != "" {
				t.Errorf("configuration %d, %s %v (-Salt +brine)\n%s", i, row[0], asked, diff)
			}
			n++
		}
	}
	if n < 2000 {
		t.Errorf("only %d answers were compared", n)
	}
}

// unlikeSaltsMinions names what is answered otherwise. Salt gives away the cache of a minion that is called "files" by
// ./data.p, any file of the master by ID//PATH, and tells of web1/./etc/motd by that name. It has no hash of a file
// whose environment stands behind a question mark.
func unlikeSaltsMinions(cmd string, asked map[string]any) bool {
	path, _ := asked["path"].(string)
	return strings.Contains(path, "./") || cmd == "file_hash" && strings.Contains(path, "saltenv=")
}

// underRoot puts the directory of the tree into options.
func underRoot(v any, root string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "$R", root)
	case []any:
		for i := range v {
			v[i] = underRoot(v[i], root)
		}
	case *payload.Map:
		for k, item := range v.Clone().All() {
			v.Set(k, underRoot(item, root))
		}
	}
	return v
}

// minionFiles has the files of pushed, by their paths below the folder of all minions.
func minionFiles(t *testing.T, names ...string) (*Minions, string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := NewMinions(MinionsOptions{Dir: dir, Env: "base"})
	if err != nil {
		t.Fatal(err)
	}
	return m, dir
}

// TestMinionsHostileNames: what a minion calls its files breaks no list of others, reaches no other folder, and is no
// top file.
func TestMinionsHostileNames(t *testing.T) {
	m, dir := minionFiles(t, "m1/files/good", "m1/files/\xff\xfe", "m1/files/\xff/inside", "m1/files/new\nline",
		"m1/files/top.sls", "m1/files/-rf", "m1/data.p", "files/files/x", "files/data.p", "bad\x01id/files/f")
	for name, to := range map[string]string{"m1/files/out": "../data.p", "m1/files/abs": filepath.Join(dir,
		"m1/data.p"), "m1/files/up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{
		"m1/good": true, "m1/new\nline": true, "m1/-rf": true, "files/x": true,
		"m1/\xff\xfe": false, "m1/\xff/inside": false, "m1/top.sls": false, "m1/./top.sls": false, "m1/top.sls/": false,
		"m1/x/../top.sls": false, "m1/out": false, "m1/abs": false, "m1/up/data.p": false, "m1/../data.p": false,
		"m1/../m1/data.p": false,
		"./data.p":        false, "./files/data.p": false, "files/../../m1/data.p": false, "bad\x01id/f": false,
		"m1": false, "": false, "/": false, "m1//": false, "m1//etc/passwd": false, "m1//" + dir + "/m1/data.p": false,
	} {
		f, ok := m.Find("base", path, nil)
		if ok != want {
			t.Errorf("%q is found: %v (%v)", path, ok, f)
		}
	}
	lists, err := m.Lists("base")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"files/x", "m1/-rf", "m1/good", "m1/new\nline", "m1/top.sls"}
	if diff := cmp.Diff(want, lists.Files); diff != "" {
		t.Error(diff)
	}
}

// TestMinionsSwapped: a pushed file that turns into a link while it is served gives nothing of what lies elsewhere.
func TestMinionsSwapped(t *testing.T) {
	m, dir := minionFiles(t, "m1/files/f", "m1/secret")
	s, err := New(Options{Backends: []Backend{m}, HashType: "sha256", Buffer: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	path, stop := filepath.Join(dir, "m1/files/f"), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(dir, "next")
			if i%2 == 0 {
				_ = os.Symlink("../secret", next)
			} else {
				_ = os.WriteFile(next, []byte("m1/files/f"), 0o600)
			}
			_ = os.Rename(next, path)
		}
	})
	served := 0
	for end := time.Now().Add(20 * time.Second); served < 200 && time.Now().Before(end); {
		p, err := s.Serve("m1/f", "base", 0, 0)
		if err == nil && len(p.Data) > 0 {
			served++
		}
		if strings.Contains(string(p.Data), "secret") {
			t.Fatalf("served %q", p.Data)
		}
	}
	close(stop)
	wg.Wait()
	if served == 0 {
		t.Error("nothing was served at all")
	}
}

// TestMinionsListsAreNew: a list is as new as its question, and those who ask at the same time share a walk.
func TestMinionsListsAreNew(t *testing.T) {
	m, dir := minionFiles(t, "m1/files/a")
	for _, name := range []string{"b", "c", "d"} {
		if err := os.WriteFile(filepath.Join(dir, "m1/files", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if lists, err := m.Lists("base"); err != nil || !slices.Contains(lists.Files, "m1/"+name) {
			t.Errorf("%v, %v", lists, err)
		}
	}
}
