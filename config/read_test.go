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
var tables = []string{"common.go", "master.go", "minion.go", "defaults.go", "redact.go", "decode.go", "ranges.go", "live.go"}

// optionStructs are the structs whose fields are options.
var optionStructs = []string{"Common", "Brine", "Master", "Minion", "Client"}

// findReads type-checks every package that reads options, with the compiler's own idea of those that it imports.
func findReads(t *testing.T) *reads {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", `{{.ImportPath}}|{{.Export}}|{{.Dir}}|{{join .GoFiles ","}}|{{join .Deps ","}}`, "./...")
	cmd.Dir = ".."
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages: %v\n%s", err, told.String())
	}
	r := &reads{fset: token.NewFileSet(), export: map[string]string{}, fields: map[string]bool{}, keys: map[string]bool{}}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines {
		part := strings.Split(line, "|")
		r.export[part[0]] = part[1]
	}
	for _, line := range lines {
		part := strings.Split(line, "|")
		if path := part[0]; path == "brine/config" || strings.HasPrefix(path, "brine/") && !strings.HasSuffix(path, "test") {
			r.look(t, path, part[2], strings.Split(part[3], ","), slices.Contains(strings.Split(part[4], ","), "brine/config"))
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
		if name == "" {
			continue
		}
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
	conf := types.Config{Importer: importer.ForCompiler(r.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(r.export[path]) })}
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	if _, err := conf.Check(path, r.fset, files, info); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, sel := range info.Selections {
		r.selection(sel)
	}
}

func (r *reads) selection(sel *types.Selection) {
	field, ok := sel.Obj().(*types.Var)
	if !ok || sel.Kind() != types.FieldVal || field.Pkg() == nil || field.Pkg().Path() != "brine/config" {
		return
	}
	recv := sel.Recv()
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	if named, ok := recv.(*types.Named); ok && slices.Contains(optionStructs, named.Obj().Name()) {
		r.fields[field.Name()] = true
	}
}

// texts notes every text of a file: an option read by its key is one. LimitsOf makes two keys of the kind that it is given.
func (r *reads) texts(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				r.keys[s] = true
			}
		case *ast.CallExpr:
			if fun, ok := n.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "LimitsOf" && len(n.Args) == 2 {
				if kind, ok := n.Args[1].(*ast.BasicLit); ok {
					name, _ := strconv.Unquote(kind.Value)
					r.keys["disable_"+name], r.keys["whitelist_"+name] = true, true
				}
			}
		}
		return true
	})
}

// TestHonouredIsRead fails on an option that is called honoured and that no code reads, and on a field of the structs that no
// code reads: whoever relies on either would be deceived.
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
