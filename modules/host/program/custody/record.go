package custody

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// entry is a program that runs.
type entry struct {
	kind    Kind
	pid     int
	start   uint64 // in ticks of the clock since the machine started
	session int
	sure    bool // what is left of its group without it is ours, too
	alone   bool // nobody but its daemon starts programs in its session
	slot    int  // its place in the record
}

// The record is a line of text that says when it is true, and a line of 64 bytes for each program. A line that is empty
// is free.
const (
	recordTitle = "brine programs 1"
	titleBytes  = 128
	slotBytes   = 64
	recordMost  = 1 << 20
)

// record is the file that names the programs which run. It is locked for as long as this process or its guard lives.
type record struct {
	f          *os.File
	free       []int
	slots      int
	complained bool
}

// errNotOurs means that somebody else could have written the record.
var errNotOurs = errors.New("the file belongs to another user, others may write it, or it is no file")

// openRecord opens and locks the record. A file that others could have written is replaced: it would name whom to kill.
func openRecord(path string) (*os.File, error) {
	for range 2 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
		if err == nil {
			if err = trusted(f); err == nil {
				return f, nil
			}
			_ = f.Close()
		}
		if !errors.Is(err, errNotOurs) && !errors.Is(err, syscall.ELOOP) {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w", path, errNotOurs)
}

func trusted(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 || st.Nlink != 1 {
		return errNotOurs
	}
	return nil
}

// lock waits until no other process has the record: the guard of the one before may be at work.
func lock(f *os.File) error {
	for limit := time.Now().Add(lockedAtAll); ; time.Sleep(lockPause) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		if time.Now().After(limit) {
			return errors.New("another process has it")
		}
	}
}

// file is that of the record, nil without one.
func (r *record) file() *os.File {
	if r == nil {
		return nil
	}
	return r.f
}

// add writes an entry into a free place.
func (r *record) add(e *entry) error {
	if n := len(r.free); n > 0 {
		e.slot, r.free = r.free[n-1], r.free[:n-1]
	} else {
		e.slot = r.slots
		r.slots++
	}
	return r.write(e.slot, e.text())
}

// remove empties the place of an entry.
func (r *record) remove(e *entry) error {
	r.free = append(r.free, e.slot)
	return r.write(e.slot, "")
}

func (r *record) write(slot int, text string) error {
	_, err := r.f.WriteAt(line(text, slotBytes), titleBytes+int64(slot)*slotBytes)
	return err
}

// line is a text of so many bytes, the end of the line included.
func line(text string, size int) []byte { return fmt.Appendf(nil, "%-*.*s\n", size-1, size-1, text) }

// when says of which start of the machine, and of which numbers of processes, the record speaks.
func when() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	numbers, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	return strings.Join([]string{recordTitle, strings.TrimSpace(string(boot)), numbers}, " "), nil
}

func (e *entry) text() string {
	alone := "shared"
	if e.alone {
		alone = "own"
	}
	return fmt.Sprintf("%c %d %d %d %s", e.kind, e.pid, e.start, e.session, alone)
}

// parseEntry reads a line. Whether what is left of a group without its first process is ours cannot be told from the
// number of the group alone, which may be another's by now: that of its session has to be ours, too, and the session
// nobody else's.
func parseEntry(text string) (entry, bool) {
	words := strings.Fields(text)
	if len(words) != 5 || len(words[0]) != 1 {
		return entry{}, false
	}
	pid, err := strconv.ParseInt(words[1], 10, 32)
	start, startErr := strconv.ParseUint(words[2], 10, 64)
	session, sessionErr := strconv.ParseInt(words[3], 10, 32)
	kind := Kind(words[0][0])
	if errors.Join(err, startErr, sessionErr) != nil || pid <= 1 || kind != Program && kind != Command && kind != Job {
		return entry{}, false
	}
	return entry{kind: kind, pid: int(pid), start: start, session: int(session), sure: words[4] == "own" &&
		session != pid}, true
}

// readLeft are the entries of a record, if it speaks of this start of the machine.
func readLeft(f *os.File) (left []entry, err error) {
	text, err := io.ReadAll(io.LimitReader(f, recordMost))
	if err != nil {
		return nil, err
	}
	now, err := when()
	if err != nil {
		return nil, err
	}
	title, rest, _ := strings.Cut(string(text), "\n")
	if strings.TrimSpace(title) != now {
		return nil, nil
	}
	for one := range strings.Lines(rest) {
		if e, ok := parseEntry(one); ok {
			left = append(left, e)
		}
	}
	return left, nil
}

// startOf is when a process has started, in ticks of the clock since the machine did (proc_pid_stat(5), place 22).
func startOf(pid int) (uint64, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	const place = 22 - 3 // behind the name, which may hold anything
	words := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(words) <= place {
		return 0, fmt.Errorf("the start of process %d is not in its status", pid)
	}
	return strconv.ParseUint(words[place], 10, 64)
}
