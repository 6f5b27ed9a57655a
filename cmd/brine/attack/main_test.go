package attack

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// links is the directory of the tools of the binary under test, made once by TestMain.
var links string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	if testing.Short() { // no daemon is started
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
	bin := filepath.Join(dir, "brine")
	links = filepath.Join(dir, "links")
	build := []string{"go", "build", "-o", bin}
	if raceBuild {
		build = append(build, "-race")
	}
	for _, argv := range [][]string{append(build, "brine/cmd/brine"), {bin, "links", links}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", strings.Join(argv, " "), err, out)
			return 1
		}
	}
	if err := os.Symlink(bin, filepath.Join(links, "brine")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
