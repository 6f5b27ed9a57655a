package daemon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"brine/cmd/keepalive"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/modules/outputters"
	"brine/supervisor/stats"
	"brine/wire/disk/wholefile"
)

// A process that dies of a panic or of a signal of its own says why on stderr, and in a file. The next one makes a
// report of it, tells where that is, and keeps the last few. See docs/decisions/0037.

// The files, in the cache directory, and their bounds.
const (
	crashFolder = "crashes"
	crashOutput = "output"  // of the process that runs
	crashMost   = 256 << 10 // bytes of it that go into a report
	crashRoom   = 64 << 10  // bytes that are set aside for it, so that a full disk takes it
	crashKept   = 5         // reports
	crashDeaths = 10        // of actors, in a report
	crashEnding = ".txt"    // of reports
	crashStamp  = "20060102T150405.000000000"
)

// noCores keeps the memory of this process, in which keys are, out of core files. Only the soft limit goes, as a
// service manager sets it by default: programs that jobs start can raise it again.
func noCores() error {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &lim); err != nil {
		return fmt.Errorf("limit of core files: %w", err)
	}
	lim.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &lim); err != nil {
		return fmt.Errorf("limit of core files: %w", err)
	}
	return nil
}

// catchCrashes has what kills this process written to a file, after a report was made of what is there already: what
// killed the one before. It returns the path of that report, "" when there is none.
func catchCrashes(s *session.Session, state string, deaths []stats.Death) (report string, err error) {
	dir := filepath.Join(s.Common.CacheDir, state, crashFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("folder of crash reports: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, crashOutput), os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return "", fmt.Errorf("output of a crash: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(io.LimitReader(f, crashMost))
	if err != nil {
		return "", fmt.Errorf("output of a crash: %w", err)
	}
	if len(text) > 0 {
		before, _ := s.Parent.Before()
		path := filepath.Join(dir, time.Now().UTC().Format(crashStamp)+crashEnding)
		err = wholefile.Write(path, []byte(crashReport(string(text), before, s.Common, deaths)), wholefile.Options{})
		if err != nil { // the output stays, for the next start
			err = fmt.Errorf("report of the last crash, which is still in %s: %w", f.Name(), err)
		} else {
			report, err = path, errors.Join(f.Truncate(0), thinOut(dir))
		}
	}
	setAside(f)
	return report, errors.Join(err, debug.SetCrashOutput(f, debug.CrashOptions{}))
}

// setAside takes room on the disk behind what is in the file, whose size stays. Where the file system cannot do that,
// or has no room, a crash leaves what fits.
func setAside(f *os.File) {
	const keepSize = 1 // FALLOC_FL_KEEP_SIZE (linux/falloc.h)
	_ = syscall.Fallocate(int(f.Fd()), keepSize, 0, crashRoom)
}

// crashReport is the text of a report.
func crashReport(output string, before keepalive.Ended, c *config.Common, deaths []stats.Death) string {
	var b strings.Builder
	fmt.Fprintf(&b, "brine %s, Salt %s, %s, %s/%s\n", tool.Version, tool.SaltVersion, runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	if before.PID != 0 {
		fmt.Fprintf(&b, "process %d ended with %s\n", before.PID, before.How())
	}
	fmt.Fprintf(&b, "\n== output\n%s\n== last deaths of actors\n", withoutValues(output))
	for _, d := range deaths[max(0, len(deaths)-crashDeaths):] {
		fmt.Fprintf(&b, "%s %s#%d: %s\n", stats.Stamp(d.Time), d.Path, d.Incarnation, config.MaskText(d.Reason))
	}
	fmt.Fprintf(&b, "\n== options\n%s\n", outputters.JSON(config.Redacted(c.Raw)))
	return b.String()
}

// Of a crash's output: the arguments of a call at the end of a line, and the registers, which both may be parts of
// keys.
var (
	callValues = regexp.MustCompile(`(?m)^(\S.*)\([^()]*0x[^()]*\)$`)
	registers  = regexp.MustCompile(`(?m)^[a-z][a-z0-9]{0,5}\s+0x[0-9a-f]+\n`)
)

// withoutValues takes out of a crash's output what may be secret.
func withoutValues(output string) string {
	output = callValues.ReplaceAllString(output, "$1(...)")
	return config.MaskText(registers.ReplaceAllString(output, ""))
}

// reports lists the reports, oldest first.
func reports(dir string) []string {
	list, err := filepath.Glob(filepath.Join(dir, "*"+crashEnding))
	if err != nil {
		return nil
	}
	slices.Sort(list)
	return list
}

// thinOut removes the oldest reports.
func thinOut(dir string) (err error) {
	list := reports(dir)
	for _, path := range list[:max(0, len(list)-crashKept)] {
		if gone := os.Remove(path); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// tellOfCrash makes the report of the process before, says where it is, and returns that; "" when there is none.
func tellOfCrash(s *session.Session, svc Service, state string) string {
	report, err := catchCrashes(s, state, svc.Supervisor().History())
	if err != nil {
		s.Log.Warn("reports of crashes are not as they should be", "err", err)
	}
	if report != "" {
		s.Log.Error("The process before this one has crashed, see the report", "path", report)
	}
	return report
}
