package daemon

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Times of settling. A daemon that has worked and then rests gives back what only the work needed.
const (
	settleLook  = 2 * time.Second       // how long it must have rested, and how often that is looked at
	settleRest  = 40 * time.Millisecond // of processor time within settleLook are rest
	settleWork  = 20 * time.Millisecond // of processor time since the last time are worth it,
	settleTimes = 5                     // and so many times what settling took then,
	// of which each look takes this part: on a busy machine it has the end of a start in it
	settleFade  = 100
	settleApart = 10 * time.Second // between two times at least
)

// settling decides when to settle, out of the processor time that was used until a moment.
type settling struct {
	last, done time.Duration // used at the last look, and when it settled last
	cost       time.Duration // what that took
	at         time.Time     // of that
}

// newSettling takes a start for work, however little it was.
func newSettling() settling { return settling{done: -settleWork} }

// due takes a look.
func (s *settling) due(used time.Duration, now time.Time) bool {
	rests := used-s.last <= settleRest
	s.last = used
	s.cost -= s.cost / settleFade
	if !rests || used-s.done < max(settleWork, settleTimes*s.cost) || now.Sub(s.at) < settleApart {
		return false
	}
	s.done, s.at = used, now
	return true
}

// settled notes what a settling took, which is not work.
func (s *settling) settled(used time.Duration) { s.cost, s.done = used-s.done, used }

// settleMemory gives memory back until ctx ends.
func settleMemory(ctx context.Context, log *slog.Logger) {
	look := time.NewTicker(settleLook)
	defer look.Stop()
	for s := newSettling(); ; {
		select {
		case now := <-look.C:
			if !s.due(processorTime(), now) {
				continue
			}
		case <-ctx.Done():
			return
		}
		runtime.GC() // what pools hold goes with the second collection
		debug.FreeOSMemory()
		if err := releaseFilePages(); err != nil {
			log.Debug("pages of the program cannot be given back", "err", err)
		}
		s.settled(processorTime())
	}
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// releaseFilePages takes the pages of the program and its libraries out of this process: half of them were needed
// by the start alone. Nothing is lost: a page that is needed again comes out of the page cache, where it stays.
func releaseFilePages() error {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("release pages: %w", err)
	}
	defer f.Close()
	areas, err := cleanFileAreas(f)
	for _, a := range areas {
		divide(a)
		if _, _, no := unix.Syscall(unix.SYS_MADVISE, a.from, a.to-a.from, unix.MADV_DONTNEED); no != 0 {
			return fmt.Errorf("release pages: %w", no)
		}
	}
	return err
}

// divideSize is the size of the parts of the program that come back as one, in bytes: smaller ones cost the kernel an
// area each (decision 0049).
const divideSize = 32 << 10

// divide makes small areas of a large one. Since Linux 6.18 the first touch of an area maps all of the page cache's
// folio that is there, two megabytes where the program was written in one piece; a folio is not mapped beyond its area.
// That every other part is left out of core dumps keeps them apart; a program's own pages are not in them anyway.
// What cannot be divided stays as it is.
func divide(a area) {
	for _, part := range oddParts(a) {
		if _, _, no := unix.Syscall(unix.SYS_MADVISE, part.from, part.to-part.from, unix.MADV_DONTDUMP); no != 0 {
			return
		}
	}
}

// oddParts are the parts of an area that lie in every other stretch of the addresses.
func oddParts(a area) (odd []area) {
	for from := a.from &^ (2*divideSize - 1); from < a.to; from += 2 * divideSize {
		part := area{max(from+divideSize, a.from), min(from+2*divideSize, a.to)}
		if part.from < part.to {
			odd = append(odd, part)
		}
	}
	return odd
}

// area is a range of addresses.
type area struct{ from, to uintptr }

// cleanFileAreas reads the table of a process' memory (proc_pid_smaps(5)) and lists the private mappings of files
// that cannot be written and never were. Those with pages of their own, such as relocated data, would lose them.
func cleanFileAreas(smaps io.Reader) (out []area, err error) {
	var a area
	clean := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) >= 5 && !strings.HasSuffix(words[0], ":"): // a new mapping
			if a, err = parseArea(words[0]); err != nil {
				return nil, err
			}
			clean = len(words) > 5 && strings.HasPrefix(words[5], "/") && (words[1] == "r-xp" || words[1] == "r--p")
		case len(words) < 2:
		case words[0] == "Anonymous:" || words[0] == "Swap:":
			clean = clean && words[1] == "0"
		case words[0] == "VmFlags:" && clean: // the last line of a mapping
			out = append(out, a)
		}
	}
	return out, lines.Err()
}

func parseArea(text string) (a area, err error) {
	from, to, _ := strings.Cut(text, "-")
	for _, p := range []struct {
		text string
		into *uintptr
	}{{from, &a.from}, {to, &a.to}} {
		n, err := strconv.ParseUint(p.text, 16, 64)
		if err != nil {
			return area{}, fmt.Errorf("memory area %q: %w", text, err)
		}
		*p.into = uintptr(n)
	}
	return a, nil
}
