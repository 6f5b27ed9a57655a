package tooltest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Build builds brine as dir/brine, with flags of go build, and the links of its tools in dir/links. A test that
// runs the result must call LookAtTree.
func Build(dir string, flags ...string) error {
	bin := filepath.Join(dir, "brine")
	if Race {
		flags = append(flags, "-race")
	}
	build := slices.Concat([]string{"go", "build", "-o", bin}, flags, []string{"brine/cmd/brine"})
	for _, argv := range [][]string{build, {bin, "links", filepath.Join(dir, "links")}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
		}
	}
	return nil
}

var looked sync.Once

// LookAtTree prevents Go's test cache from reusing results of tests that run a binary of another tree. The
// cache does not know what a test builds, but it compares the files that a test looks at. So this function
// looks at all files that can become a part of the binary. The cache does not see what happens before the first
// test, in TestMain.
func LookAtTree(t testing.TB) {
	t.Helper()
	looked.Do(func() {
		if err := lookAtTree(); err != nil {
			t.Fatal(err)
		}
	})
}

// lookAtTree reads size and time of every file in the module's packages, except tests and their data.
func lookAtTree() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); path != root && (name[0] == '.' || name == "testdata" || name == "docs" ||
				name == "bin" || name == "dist") {
				return fs.SkipDir
			}
			return nil
		case strings.HasSuffix(d.Name(), "_test.go"):
			return nil
		}
		_, err = os.Stat(path)
		return err
	})
}

// moduleRoot is the directory of go.mod, above that of the tested package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			err = errors.New("no go.mod above the package")
		}
		dir = up
	}
	return "", err
}
