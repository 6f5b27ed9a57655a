package chaos

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/cmd/tooltest"

	"golang.org/x/sys/unix"
)

// These are the flags of a run. Without them it is the short run of `go test ./...`. Taskfile.yml has those of
// the long one.
var (
	flagSeed     = flag.Uint64("chaos.seed", 42, "seed of the plan of faults; 0: one of the clock")
	flagRounds   = flag.Int("chaos.rounds", 2, "rounds of faults, each followed by the checks")
	flagKills    = flag.Int("chaos.kills", 60, "faults in each round")
	flagDuration = flag.Duration("chaos.duration", 4*time.Second, "time over which the faults of a round are "+
		"spread; a slow machine takes longer")
	flagMinions = flag.Int("chaos.minions", 4, "brine minions; every second one runs jobs in processes of their own")
	flagKeep    = flag.String("chaos.keep", "", "directory that takes the logs of the daemons and the diary of faults")
)

// links is the folder with the tools of the binary under test. TestMain makes it once.
var links string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	if testing.Short() {
		return m.Run()
	}
	// Processes that lose their parent become children of this process, so that none can hide.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "brine-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	links = filepath.Join(dir, "links")
	if err := tooltest.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
