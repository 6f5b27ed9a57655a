package config

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reads is what the code outside of tests reads: fields of the option structs by name, options by key.
type reads struct {
	fset   *token.FileSet
	export map[string]string // import path → file with its types
	fields map[string]bool
	keys   map[string]bool
}

// tables are files that name options without reading them.
var tables = []string{"common.go", "master.go", "minion.go", "defaults.go", "redact.go", "decode.go", "ranges.go",
	"live.go"}

// optionStructs are the structs whose fields are options.
var optionStructs = []string{"Common", "Brine", "Master", "Minion", "Client"}

// listed is a package as the go command lists it, with all that it imports before it.
type listed struct {
	path, export, dir string
	files, cgo, deps  []string
}

// listPackages lists packages of this module, and what they import.
func listPackages(t *testing.T, pattern string) (all []listed) {
	t.Helper()
	// The tags of a build whose packages the compiler has made already: it makes them once more for others.
	cmd := exec.Command("go", "list", "-export", "-deps", "-tags", os.Getenv("BRINE_BUILT_TAGS"), "-f",
		`{{.ImportPath}}|{{.Export}}|{{.Dir}}|{{join .GoFiles ","}}|{{join .CgoFiles ","}}|{{join .Deps ","}}`, pattern)
	cmd.Dir = ".."
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages: %v\n%s", err, told.String())
	}
	words := func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) }
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSpace(line), "|")
		all = append(all, listed{part[0], part[1], part[2], words(part[3]), words(part[4]), words(part[5])})
	}
	return all
}

// exportOf is where the types of each package stand.
func exportOf(all []listed) map[string]string {
	out := map[string]string{}
	for _, p := range all {
		out[p.path] = p.export
	}
	return out
}

// importing finds packages as the compiler has left them.
func importing(fset *token.FileSet, export map[string]string) types.Importer {
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
}

// findReads type-checks every package that reads options, with the compiler's own idea of those that it imports.
func findReads(t *testing.T) *reads {
	t.Helper()
	all := listPackages(t, "./...")
	r := &reads{fset: token.NewFileSet(), export: exportOf(all), fields: map[string]bool{}, keys: map[string]bool{}}
	for _, p := range all {
		if p.path == "brine/config" || strings.HasPrefix(p.path, "brine/") && !strings.HasSuffix(p.path, "test") {
			r.look(t, p.path, p.dir, p.files, slices.Contains(p.deps, "brine/config"))
		}
	}
	return r
}

// look reads one package: its texts, and its selections where it can know the structs, itself or through others.
func (r *reads) look(t *testing.T, path, dir string, names []string, knowsConfig bool) {
	t.Helper()
	own := path == "brine/config"
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(r.fset, filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		if !own || !slices.Contains(tables, name) {
			r.texts(f)
		}
	}
	if !own && !knowsConfig {
		return
	}
	conf := types.Config{Importer: importing(r.fset, r.export)}
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	if _, err := conf.Check(path, r.fset, files, info); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, sel := range info.Selections {
		r.selection(sel)
	}
}

func (r *reads) selection(sel *types.Selection) {
	if name := optionField(sel); name != "" {
		r.fields[name] = true
	}
}

// optionField is the field of an option struct that is selected, "" when it is something else.
func optionField(sel *types.Selection) string {
	field, ok := sel.Obj().(*types.Var)
	if !ok || sel.Kind() != types.FieldVal || field.Pkg() == nil || field.Pkg().Path() != "brine/config" {
		return ""
	}
	recv := sel.Recv()
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	if named, ok := recv.(*types.Named); ok && slices.Contains(optionStructs, named.Obj().Name()) {
		return field.Name()
	}
	return ""
}

// texts notes every text of a file: an option read by its key is one.
func (r *reads) texts(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				r.keys[s] = true
			}
		case *ast.CallExpr:
			for _, key := range limitsOf(n) {
				r.keys[key] = true
			}
		}
		return true
	})
}

// limitsOf are the two keys that LimitsOf makes of the kind that it is given.
func limitsOf(call *ast.CallExpr) []string {
	if fun, ok := call.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "LimitsOf" && len(call.Args) == 2 {
		if kind, ok := call.Args[1].(*ast.BasicLit); ok {
			name, _ := strconv.Unquote(kind.Value)
			return []string{"disable_" + name, "whitelist_" + name}
		}
	}
	return nil
}

// TestHonouredIsRead fails on an option that is called honoured and that no code reads, and on a field of the structs
// that no code reads: whoever relies on either would be deceived.
func TestHonouredIsRead(t *testing.T) {
	r := findReads(t)
	names := map[string][]string{} // key → fields
	for _, typ := range []reflect.Type{reflect.TypeFor[Master](), reflect.TypeFor[Minion]()} {
		for _, f := range fields(typ) {
			names[f.key] = append(names[f.key], f.name)
		}
	}
	read := func(key string) bool {
		return r.keys[key] || slices.ContainsFunc(names[key], func(name string) bool { return r.fields[name] })
	}
	for key, fields := range names {
		if !read(key) {
			t.Errorf("%s (field %s) is read nowhere: honour it, or take the field away", key, fields[0])
		}
	}
	for key, one := range standings(t) {
		honoured := func(r rule) bool { return r.act == actHonour }
		if (slices.ContainsFunc(one.master, honoured) || slices.ContainsFunc(one.minion, honoured)) && !read(key) {
			t.Errorf("%s is called honoured in salt3008/standing.txt, and no code reads it", key)
		}
	}
}
