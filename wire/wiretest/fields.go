package wiretest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FieldsOfRequests returns the names of all fields of publish, runner and wheel requests that code reads. It collects
// every text in the methods of their views in wire/payload, and in the lists and functions that these use. Some of the
// texts are not fields, but no field is missing.
func FieldsOfRequests(t testing.TB) []string {
	t.Helper()
	r := reader{texts: map[string][]string{}, seen: map[string]bool{}}
	files := payloadFiles(t)
	for _, f := range files {
		r.named(f)
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if fun, ok := d.(*ast.FuncDecl); ok && ofRequest(fun) {
				r.read(fun)
			}
		}
	}
	if len(r.fields) == 0 {
		t.Fatal("no fields of requests are found")
	}
	slices.Sort(r.fields)
	return slices.Compact(r.fields)
}

// ofRequest tells whether a function belongs to the view of such a request.
func ofRequest(fun *ast.FuncDecl) bool {
	if fun.Recv == nil {
		return fun.Name.Name == "NewPublication"
	}
	name, _ := fun.Recv.List[0].Type.(*ast.Ident)
	return name != nil && slices.Contains([]string{"PublishRequest", "PublishExtras", "RunRequest", "Credentials",
		"view"}, name.Name)
}

// payloadFiles are the files of wire/payload without its tests.
func payloadFiles(t testing.TB) (files []*ast.File) {
	t.Helper()
	root := "."
	for range 9 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join("..", root)
	}
	err := fs.WalkDir(os.DirFS(root), "wire/payload", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, 0)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// reader collects the texts of functions.
type reader struct {
	texts  map[string][]string // of the names of the package
	seen   map[string]bool     // names that were followed
	fields []string
}

// named records the texts in the constants, variables and small functions of a file.
func (r *reader) named(f *ast.File) {
	for _, d := range f.Decls {
		if fun, ok := d.(*ast.FuncDecl); ok && fun.Recv == nil && !fun.Name.IsExported() {
			r.texts[fun.Name.Name] = textsOf(fun.Body)
		}
		decl, _ := d.(*ast.GenDecl)
		if decl == nil {
			continue
		}
		for _, s := range decl.Specs {
			spec, _ := s.(*ast.ValueSpec)
			if spec == nil {
				continue
			}
			for i, name := range spec.Names {
				if i < len(spec.Values) {
					r.texts[name.Name] = textsOf(spec.Values[i])
				}
			}
		}
	}
}

// textsOf returns the texts in an expression, and its names with a $ before them.
func textsOf(e ast.Node) (out []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				out = append(out, text)
			}
		case *ast.Ident:
			out = append(out, "$"+n.Name)
		}
		return true
	})
	return out
}

var fieldName = regexp.MustCompile(`^[a-z_]+$`)

// read collects the texts of a function, and those of the names in it.
func (r *reader) read(n ast.Node) {
	r.follow(textsOf(n))
}

func (r *reader) follow(texts []string) {
	for _, text := range texts {
		name, isName := strings.CutPrefix(text, "$")
		switch {
		case !isName && fieldName.MatchString(text):
			r.fields = append(r.fields, text)
		case isName && !r.seen[name]:
			r.seen[name] = true
			r.follow(r.texts[name])
		}
	}
}
