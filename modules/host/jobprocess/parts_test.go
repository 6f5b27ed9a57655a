package jobprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/wire/payload"
)

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		stat string
		want relation
		ok   bool
	}{
		{"7 (sh) S 3 7 5 34816 7 4194304", relation{7, 3, 5}, true},
		{"7 (a) Z (b) R 3 7 5 0", relation{7, 3, 5}, true},
		{"7 (sh) Z 3 7 5 0", relation{}, false},
		{"7 (sh) S 3", relation{}, false},
		{"7 (sh) S x y z", relation{}, false},
		{"", relation{}, false},
		{"7 (sh", relation{}, false},
	} {
		if got, ok := parseStat(7, []byte(tt.stat)); got != tt.want && tt.ok || ok != tt.ok {
			t.Errorf("%q: %v %v, want %v %v", tt.stat, got, ok, tt.want, tt.ok)
		}
	}
}

// TestRelatives finds children, sessions that they begin, and those whose parent has gone; not what has left.
func TestRelatives(t *testing.T) {
	all := []relation{
		{1, 0, 1}, {50, 1, 50}, {100, 50, 100}, // init, the minion, the process of the job
		{101, 100, 100}, {103, 102, 102}, {102, 101, 102}, // a command, a session below it, out of order
		{104, 1, 100},  // left by its parent
		{105, 1, 105},  // a daemon
		{106, 50, 106}, // another job
	}
	got := relatives(100, all)
	if slices.Sort(got); !slices.Equal(got, []int{100, 101, 102, 103, 104}) {
		t.Errorf("family %v", got)
	}
}

func TestOOMKills(t *testing.T) {
	dir := t.TempDir()
	own := "5:cpu,cpuacct:/a\n4:memory:/b\n0::/c/d\n"
	var paths []string
	for _, c := range oomCounters(own, dir) {
		paths = append(paths, strings.TrimPrefix(c.path, dir))
	}
	if want := []string{"/memory/b/memory.oom_control", "/memory/memory.oom_control", "/c/d/memory.events",
		"/proc/vmstat"}; !slices.Equal(paths, want) {
		t.Errorf("counters %q", paths)
	}
	path := filepath.Join(dir, "memory.events")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := &oomKills{path: path, key: "oom_kill"}
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"low 0\noom 3\noom_kill 0\noom_group_kill 9\n", false}, {"oom_kill 1\n", true}, {"oom_kill 1\n", false},
		{"oom_kill 4\n", true}, {"rubbish", false}, {"oom_kill 4\n", false},
	} {
		write(tt.text)
		if got := k.another(); got != tt.want {
			t.Errorf("%q: %v", tt.text, got)
		}
	}
	if (&oomKills{}).another() {
		t.Error("nobody counts, and one was killed")
	}
}

func TestLastWords(t *testing.T) {
	for _, tt := range []struct {
		words, want string
		oom         bool
	}{
		{"panic: x\n\ngoroutine 1 [running]:\na\n\tb\n\ngoroutine 2 [idle]:\nc\n",
			"panic: x\n\ngoroutine 1 [running]:\na\n\tb", false},
		{"fatal error: runtime: out of memory\n\nruntime stack:\na\n\ngoroutine 1 [x]:\nb\n\ngoroutine 2",
			"fatal error: runtime: out of memory\n\nruntime stack:\na\n\ngoroutine 1 [x]:\nb", true},
		{"runtime: failed to create new OS thread (have 5 already; errno=11)",
			"runtime: failed to create new OS thread (have 5 already; errno=11)", true},
		{"panic: x\n\nout of memory", "panic: x\n\nout of memory", false},
		{"\xff", "?", false},
		{"", "", false},
		{strings.Repeat("x", maxWords+5), strings.Repeat("x", maxWords), false},
	} {
		got := lastWords(strings.NewReader(tt.words))
		if got != tt.want || outOfMemory(got) != tt.oom {
			t.Errorf("%.40q: %.80q, out of memory %v", tt.words, got, outOfMemory(got))
		}
	}
}

func TestRefused(t *testing.T) {
	tight := Limits{Memory: 64 << 20}
	for _, tt := range []struct {
		d    Death
		want bool
	}{
		{Death{Limits: tight, RSS: 60 << 20, Code: 2, Words: "SIGSEGV: segmentation violation\nPC=0x4346dd m=5 " +
			"sigcode=1 addr=0x0"}, true},
		{Death{Limits: tight, RSS: 60 << 20, Code: 2, Words: "SIGSEGV: segmentation violation\nPC=0x4346dd m=5 " +
			"sigcode=0 addr=0x0"}, false},
		{Death{Limits: tight, RSS: 60 << 20, Code: 2, Words: "panic: x"}, false},
		{Death{Limits: tight, RSS: 20 << 20, Code: 2, Words: "SIGSEGV: segmentation violation"}, false},
		{Death{Limits: tight, RSS: 60 << 20, Code: 3}, false},
		{Death{RSS: 60 << 20, Code: 2}, false},
	} {
		if got := tt.d.refused(); got != tt.want {
			t.Errorf("%+v: %v", tt.d, got)
		}
	}
}

// duplex is a stream in memory.
type duplex struct {
	io.Reader
	io.Writer
}

// FuzzNext reads whatever stands on the socket: it ends, and never claims more memory than a message may have.
func FuzzNext(f *testing.F) {
	var out bytes.Buffer
	if err := newStream(duplex{nil, &out}).send(msgCall, int64(1), callRequest, payload.M("cmd", "_x"),
		""); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add([]byte{0, 0, 0, 1, 0xc0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x91})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := newStream(duplex{bytes.NewReader(b), io.Discard})
		for {
			kind, m, err := s.next()
			if err != nil {
				if kind != "" || m != nil {
					t.Errorf("a message and an error: %q %v %v", kind, m, err)
				}
				return
			}
			if _, ok := readStart(m); ok && kind == "" {
				t.Error("a start without a kind")
			}
		}
	})
}

func TestSendRefuses(t *testing.T) {
	if err := newStream(duplex{nil, io.Discard}).send(msgReturn, make(chan int)); !errors.Is(err,
		payload.ErrUnencodable) {
		t.Errorf("a channel: %v", err)
	}
}

// TestErrorKinds: what a function tells apart of the minion's errors is told apart in the process, too.
func TestErrorKinds(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("ask: %w", loader.ErrRequestTimeout), fmt.Errorf("ask: %w", &loader.ClientError{Message: "no"}),
		fmt.Errorf("ask: %w", context.DeadlineExceeded), errors.New("other"),
	} {
		there := errorOf(err.Error(), kindOf(err))
		if there.Error() != err.Error() || loader.ClassOf(there) != loader.ClassOf(err) ||
			errors.Is(there, context.DeadlineExceeded) != errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is %v, a %s", err, there, loader.ClassOf(there))
		}
	}
}
