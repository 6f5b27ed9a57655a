package ps

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/modules/host/accounts"
	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/wire/python"
)

// process is one of the machine.
type process struct {
	pid    int64
	name   string
	words  []string
	uid    uint32
	status string
}

// stateOf is a letter of the kernel in psutil's words.
func stateOf(letter string) string {
	return map[string]string{"R": "running", "S": "sleeping", "D": "disk-sleep", "T": "stopped", "t": "tracing-stop",
		"Z": "zombie", "X": "dead", "x": "dead", "K": "wake-kill", "W": "waking", "I": "idle", "P": "parked"}[letter]
}

func numbers() ([]int64, error) {
	entries, err := os.ReadDir("/proc")
	var out []int64
	for _, e := range entries {
		if n, err := strconv.ParseInt(e.Name(), 10, 64); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, err
}

// list are all processes that are still there when they are looked at.
func list() ([]process, error) {
	pids, err := numbers()
	var out []process
	for _, pid := range pids {
		if p, ok := read(pid); ok {
			out = append(out, p)
		}
	}
	return out, err
}

func read(pid int64) (p process, ok bool) {
	dir := "/proc/" + strconv.FormatInt(pid, 10)
	stat, err := plainfile.Read(dir+"/stat", program.MaxOutput())
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	about, failed := plainfile.Read(dir+"/status", program.MaxOutput())
	if err != nil || failed != nil || from < 0 || to < from {
		return p, false
	}
	p = process{pid: pid, name: string(stat[from+1 : to])}
	_, ids, _ := strings.Cut(string(about), "\nUid:")
	if words := strings.Fields(ids); len(words) > 0 {
		n, _ := strconv.ParseUint(words[0], 10, 32) // the kernel writes numbers
		p.uid = uint32(n)
	}
	if fields := strings.Fields(string(stat[to+1:])); len(fields) > 0 {
		p.status = stateOf(fields[0])
	}
	line, _ := plainfile.Begin(dir+"/cmdline", program.MaxOutput()) // a process of the kernel has none
	p.words = wordsOf(string(line))
	const cut = 15 // letters of a name that the kernel keeps
	if len(p.name) >= cut && len(p.words) > 0 {
		if whole := filepath.Base(p.words[0]); strings.HasPrefix(whole, p.name) {
			p.name = whole
		}
	}
	return p, true
}

// wordsOf are the words of a command line; one that a program has written itself may have blanks between them.
func wordsOf(line string) []string {
	if line == "" {
		return nil
	}
	if text, ok := strings.CutSuffix(line, "\x00"); ok {
		return strings.Split(text, "\x00")
	}
	return strings.Split(line, " ")
}

// line is what a pattern is looked for in.
func (p process) line(full bool) string {
	if full {
		return strings.Join(p.words, " ")
	}
	return p.name
}

// ownedBy tells of processes whether they are of a user; nil is any.
func ownedBy(ctx context.Context, user any) (func(p process) bool, error) {
	if user == nil {
		return func(process) bool { return true }, nil
	}
	name := python.Str(user)
	found, ok, err := accounts.UserNamed(ctx, "", name)
	if err != nil {
		return nil, err
	}
	return func(p process) bool {
		if ok {
			return int64(p.uid) == found.UID
		}
		return strconv.FormatUint(uint64(p.uid), 10) == name // a process whose user has no name
	}, nil
}
