package statetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"brine/wire/payload"
)

// onceVar tells a process that it is in a mount namespace of its own, and what ONCE is there.
const onceVar = "BRINE_T_ONCE"

// prepared is what the commands of once made for all trees of a file.
type prepared struct {
	here, dir string
	do        sync.Once
}

// directory runs the commands, unless that was done.
func (p *prepared) directory(t *testing.T, commands []any) {
	t.Helper()
	if dir, inside := os.LookupEnv(onceVar); inside {
		p.dir = dir
		return
	}
	if len(commands) == 0 {
		return
	}
	p.do.Do(func() {
		here, err := filepath.Abs(p.here)
		if err == nil {
			p.dir, err = os.MkdirTemp("", "once")
		}
		if err != nil {
			t.Error(err)
			return
		}
		for _, command := range commands {
			shell(t, p.dir, strings.ReplaceAll(command.(string), "HERE", here))
		}
	})
	if p.dir == "" {
		t.Fatal("no directory for once")
	}
}

// remove takes away what directory made.
func (p *prepared) remove() {
	if _, inside := os.LookupEnv(onceVar); p.dir != "" && !inside {
		_ = os.RemoveAll(p.dir) // it is below the directory of temporary files
	}
}

// in is a tree with the directory of once in its texts.
func in(tree *payload.Map, once string) *payload.Map {
	if once == "" {
		return tree
	}
	return replaced(tree, "ONCE", once).(*payload.Map)
}

// replaced is a value with another text in the place of one, in keys and values.
func replaced(v any, from, to string) any {
	switch x := v.(type) {
	case string:
		return strings.ReplaceAll(x, from, to)
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			out[i] = replaced(item, from, to)
		}
		return out
	case *payload.Map:
		out := payload.NewMap(x.Len())
		for key, item := range x.All() {
			out.Set(replaced(key, from, to), replaced(item, from, to))
		}
		return out
	}
	return v
}

// alone tells whether the tree is to be run here: one that changes nothing of the machine, or this process has a mount
// namespace for it. Otherwise it starts such a process, which runs this one test.
func alone(t *testing.T, tree *payload.Map, once string) bool {
	t.Helper()
	overlay, fresh := payload.Texts(tree.List("overlay")), payload.Texts(tree.List("fresh"))
	if len(overlay)+len(fresh) == 0 {
		return true
	}
	if _, inside := os.LookupEnv(onceVar); inside {
		if err := hide(overlay, fresh); err != nil {
			t.Skip("no private directories here: ", err)
		}
		return true
	}
	Privately(t, onceVar+"="+once)
	return false
}

// Privately runs the test that calls it once more, in a process with a mount namespace of its own and variables. What
// that process mounts nobody else sees. A test that is skipped there is skipped here.
func Privately(t *testing.T, variables ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	var only []string
	for _, part := range strings.Split(t.Name(), "/") {
		only = append(only, "^"+regexp.QuoteMeta(part)+"$")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", strings.Join(only, "/"), "-test.v")
	cmd.Env = append(os.Environ(), variables...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case err != nil && text == "":
		t.Skip("no mount namespace here: ", err)
	case err != nil:
		t.Errorf("%v\n%s", err, text)
	case strings.Contains(text, "--- SKIP: "+t.Name()):
		t.Skip(text)
	case !strings.Contains(text, "--- PASS: "+t.Name()):
		t.Errorf("the test did not run\n%s", text)
	}
}

// hide makes directories of this process private: those of overlay show what is there, those of fresh are empty.
func hide(overlay, fresh []string) error {
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", "/mnt", "tmpfs", 0, ""); err != nil {
		return err
	}
	for i, path := range overlay {
		upper, work := fmt.Sprintf("/mnt/%d/upper", i), fmt.Sprintf("/mnt/%d/work", i)
		for _, dir := range []string{upper, work} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		layers := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", path, upper, work)
		if err := syscall.Mount("overlay", path, "overlay", 0, layers); err != nil {
			return fmt.Errorf("overlay %s: %w", path, err)
		}
	}
	for _, path := range fresh {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "mode=0755"); err != nil {
			return fmt.Errorf("tmpfs %s: %w", path, err)
		}
	}
	return nil
}
