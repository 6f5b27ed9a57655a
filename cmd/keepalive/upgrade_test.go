package keepalive

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// program is a copy of the test binary that the test replaces while it runs.
type program struct {
	t    *testing.T
	path string // the path by which it is started
	n    int
}

// version writes another copy under a new name beside the program.
func (p *program) version() (path string) {
	p.t.Helper()
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		p.t.Fatal(err)
	}
	p.n++
	path = fmt.Sprintf("%s.%d", p.path, p.n)
	if err := os.WriteFile(path, text, 0o700); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// replace renames a file to the program's path, as a package manager does.
func (p *program) replace(by string) {
	p.t.Helper()
	if err := os.Rename(by, p.path); err != nil {
		p.t.Fatal(err)
	}
}

// text replaces the program by a text.
func (p *program) text(text string) {
	p.t.Helper()
	p.n++
	path := fmt.Sprintf("%s.%d", p.path, p.n)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.replace(path)
}

// file returns the file of a process, as the kernel names it.
func file(t *testing.T, pid int) string {
	t.Helper()
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// startCopy starts a copy of the test binary as a daemon.
func startCopy(t *testing.T) (*kept, *program) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, path: filepath.Join(dir, "brine")}
	p.replace(p.version())
	return start(t, func(c *exec.Cmd) { c.Path, c.Dir = "./brine", dir }, "salt-minion", "-c", "a b", ""), p
}

// next kills the process and returns its successor, after checking that the successor knows of the death and
// has begun its work.
func (k *kept) next(pid, deaths int) (next int) {
	k.t.Helper()
	k.signal(pid, syscall.SIGKILL)
	next = k.begin(fmt.Sprintf("true true %d signal 9 (killed) -9 %d", pid, deaths))
	k.tell("ready", "listen")
	return next
}

// says checks the facts of a process about its file.
func (k *kept) says(want File, path string) {
	k.t.Helper()
	if _, err := fmt.Fprintln(k.in, "file"); err != nil {
		k.t.Fatal(err)
	}
	if got := k.line("file"); got != strings.TrimSpace(fmt.Sprint(int(want), " ", path)) {
		k.t.Errorf("the process says %q of its file, want %d of %s", got, want, path)
	}
	k.line("did file")
}

// TestUpgrade: the next process starts from the file that has the program's name by then. If that cannot start,
// it starts from the old file and knows that.
func TestUpgrade(t *testing.T) {
	k, p := startCopy(t)
	first := k.begin(first)
	k.tell("ready", "listen")
	k.says(FileSame, p.path)
	same := k.next(first, 1)
	k.says(FileSame, p.path)
	p.replace(p.version())
	second := k.next(same, 2)
	k.says(FileNew, p.path)
	if got := file(t, second); got != p.path {
		t.Errorf("the process is of %s", got)
	}
	words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", second))
	if string(words) != "salt-minion\x00-c\x00a b\x00\x00" {
		t.Errorf("its words are %q, %v", words, err)
	}
	p.replace(p.version())
	third := k.next(second, 3)
	k.says(FileNew, p.path)
	if got := file(t, third); got != p.path {
		t.Errorf("the process after the second upgrade is of %s", got)
	}
	if err := os.Remove(p.path); err != nil {
		t.Fatal(err)
	}
	pid := k.next(third, 4)
	k.says(FileGone, p.path)
	deaths := 4
	for _, broken := range []string{"no program", "#!/bin/sh\nexit 0\n", "#!/nowhere\n", ""} {
		p.text(broken)
		for range 2 { // the parent tries it once
			deaths++
			pid = k.next(pid, deaths)
			k.says(FileBroken, p.path)
		}
	}
	p.replace(p.version())
	pid = k.next(pid, deaths+1)
	k.says(FileNew, p.path)
	k.signal(k.cmd.Process.Pid, syscall.SIGTERM)
	k.line("handed terminated")
	k.tell("over", "exit0")
	k.end(0)
	k.gone(pid)
}

// TestForeignUpgrade: a foreign program does not replace a daemon. The parent ends it, with its children.
func TestForeignUpgrade(t *testing.T) {
	k, p := startCopy(t)
	pid := k.begin(first)
	k.tell("ready")
	trace := filepath.Join(filepath.Dir(p.path), "trace")
	p.text("#!/bin/sh\ntrap 'echo ended > " + trace + "; exit 0' TERM\nwhile :; do sleep 0.1; done\n")
	pid = k.next(pid, 1)
	k.says(FileBroken, p.path)
	if _, err := os.Stat(trace); err != nil {
		t.Errorf("it was not asked to end: %v", err)
	}
	k.tell("over", "exit0")
	k.end(0)
	k.gone(pid)
}

// TestStopUpgraded: a request to stop that arrives before the process of a new file has begun ends both
// processes.
func TestStopUpgraded(t *testing.T) {
	k, p := startCopy(t)
	pid := k.begin(first)
	k.tell("ready")
	p.replace(p.version())
	k.signal(pid, syscall.SIGKILL)
	k.begin(fmt.Sprintf("true true %d signal 9 (killed) -9 1", pid))
	k.signal(k.cmd.Process.Pid, syscall.SIGTERM)
	k.end(128 + int(syscall.SIGTERM))
}

// TestLinkTurned: the name by which the program was started may be a link to a version.
func TestLinkTurned(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, path: filepath.Join(dir, "brine")}
	one, two, link := p.version(), p.version(), filepath.Join(dir, "current")
	turn := func(to string) {
		t.Helper()
		if err := os.Symlink(to, link+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link+".new", link); err != nil {
			t.Fatal(err)
		}
	}
	turn(one)
	k := start(t, func(c *exec.Cmd) { c.Path = link }, "salt-master")
	pid := k.begin(first)
	k.tell("ready")
	turn(two)
	pid = k.next(pid, 1)
	k.says(FileNew, link)
	if got := file(t, pid); got != two {
		t.Errorf("the process is of %s", got)
	}
	k.tell("over", "exit0")
	k.end(0)
}
