package gitfs

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/modules/fileserver"

	"github.com/go-git/go-git/v5/plumbing"
)

// rewriter is a repository of the git program whose only branch is force-pushed.
type rewriter struct {
	t         *testing.T
	dir, bare string
}

func newRewriter(t *testing.T) *rewriter {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program")
	}
	g := &rewriter{t, filepath.Join(t.TempDir(), "work"), filepath.Join(t.TempDir(), "bare.git")}
	g.git("", "init", "-q", "--bare", g.bare)
	g.git("", "init", "-q", g.dir)
	return g
}

func (g *rewriter) git(dir string, args ...string) {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// push replaces the whole history by one commit: files that change each day and one that never does.
func (g *rewriter) push(day, files, size int) {
	g.t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(g.dir, name), []byte(text), 0o644); err != nil {
			g.t.Fatal(err)
		}
	}
	write("steady", "the same each day")
	for i := range files {
		write(fmt.Sprint("f", i), strings.Repeat(fmt.Sprintf("day %d file %d ", day, i), size))
	}
	g.git(g.dir, "checkout", "-q", "--orphan", fmt.Sprint("day", day))
	g.git(g.dir, "add", "-A")
	g.git(g.dir, "commit", "-q", "-m", fmt.Sprint("day ", day))
	g.git(g.dir, "push", "-q", "--force", g.bare, "HEAD:refs/heads/master")
}

// on counts files below blobs and their bytes, and makes each a day older.
func (g *rewriter) on(b *Backend) (files int, size int64) {
	g.t.Helper()
	err := filepath.WalkDir(filepath.Join(b.repos[0].dir, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files, size = files+1, size+info.Size()
		return os.Chtimes(path, time.Time{}, info.ModTime().Add(-24*time.Hour))
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return files, size
}

// TestMonth: a remote is force-pushed each day of a month, and each file is asked for each day. What no reference needs
// is not kept, what is needed is served each day, and who reads a file that is swept reads it to its end.
func TestMonth(t *testing.T) {
	const files = 5
	g := newRewriter(t)
	g.push(0, files, 1000)
	b, err := backendOf(t, "file://"+g.bare)
	if err != nil {
		t.Fatal(err)
	}
	var before fileserver.File
	var reader *os.File
	for day := range 30 {
		if day > 0 {
			g.push(day, files, 1000)
		}
		b.repos[0].swept = time.Time{} // the hours of a day
		if _, err := b.Update(t.Context()); err != nil {
			t.Fatalf("day %d: %v", day, err)
		}
		for i := range files {
			f, ok := b.Find("base", fmt.Sprint("f", i), nil)
			raw, err := os.ReadFile(f.Path)
			if !ok || err != nil || !strings.HasPrefix(string(raw), fmt.Sprintf("day %d file %d ", day, i)) {
				t.Fatalf("day %d: f%d is %.20q, %t, %v", day, i, raw, ok, err)
			}
			if day == 3 && i == 0 {
				before = f
				if reader, err = b.Open("base", f); err != nil {
					t.Fatal(err)
				}
				defer reader.Close()
			}
		}
		if _, ok := b.Find("base", "steady", nil); !ok {
			t.Fatalf("day %d: steady is not there", day)
		}
		if n, size := g.on(b); n > 2*files+1 || size > 2*files*20_000 {
			t.Fatalf("day %d: %d files with %d bytes are kept", day, n, size)
		}
	}
	if raw, err := io.ReadAll(reader); err != nil || !strings.HasPrefix(string(raw), "day 3 file 0 ") {
		t.Errorf("who was reading: %.20q, %v", raw, err)
	}
	if _, err := os.Stat(before.Path); !os.IsNotExist(err) {
		t.Errorf("the file of day 3 is still there: %v", err)
	}
}

// bytesBelow is how much room the files below a folder take.
func bytesBelow(t *testing.T, dir string) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestForcePushes: a remote whose whole history is replaced again and again by contents that cannot be packed takes no
// more room than Limits.Spare beside twice a clone and the push that came last, though each push is fewer packs than
// are kept. Each state is served. A tree that only grows is not fetched anew for that until it has doubled.
func TestForcePushes(t *testing.T) {
	const pushes, size = 24, 30_000
	f := newForge(t)
	random := rand.NewChaCha8([32]byte{1})
	noise := func() plumbing.Hash {
		text := make([]byte, size)
		_, _ = random.Read(text) // never fails
		return f.blob(string(text))
	}
	f.commit(master, f.tree(modeFile|0o644, "noise", noise()))
	b := f.fetched()
	r := b.repos[0]
	r.limits.Spare = 3 * size
	folders := map[string]bool{}
	update := func(text string, tree ...any) {
		t.Helper()
		f.commit(master, f.tree(append(tree, modeFile|0o644, "text", f.blob(text))...))
		if _, err := b.Update(t.Context()); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		folders[r.state().Objects] = true
		file, ok := b.Find("base", "text", nil)
		if raw, err := os.ReadFile(file.Path); !ok || err != nil || string(raw) != text {
			t.Fatalf("%s: the text is %q, %t, %v", text, raw, ok, err)
		}
	}
	for i := range pushes {
		update(fmt.Sprint("push ", i), modeFile|0o644, "noise", noise())
		if sum := bytesBelow(t, r.dir); sum > 8*size {
			t.Fatalf("push %d: %d bytes are kept of %d that are served", i, sum, size)
		}
	}
	if n := len(folders); n < 2 || n > pushes/2 {
		t.Errorf("%d pushes were kept in %d folders", pushes, n)
	}
	clear(folders)
	var tree []any
	for i := range 6 { // more in all than the spare room
		tree = append(tree, modeFile|0o644, fmt.Sprint("a", i), noise())
		update(fmt.Sprint("grown ", i), tree...)
	}
	if n := len(folders); n > 3 {
		t.Errorf("a tree that grew sixfold was kept in %d folders", n)
	}
	if _, sum := packsIn(filepath.Join(r.dir, r.state().Objects)); sum < 6*size {
		t.Errorf("packs with %d bytes", sum)
	}
}

// TestSweptBetween: a file that is swept after it was found opens all the same, with the content that was found.
func TestSweptBetween(t *testing.T) {
	f := newForge(t)
	f.commit(master, f.tree(modeFile|0o644, "a", f.blob("first"), modeFile|0o644, "b", f.blob("second")))
	b := f.fetched()
	found, ok := b.Find("base", "a", nil)
	if !ok {
		t.Fatal("a is not there")
	}
	if err := b.repos[0].sweepBlobs(time.Now().Add(48*time.Hour), maxBlobs); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(found.Path); !os.IsNotExist(err) {
		t.Fatalf("it was not swept: %v", err)
	}
	file, err := b.Open("base", found)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if raw, err := io.ReadAll(file); err != nil || string(raw) != "first" {
		t.Errorf("got %q, %v", raw, err)
	}
	for _, rel := range []string{"../state", "ab/" + strings.Repeat("0", 38), "x",
		strings.Repeat("z", 2) + "/" + strings.Repeat("z", 38)} {
		if file, err := b.repos[0].again(rel); err == nil {
			file.Close()
			t.Errorf("%s opens", rel)
		}
	}
}

// TestRoom: where contents take too much room those that were asked for longest ago go, but none of the last hour.
func TestRoom(t *testing.T) {
	f := newForge(t)
	f.commit(master, f.tree(modeFile|0o644, "a", f.blob("aaaa"), modeFile|0o644, "b", f.blob("bbbb"), modeFile|0o644,
		"c", f.blob("cccc")))
	b := f.fetched()
	now := time.Now()
	path := map[string]string{}
	for name, idle := range map[string]time.Duration{"a": 3 * time.Hour, "b": 2 * time.Hour, "c": time.Minute} {
		found, _ := b.Find("base", name, nil)
		path[name] = found.Path
		if err := os.Chtimes(found.Path, time.Time{}, now.Add(-idle)); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		room int64
		want string
	}{{12, "abc"}, {8, "bc"}, {0, "c"}} {
		if err := b.repos[0].sweepBlobs(now, row.room); err != nil {
			t.Fatal(err)
		}
		have := ""
		for _, name := range []string{"a", "b", "c"} {
			if _, err := os.Stat(path[name]); err == nil {
				have += name
			}
		}
		if have != row.want {
			t.Errorf("room for %d bytes: %q is kept, want %q", row.room, have, row.want)
		}
	}
	if _, ok := b.Find("base", "b", nil); !ok {
		t.Error("b is not served again")
	}
}

// TestBesideReaders: whoever asks while contents are swept all the time gets the whole file.
func TestBesideReaders(t *testing.T) {
	f := newForge(t)
	text := strings.Repeat("whole ", 10_000)
	f.commit(master, f.tree(modeFile|0o644, "a", f.blob(text)))
	b := f.fetched()
	stop, swept := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				swept <- nil
				return
			default:
			}
			if err := b.repos[0].sweepBlobs(time.Now().Add(48*time.Hour), 0); err != nil {
				swept <- err
				return
			}
		}
	}()
	done := make(chan error)
	for range 4 {
		go func() {
			for range 100 {
				found, _ := b.Find("base", "a", nil)
				file, err := b.Open("base", found)
				if err != nil {
					done <- err
					return
				}
				raw, err := io.ReadAll(file)
				file.Close()
				if err != nil || string(raw) != text {
					done <- fmt.Errorf("%d bytes of %d, %w", len(raw), len(text), err)
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := <-swept; err != nil {
		t.Error(err)
	}
}
