package custody_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// lines are programs that daemons have, by the way they are started. $P gets the number of a process that has to end.
var lines = []struct{ how, line string }{
	{"open", "echo $$ > $P; exec sleep 1000"},
	{"open", "sleep 1000 & echo $! > $P; wait"}, // the first process dies of the signal
	// it hears no signal
	{"open", "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > $P; while :; do sleep 1; done' & wait; sleep 1000"},
	{"run", "echo $$ > $P; exec sleep 1000"},
	{"run", "sleep 1000 & echo $! > $P; wait"},
	{"run", "trap '' TERM; sleep 1000 | (echo $$ > $P; cat)"},
	{"umask", "sleep 1000 & echo $! > $P; wait"},
	{"terminal", "echo $$ > $P; exec sleep 1000"},
	{"job", "sleep 1000 & echo $! > $P; wait"},
}

// TestKilled: what a daemon has started ends with it, and what was to stay stays.
func TestKilled(t *testing.T) {
	d := start(t, t.TempDir())
	d.settled()
	pids := make([]int, len(lines))
	for i, l := range lines {
		pids[i] = d.tell(l.how, l.line)
	}
	background := d.tell("start", "echo $$ > $P; exec sleep 1000")
	left := d.tell("run", "sleep 1000 <&- >&- 2>&- & echo $! > $P")
	d.line("ran <nil>")
	ended := d.tell("close", "sleep 1000 & echo $! > $P")
	d.line("closed 0")
	gone(t, "what an engine has left", ended)
	d.known(pids...)
	d.kill(false)
	for i, l := range lines {
		gone(t, l.how+" "+l.line, pids[i])
	}
	if !alive(background) || !alive(left) {
		t.Errorf("what was started in the background is alive: %v, what a command has left: %v", alive(background),
			alive(left))
	}
}

// TestLeft: nobody is left to end the programs of a daemon, so the next one does.
func TestLeft(t *testing.T) {
	d := start(t, t.TempDir())
	d.settled()
	pids := make([]int, len(lines))
	for i, l := range lines {
		pids[i] = d.tell(l.how, l.line)
	}
	background := d.tell("start", "echo $$ > $P; exec sleep 1000")
	left := d.tell("run", "sleep 1000 <&- >&- 2>&- & echo $! > $P")
	d.line("ran <nil>")
	d.known(pids...)
	d.kill(true)
	next := start(t, d.dir)
	next.settled()
	for i, l := range lines {
		if alive(pids[i]) {
			t.Errorf("%s %s: still there", l.how, l.line)
		}
	}
	if !alive(background) || !alive(left) {
		t.Errorf("what was started in the background is alive: %v, what a command has left: %v", alive(background),
			alive(left))
	}
	next.kill(false)
	if !strings.Contains(next.said.String(), "were ended") {
		t.Errorf("the log does not tell: %s", next.said)
	}
}

// TestSuccessor begins its programs when those of the daemon before it have ended: they may hold what it needs.
func TestSuccessor(t *testing.T) {
	d := start(t, t.TempDir())
	held := filepath.Join(d.dir, "held")
	line := fmt.Sprintf("mkdir %s || exit 7; trap '' TERM; echo $$ > $P; while :; do sleep 1; done", held)
	old := d.tell("open", line)
	d.known(old)
	d.kill(false)
	next := start(t, d.dir)
	next.tell("close", fmt.Sprintf("case $(cut -d' ' -f3 /proc/%d/stat) in [RSD]) exit 1; esac; exit 0", old))
	next.line("closed 0")
}

// TestOthers: what has the number of a program of a dead daemon, and is not that, is left alone. So are groups of which
// nothing shows whose they are, the processes of another start of the machine, and records that somebody else could
// have written.
func TestOthers(t *testing.T) {
	d := start(t, t.TempDir())
	d.settled()
	victim := d.tell("start", "sleep 1000 & echo $! > $P; exec sleep 1000") // its group is that of its first process
	group, err := syscall.Getpgid(victim)
	if err != nil {
		t.Fatal(err)
	}
	rest := d.tell("run", "sleep 1000 <&- >&- 2>&- & echo $! > $P") // its group has lost its first process
	d.line("ran <nil>")
	headless, err := syscall.Getpgid(rest)
	if err != nil {
		t.Fatal(err)
	}
	session := d.cmd.Process.Pid
	d.known(d.tell("open", "echo $$ > $P; exec sleep 1000"))
	path := filepath.Join(d.dir, "record")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	title, lines, _ := strings.Cut(string(text), "\n")
	words := strings.Fields(lines) // the other places are free
	if len(words) != 5 || words[0] != "P" || words[4] != "own" {
		t.Fatalf("the record is %q", text)
	}
	begun := began(t, group)
	d.kill(true)
	for name, record := range map[string]string{
		"another start":   fmt.Sprintf("%s\nP %d %d %d own\n", title, group, begun-1, session),
		"later start":     fmt.Sprintf("%s\nC %d %d %d own\n", title, group, begun+1, session),
		"of a terminal":   fmt.Sprintf("%s\nC %d %d %d shared\n", title, headless, begun, session),
		"another session": fmt.Sprintf("%s\nP %d %d %d own\n", title, headless, begun, session-1),
		"a job":           fmt.Sprintf("%s\nJ %d %d %d own\n", title, session, begun, session),
		"another boot":    fmt.Sprintf("brine programs 1 00000000 pid:[1]\nC %d %d %d own\n", group, begun, session),
		"all":             fmt.Sprintf("%s\nC -1 0 0 own\nC 0 0 0 own\nC 1 0 0 own\nX 2 3 4 own\n\x00\xff\n", title),
	} {
		if err := os.WriteFile(path, []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		next := start(t, d.dir)
		next.settled()
		if !alive(victim) || !alive(group) || !alive(rest) {
			t.Fatalf("%s: a process of somebody else was ended", name)
		}
		next.kill(false)
	}
	ours := fmt.Sprintf("%s\nC %d %d %d own\n", title, group, begun, session)
	if err := os.WriteFile(path, []byte(ours), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	next := start(t, d.dir)
	next.settled()
	if !alive(group) {
		t.Fatal("a record that others may write was believed")
	}
	next.kill(false)
	if err := os.WriteFile(path, []byte(ours), 0o600); err != nil { // the measure: this one is
		t.Fatal(err)
	}
	start(t, d.dir).settled()
	if alive(group) || alive(victim) {
		t.Error("the entry of a program was not found to be its own")
	}
}

// TestSharedRecord: a second daemon with the same record ends nothing of the first.
func TestSharedRecord(t *testing.T) {
	d := start(t, t.TempDir())
	d.settled()
	pid := d.tell("open", "echo $$ > $P; exec sleep 1000")
	other := start(t, d.dir)
	other.tell("run", "echo $$ > $P; exec sleep 1000") // it works, without a record
	other.kill(false)
	if !alive(pid) {
		t.Error("a program of a daemon that lives was ended")
	}
}

// TestGuardKilled: another takes its place.
func TestGuardKilled(t *testing.T) {
	d := start(t, t.TempDir())
	pid := d.tell("open", "trap '' TERM; echo $$ > $P; while :; do sleep 1; done")
	for range 2 {
		var guard []int
		eventually(t, "a guard", func() bool {
			guard = children(t, d.cmd.Process.Pid, "brine-guard")
			return len(guard) == 1
		})
		if err := syscall.Kill(guard[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "another guard", func() bool {
			now := children(t, d.cmd.Process.Pid, "brine-guard")
			return len(now) == 1 && now[0] != guard[0]
		})
	}
	if !alive(pid) {
		t.Fatal("the program ended with its guard")
	}
	d.known(pid)
	d.kill(false)
	gone(t, "the program", pid)
}
