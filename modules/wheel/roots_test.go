package wheel

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// rootsTree is the tree of testdata/roots.py.
var rootsTree = map[string]string{
	"a/top.sls": "base: {}\n", "a/web/init.sls": "grüße\n", "a/bin": "\x00\x01", "a/empty": "",
	"a/latin": "gr\xfc\xdfe" + strings.Repeat("x", 40),
	"a/odd": strings.Repeat("\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f"+
		"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f", 3),
	"b/top.sls": "second\n", "b/deep/er/x": "1", "out/secret": "secret\n",
}

var rootsLinks = map[string]string{"a/in": "web", "a/abs": "DIR/a/web", "a/out": "../out", "a/gone": "nothing",
	"a/leave": "../out/new", "a/file": "top.sls"}

// plantRoots makes the tree, and an environment of wheel functions for it.
func plantRoots(t *testing.T) (string, *loader.Env) {
	t.Helper()
	top := t.TempDir()
	for name, text := range rootsTree {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755),
			os.WriteFile(filepath.Join(top, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range rootsLinks {
		if err := os.Symlink(strings.ReplaceAll(to, "DIR", top), filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	reg := loader.NewRegistry()
	reg.Offer(loader.Listed{{File: "file_roots", Funcs: FileRoots}, {File: "pillar_roots", Funcs: PillarRoots}})
	envs := payload.M("base", []any{top + "/a", top + "/b", top + "/c"}, "deep", []any{top + "/b/deep/er"})
	opts := payload.M("file_roots", envs, "pillar_roots", envs)
	return top, &loader.Env{Registry: reg, Opts: func() *payload.Map { return opts }}
}

// plain files of a tree, by their paths in it.
func plainFiles(t *testing.T, top string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, top+"/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// recordedCall is one of testdata/roots.json.
type recordedCall struct {
	Fun          string
	Args         []any
	Leaks        bool // real Salt shows files outside of pillar_roots
	Return       any
	Raises, Text string
	Wrote        map[string]string
}

// TestRootsAsSalt calls the functions of file_roots and pillar_roots as they were recorded from Salt 3008.3, and
// looks at what they wrote. Where a call fails nothing is written: Salt empties the file.
func TestRootsAsSalt(t *testing.T) {
	text, err := os.ReadFile("testdata/roots.json")
	if err != nil {
		t.Fatal(err)
	}
	var calls []recordedCall
	if err := json.Unmarshal(text, &calls); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		args, _ := json.Marshal(c.Args)
		t.Run(c.Fun+" "+string(args), func(t *testing.T) {
			top, env := plantRoots(t)
			before := plainFiles(t, top)
			for i, a := range c.Args {
				switch a := a.(type) {
				case string:
					c.Args[i] = strings.ReplaceAll(a, "DIR", top)
				case float64:
					c.Args[i] = int64(a)
				}
			}
			v, err := loader.NewCall(t.Context(), env, "", nil).Call(c.Fun, c.Args, nil)
			switch nul := c.Raises == "ValueError" && strings.HasSuffix(c.Fun, "find"); {
			case c.Leaks || nul:
				if outputters.JSON(v) != "[]" || err != nil {
					t.Errorf("got %v, %v; want nothing", v, err)
				}
			case c.Raises != "":
				var e *loader.Exception
				if !errors.As(err, &e) || e.Class != c.Raises || e.Message != strings.ReplaceAll(c.Text, "DIR", top) {
					t.Errorf("got %v, %v; want %s: %s", v, err, c.Raises, c.Text)
				}
				c.Wrote = nil
			case err != nil:
				t.Errorf("got %v", err)
			default:
				var got any
				if err := json.Unmarshal([]byte(strings.ReplaceAll(outputters.JSON(v), top, "DIR")), &got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.Return, got); diff != "" {
					t.Errorf("(-Salt +brine)\n%s", diff)
				}
			}
			after := plainFiles(t, top)
			for name, want := range before {
				if wrote, ok := c.Wrote[name]; ok {
					want = wrote
				}
				if after[name] != want {
					t.Errorf("%s holds %q, want %q", name, after[name], want)
				}
				delete(after, name)
			}
			for name, want := range c.Wrote {
				if got, ok := after[name]; ok && got != want {
					t.Errorf("%s holds %q, want %q", name, got, want)
				}
				if _, was := before[name]; !was && after[name] != want {
					t.Errorf("%s holds %q, want %q", name, after[name], want)
				}
				delete(after, name)
			}
			if len(after) > 0 {
				t.Errorf("there are more files: %v", after)
			}
		})
	}
}

// TestRootsWriteWhole: a file that is written keeps its mode, and what is no plain file is neither read nor written.
func TestRootsWriteWhole(t *testing.T) {
	top, env := plantRoots(t)
	call := func(fun string, args ...any) (any, error) {
		return loader.NewCall(t.Context(), env, "", nil).Call(fun, args, nil)
	}
	if err := errors.Join(os.Chmod(filepath.Join(top, "a/top.sls"), 0o640),
		syscall.Mkfifo(filepath.Join(top, "a/pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := call("pillar_roots.write", "secret\n", "top.sls"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(top, "a/top.sls")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if v, err := call("file_roots.read", "pipe"); err != nil || outputters.JSON(v) != "[]" {
		t.Errorf("a pipe was read: %v, %v", v, err)
	}
	if v, err := call("file_roots.write", "x", "pipe"); err != nil || v != "Invalid path: pipe" {
		t.Errorf("a pipe was written: %v, %v", v, err)
	}
}

// TestRootsExchanged: a folder that becomes a link outwards after it was looked at leads nowhere.
func TestRootsExchanged(t *testing.T) {
	top, _ := plantRoots(t)
	for _, rel := range []string{"web/init.sls", "web/new", "web"} {
		p, ok := placeIn(filepath.Join(top, "a"), rel)
		if !ok {
			t.Fatal(rel)
		}
		if err := errors.Join(os.Rename(filepath.Join(top, "a/web"), filepath.Join(top, "a/was")),
			os.Symlink("../out", filepath.Join(top, "a/web"))); err != nil {
			t.Fatal(err)
		}
		if f, err := p.open(); err == nil {
			t.Errorf("%s was opened as %s", rel, f.Name())
		}
		if ok, err := p.write([]byte("x")); ok && err == nil {
			t.Errorf("%s was written", rel)
		}
		if err := errors.Join(os.Remove(filepath.Join(top, "a/web")),
			os.Rename(filepath.Join(top, "a/was"), filepath.Join(top, "a/web"))); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(top, "out")); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
}
