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

// A process that dies of a panic or of its own signal writes the reason to stderr and to a file. The next
// process makes a report of it, logs the path of the report, and keeps the last few reports. See
// docs/decisions/0037.

// These are the names in the cache directory and their limits.
const (
	crashFolder = "crashes"
	crashOutput = "output"  // output of the current process
	crashMost   = 256 << 10 // bytes of the output that go into a report
	crashRoom   = 64 << 10  // bytes reserved for the output, so that it can be written to a full disk
	crashKept   = 5         // number of reports
	crashDeaths = 10        // deaths of actors in a report
	crashEnding = ".txt"    // of the names of reports
	crashStamp  = "20060102T150405.000000000"
)

// noCores keeps the memory of this process, which holds keys, out of core files. It lowers only the soft limit,
// as service managers do by default, so programs that jobs start can raise it again.
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

// catchCrashes directs the output of a crash of this process to a file. Before that, it turns the crash output
// of the last process, which the file may hold, into a report. It returns the path of the report, or "" without
// one.
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

// setAside reserves space on the disk behind the content of the file. The size of the file stays. If the file
// system cannot do that, or is full, a crash writes as much as fits.
func setAside(f *os.File) {
	const keepSize = 1 // FALLOC_FL_KEEP_SIZE (linux/falloc.h)
	_ = syscall.Fallocate(int(f.Fd()), keepSize, 0, crashRoom)
}

// crashReport returns the text of a report.
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

// These patterns match parts of a crash's output that may contain keys: the arguments of a call at the end of a
// line, and the registers.
var (
	callValues = regexp.MustCompile(`(?m)^(\S.*)\([^()]*0x[^()]*\)$`)
	registers  = regexp.MustCompile(`(?m)^[a-z][a-z0-9]{0,5}\s+0x[0-9a-f]+\n`)
)

// withoutValues removes from a crash's output all that may be secret.
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

// tellOfCrash makes the report about the previous process, logs its path and returns it, or returns "".
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
