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

// These constants control settling: after a period of work, an idle daemon gives back memory that only the work
// needed.
const (
	settleLook  = 2 * time.Second       // the daemon must have been idle for so long; also the time between two looks
	settleRest  = 40 * time.Millisecond // a daemon that uses at most so much processor time within settleLook is idle
	settleWork  = 20 * time.Millisecond // a settling needs so much processor time of work since the last one,
	settleTimes = 5                     // and so many times the cost of the last settling;
	// each look lowers that cost by this fraction, because on a busy machine the first cost includes the end of
	// the start
	settleFade  = 100
	settleApart = 10 * time.Second // least time between two settlings
)

// settling decides when to settle. It judges by the processor time that the process has used so far.
type settling struct {
	last, done time.Duration // processor time used at the last look and at the last settling
	cost       time.Duration // processor time of the last settling
	at         time.Time     // time of the last settling
}

// newSettling counts the start of the daemon as work, however short it was.
func newSettling() settling { return settling{done: -settleWork} }

// due tells whether to settle now.
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

// settled notes the cost of a settling, which does not count as work.
func (s *settling) settled(used time.Duration) { s.cost, s.done = used-s.done, used }

// settleMemory gives memory back at suitable moments until ctx ends.
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
		runtime.GC() // pools lose their content with the second collection
		debug.FreeOSMemory()
		if err := releaseFilePages(); err != nil {
			log.Debug("pages of the program cannot be given back", "err", err)
		}
		s.settled(processorTime())
	}
}

// processorTime is the processor time that this process has used so far.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// releaseFilePages removes the pages of the program and its libraries from this process. Half of them served
// the start alone. Nothing is lost: a page that is needed again comes from the page cache, where it stays.
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

// divideSize is the size of the parts in which the program comes back into memory, in bytes. With smaller parts
// the kernel would need more areas (decision 0049).
const divideSize = 32 << 10

// divide splits a large area into small ones. Since Linux 6.18 the first access to an area maps the whole part
// of a page cache folio that lies in the area, which is two megabytes if the program was written in one piece.
// To keep areas apart, every other part is excluded from core dumps, which never contain a program's own pages
// anyway. If an area cannot be divided, it stays as it is.
func divide(a area) {
	for _, part := range oddParts(a) {
		if _, _, no := unix.Syscall(unix.SYS_MADVISE, part.from, part.to-part.from, unix.MADV_DONTDUMP); no != 0 {
			return
		}
	}
}

// oddParts returns every other part of an area, at fixed multiples of divideSize.
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

// cleanFileAreas reads the table of a process's memory (proc_pid_smaps(5)). It lists private mappings of files
// that are read-only and were never written. Mappings with pages of their own, such as relocated data, would
// lose these pages.
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
