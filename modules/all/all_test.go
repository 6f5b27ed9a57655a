package all_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/modules/all"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/runners"
	"brine/modules/wheel"
	"brine/wire/payload"
)

// lists are the lists with the folders that they are of.
func lists() map[string]loader.Source {
	return map[string]loader.Source{"execution": all.Execution(), "runners": all.Runners(runners.Options{}),
		"wheel": all.Wheel(wheel.Options{}), "returners": all.Returners(returners.Options{}), "states": all.States()}
}

// shared are folders that hold no module, but what modules of their kind share.
var shared = map[string][]string{"returners": {"functions", "jobcache", "options", "queue", "returnertest", "spool",
	"sqlstore"}, "states": {"run", "statetest"}}

// files are the files of all lists, by kind.
func files() map[string][]string {
	out := map[string][]string{}
	for kind, table := range lists() {
		for _, m := range table.Modules() {
			out[kind] = append(out[kind], m.File)
		}
	}
	for _, m := range all.Grains() {
		out["grains"] = append(out["grains"], m.File)
	}
	return out
}

// TestFolders: each folder with Go files is a line of its list, and each line has its folder, by the module's file.
func TestFolders(t *testing.T) {
	for kind, listed := range files() {
		found, err := filepath.Glob("../" + kind + "/*/*.go")
		if err != nil {
			t.Fatal(err)
		}
		var folders []string
		for _, file := range found {
			folder := filepath.Base(filepath.Dir(file))
			if !strings.HasSuffix(file, "_test.go") && !slices.Contains(shared[kind], folder) {
				folders = append(folders, folder)
			}
		}
		if folders = slices.Compact(folders); !slices.Equal(folders, sorted(listed)) {
			t.Errorf("modules/%s has the folders\n%v\nand the list\n%v", kind, folders, sorted(listed))
		}
	}
}

func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return out
}

// TestModules: what every module declares is well formed, and of two modules with one name each chooses its hosts.
func TestModules(t *testing.T) {
	for kind, table := range lists() {
		reg := loader.NewRegistry()
		reg.Offer(table)
		if err := reg.Check(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		byName := map[string]string{}
		for _, m := range table.Modules() {
			name := m.Name
			if name == "" {
				name = m.File
			}
			if before, twice := byName[name]; twice && m.Virtual == nil {
				t.Errorf("%s: %s and %s are both %s on every host", kind, before, m.File, name)
			}
			byName[name] = m.File
			if twice := twiceIn(m.Funcs()); twice != "" {
				t.Errorf("%s: %s declares %s twice", kind, m.File, twice)
			}
		}
	}
}

func twiceIn(funcs []loader.Func) string {
	seen := map[string]bool{}
	for _, f := range funcs {
		if seen[f.Name] {
			return f.Name
		}
		seen[f.Name] = true
	}
	return ""
}

// many are so many modules of ten functions each.
func many(modules int) loader.Table {
	type given struct {
		Name    any    `arg:"name"`
		Saltenv string `arg:"saltenv=base"`
		Flag    bool   `arg:"flag=False"`
	}
	run := func(*loader.Call, given) (any, error) { return true, nil }
	table := make(loader.Table, modules)
	for i := range table {
		file := fmt.Sprint("m", i)
		table[i] = func() loader.Module {
			return loader.Module{File: file, Funcs: func() []loader.Func {
				out := make([]loader.Func, 10)
				for j := range out {
					out[j] = loader.Fn(fmt.Sprint("f", j), run, "Do something.", file+".f name")
				}
				return out
			}}
		}
	}
	return table
}

// BenchmarkStart is the start of a program and its first call: of this program's modules, and of 2,000 functions.
func BenchmarkStart(b *testing.B) {
	for _, c := range []struct {
		name, fun string
		table     loader.Table
	}{{"own", "test.ping", all.Execution()}, {"2000", "m7.f3", many(200)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				reg := loader.NewRegistry()
				reg.Offer(c.table)
				if _, ok := reg.Lookup(c.fun); !ok {
					b.Fatal("it is not there")
				}
			}
		})
		b.Run(c.name+"/all", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				reg := loader.NewRegistry()
				reg.Offer(c.table)
				reg.Names()
			}
		})
	}
}

// TestLazy: a module that nobody asks for makes no functions.
func TestLazy(t *testing.T) {
	made := map[string]bool{}
	var table loader.Table
	for _, file := range []string{"a", "b", "c"} {
		table = append(table, func() loader.Module {
			return loader.Module{File: file, Funcs: func() []loader.Func {
				made[file] = true
				return []loader.Func{loader.Fn("f", func(*loader.Call, struct{}) (any, error) {
					return file, nil
				}, "x", file+".f")}
			}}
		})
	}
	reg := loader.NewRegistry()
	reg.Offer(table)
	env := &loader.Env{Registry: reg, Opts: func() *payload.Map { return nil }}
	if v, err := loader.NewCall(t.Context(), env, "", nil).Call("b.f", nil, nil); err != nil || v != "b" {
		t.Errorf("%v, %v", v, err)
	}
	if len(made) != 1 || !made["b"] {
		t.Errorf("made: %v", made)
	}
}

// TestReachedThroughLists: only the lists of this package lead to returners and grains. A program without a line
// links none of what that stands on: drivers of databases, clients.
func TestReachedThroughLists(t *testing.T) {
	modules := map[string]bool{}
	for kind, files := range files() {
		for _, file := range files {
			modules["brine/modules/"+kind+"/"+file] = kind == "returners" || kind == "grains"
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == "../../modules/all":
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			if name := strings.Trim(spec.Path.Value, `"`); modules[name] {
				t.Errorf("%s imports %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
