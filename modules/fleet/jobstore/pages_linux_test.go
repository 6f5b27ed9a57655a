package jobstore

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// resident is how much of a file is mapped into this process and there, in KiB.
func resident(t *testing.T, file string) (kb int) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	in := false
	for line := range strings.Lines(string(smaps)) {
		switch words := strings.Fields(line); {
		case len(words) >= 5 && !strings.HasSuffix(words[0], ":"):
			in = len(words) > 5 && words[5] == file
		case in && words[0] == "Rss:":
			n, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatal(err)
			}
			kb += n
		}
	}
	return kb
}

// TestPagesAreGivenBack reads all of a file that has grown, and commits once more: the pages are no memory of this
// process any longer, and everything can be read.
func TestPagesAreGivenBack(t *testing.T) {
	s := openStore(t, t.TempDir())
	const jid, many = "20261123094200000000", 600
	commit := func(from, to int) {
		var returns []Return
		for i := from; i < to; i++ {
			returns = append(returns, Return{JID: jid, ID: fmt.Sprintf("m%d", i), Load: payload.M("return",
				strings.Repeat("x", 10_000), "fun", "test.ping")})
		}
		if _, err := s.Commit(nil, returns); err != nil {
			t.Fatal(err)
		}
	}
	all := func() int {
		got, err := s.Returns(jid)
		if err != nil {
			t.Fatal(err)
		}
		return got.Len()
	}
	s.released.Store(time.Now().UnixNano()) // not by this, unless it takes a second
	commit(0, many)
	s.released.Store(time.Now().UnixNano())
	if got := all(); got != many {
		t.Fatalf("%d returns, want %d", got, many)
	}
	before := resident(t, s.Path())
	if before < 4000 {
		t.Fatalf("%d KiB of the file are here, and all of it was read", before)
	}
	for name, work := range map[string]func(){"Commit": func() { commit(many, many+1) }, "Clean": func() {
		if _, err := s.Clean(time.Now()); err != nil {
			t.Fatal(err)
		}
	}} {
		all()
		s.released.Store(0)
		work()
		if after := resident(t, s.Path()); after > before/4 {
			t.Errorf("%s: %d KiB of the file are here, %d before", name, after, before)
		}
	}
	if got := all(); got != many+1 {
		t.Errorf("%d returns, want %d", got, many+1)
	}
}
