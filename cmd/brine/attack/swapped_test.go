package attack

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"brine/wire/payload"
)

// swap exchanges two paths repeatedly and atomically, until stop is closed.
func swap(path, other string, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE); err != nil {
			return err
		}
	}
}

// swapping runs swap until the test calls end.
func (s *site) swapping(path, other string) (end func()) {
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- swap(path, other, stop) }()
	end = sync.OnceFunc(func() {
		close(stop)
		if err := <-done; err != nil {
			s.t.Errorf("exchange of %s: %v", path, err)
		}
	})
	s.t.Cleanup(end)
	return end
}

// TestSwappedFiles exchanges a file and a folder of a root for links to the machine's secrets while they are
// served. If links out of a root are not followed, no timing reveals the secrets, their size, or their hash to
// a thief or to a minion.
func TestSwappedFiles(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	secret := forged + strings.Repeat("s", 1000)
	s.write(s.path("outside/file"), secret)
	s.write(s.path("srv/base/file"), "open")
	s.write(s.path("srv/base/dir/file"), "open")
	s.link(s.path("outside/file"), s.path("srv/base/link"))
	s.link(s.path("outside"), s.path("srv/base/linkdir"))
	s.writeMaster(fmt.Sprintf("file_roots: {base: [%s/base]}\nfileserver_followsymlinks: "+
		"False\nfileserver_list_cache_time: 0\n", s.path("srv")))
	s.startMaster()
	s.startMinion(honest, "")
	th := s.thief("thief", nil)
	endFile := s.swapping(s.path("srv/base/file"), s.path("srv/base/link"))
	endDir := s.swapping(s.path("srv/base/dir"), s.path("srv/base/linkdir"))
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(secret)))
	size := fmt.Sprintf(" %d ", len(secret))
	shown, hidden := 0, 0
	for tries := 0; tries < 200 || shown < 20 || hidden < 20; tries++ {
		if tries == 100_000 {
			t.Fatalf("shown %d times, hidden %d times", shown, hidden)
		}
		path := []string{"file", "dir/file"}[tries%2]
		for _, cmd := range []string{payload.CmdServeFile, payload.CmdFileHash, payload.CmdFileFind,
			payload.CmdFileHashAndStat} {
			v, err := th.do(payload.M("cmd", cmd, "id", th.id, "path", path, "saltenv", "base", "loc", 0))
			text := wholly(v) + fmt.Sprint(v)
			switch {
			case strings.Contains(text, forged) || strings.Contains(text, hash) || strings.Contains(text, size):
				t.Fatalf("%s %s gives %.300q", cmd, path, text)
			case cmd != payload.CmdServeFile:
			case err == nil && strings.Contains(text, "open"):
				shown++
			default:
				hidden++
			}
		}
	}
	for _, fun := range []string{"cp.get_file_str", "cp.cache_file", "cp.hash_file"} {
		for _, path := range []string{"salt://file", "salt://dir/file"} {
			if got := s.told(fun, path); strings.Contains(got, forged) || strings.Contains(got, hash) {
				t.Errorf("%s %s: %.300s", fun, path, got)
			}
		}
	}
	s.told("cp.cache_master")
	endFile()
	endDir()
	for _, f := range s.files(honest) {
		if strings.Contains(readText(t, f), forged) {
			t.Errorf("the minion has the secret in %s", f)
		}
	}
	s.good()
}

// TestSwappedFolders exchanges a folder of pushed files for a link to another place while the minion pushes.
// Nothing is written there, and nothing is served from there.
func TestSwappedFolders(t *testing.T) {
	s := newBareSite(t, "file_recv: True\nfileserver_backend: [roots, minion]\n")
	s.startMinion(honest, "")
	s.write(s.path("outside/file"), forged)
	th := s.thief("thief", nil)
	push := func(names ...any) (any, error) {
		return th.do(payload.M("cmd", payload.CmdFileRecv, "id", th.id, "path", names, "loc", 0, "data",
			[]byte("pushed")))
	}
	if v, err := push("dir", "file"); v != true || err != nil {
		t.Fatalf("a push: %v, %v", v, err)
	}
	files := s.cache("minions/thief/files")
	s.link(s.path("outside"), filepath.Join(files, "link"))
	end := s.swapping(filepath.Join(files, "dir"), filepath.Join(files, "link"))
	taken, refused := 0, 0
	for tries := 0; tries < 200 || taken < 20 || refused < 20; tries++ {
		if tries == 100_000 {
			t.Fatalf("taken %d times, refused %d times", taken, refused)
		}
		if v, err := push("dir", fmt.Sprint("new", tries%50)); v == true && err == nil {
			taken++
		} else {
			refused++
		}
		_, _ = push("dir", "file") // would change the file outside
		for _, path := range []string{"thief/dir/file", "thief/link/file"} {
			if got := s.served(th, path); strings.Contains(got, forged) {
				t.Fatalf("%s is %q", path, got)
			}
		}
	}
	end()
	if got, names := readText(t, s.path("outside/file")), s.files("outside"); got != forged || len(names) != 1 {
		t.Errorf("outside there are %q, and the file is %q", names, got)
	}
	s.good()
}

// link makes a symbolic link.
func (s *site) link(to, path string) {
	s.t.Helper()
	if err := os.Symlink(to, path); err != nil && !errors.Is(err, fs.ErrExist) {
		s.t.Fatal(err)
	}
}
