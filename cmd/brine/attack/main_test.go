package attack

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"brine/cmd/tooltest"
)

// links is the folder with the tools of the binary under test. TestMain makes it once.
var links string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	if testing.Short() { // no test starts a daemon
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "brine-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // neighbours run its tools
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	links = filepath.Join(dir, "links")
	if err := tooltest.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.Symlink(filepath.Join(dir, "brine"), filepath.Join(links, "brine")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
