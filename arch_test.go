// Package brine has no code of its own: this test holds the tree to docs/decisions and the house rules.
// It reads every Go file, whatever its build tags, so a rule cannot be evaded by a tag.
package brine

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const maxFileLines, maxFuncLines, maxColumns, maxFiles = 600, 100, 120, 45

// large are packages that are to be cut into parts: they may shrink, and none may join them.
var large = map[string]int{"actors/master": 92}

// importTable is docs/imports.md. mayImport says what of ours a package may import, alone who may import what the rest
// of the tree must not.
const importTable = "docs/imports.md"

var mayImport, alone = readImports()

// lone is a row of the second table.
type lone struct {
	path    string
	who     []string
	inTests bool
}

// readImports reads both tables: rows of three columns are packages of ours, rows of four what only some may import.
func readImports() (map[string][]string, []lone) {
	text, _ := os.ReadFile(importTable) // without it no package has a place
	may, rows := map[string][]string{}, []lone(nil)
	for line := range strings.Lines(string(text)) {
		cols := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		who := strings.Fields(strings.ReplaceAll(cols[1], "`", ""))
		switch name := strings.Trim(cols[0], " `"); len(cols) {
		case 3:
			may[name] = who
		case 4:
			rows = append(rows, lone{name, who, strings.TrimSpace(cols[2]) == "yes"})
		}
	}
	return may, rows
}

// sourceFile is one parsed file of the tree.
type sourceFile struct {
	*ast.File
	dir, name string // dir is relative to the root, with slashes
	test      bool
	lines     []string
}

// tree is what the rules look at; found collects what breaks one.
type tree struct {
	fset  *token.FileSet
	files []*sourceFile
	found []string
}

func (t *tree) errorf(format string, a ...any) { t.found = append(t.found, fmt.Sprintf(format, a...)) }

func (t *tree) at(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// add parses one file; src nil means the file on disk.
func (t *tree) add(name string, src any) error {
	if src == nil {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		src = string(text)
	}
	f, err := parser.ParseFile(t.fset, name, src, parser.ParseComments)
	if err == nil {
		name = filepath.ToSlash(name)
		t.files = append(t.files, &sourceFile{File: f, dir: path.Dir(name), name: name,
			test: strings.HasSuffix(name, "_test.go"), lines: strings.Split(src.(string), "\n")})
	}
	return err
}

func loadTree(t *testing.T) *tree {
	t.Helper()
	tr := &tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (d.Name()[0] == '.' || d.Name() == "testdata" || d.Name() == "tools"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(p) != ".go":
			return nil
		}
		return tr.add(p, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// within says whether package dir is root or lies below it.
func within(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }

// longestKey finds the entry of the import table that covers dir.
func longestKey(dir string) (string, bool) {
	for d := dir; ; d = path.Dir(d) {
		if _, ok := mayImport[d]; ok && (d != "." || dir == ".") {
			return d, true
		}
		if d == "." || d == "/" {
			return "", false
		}
	}
}

// oursAllowed says whether a file of package from may import our package to.
func oursAllowed(from, to string, test bool) bool {
	if to == "wire/payload" || within(to, "wire/disk") || within(to, "wire/python") || within(from, to) ||
		within(to, from) || test && (to == "wire/wiretest" || to == "wire/loopback" || to == "actors/actortest") {
		return true
	}
	key, ok := longestKey(from)
	return ok && covered(to, mayImport[key])
}

// covered says whether one of the patterns names dir.
func covered(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		root, deep := strings.CutSuffix(p, "...")
		return p == dir || deep && strings.HasPrefix(dir+"/", root)
	})
}

func checkImports(tr *tree) {
	for _, f := range tr.files {
		if _, ok := longestKey(f.dir); !ok {
			tr.errorf("%s: package %s has no place in the import table", f.name, f.dir)
		}
		for _, spec := range f.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			if to, ours := strings.CutPrefix(p, "brine/"); ours && !oursAllowed(f.dir, to, f.test) {
				tr.errorf("%s: %s must not import %s", tr.at(spec), f.dir, to)
			}
			for _, rule := range alone {
				hit := p == rule.path || strings.HasSuffix(rule.path, "/") && strings.HasPrefix(p+"/", rule.path)
				if hit && !covered(f.dir, rule.who) && !(f.test && rule.inTests) {
					tr.errorf("%s: %s must not import %s", tr.at(spec), f.dir, p)
				}
			}
		}
	}
}

// TestDeps asks the go command what the packages below the actors really link.
func TestDeps(t *testing.T) {
	roots := []string{"./wire/...", "./modules/...", "./config/..."}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{.ImportPath}}"}, roots...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	for p := range strings.FieldsSeq(string(out)) {
		for _, root := range []string{"brine/actors", "brine/supervisor", "brine/cmd",
			"github.com/asynkron/protoactor-go"} {
			if within(p, root) {
				t.Errorf("%s is linked by one of %v", p, roots)
			}
		}
	}
}

func checkDocComments(tr *tree) {
	docs := map[string]int{}
	for _, f := range tr.files {
		name := f.Name.Name
		if strings.HasSuffix(name, "_test") {
			continue
		}
		if docs[f.dir] += 0; f.Doc == nil {
			continue
		}
		docs[f.dir]++
		if text := f.Doc.Text(); !strings.HasPrefix(text, "Package "+name+" ") && !strings.HasPrefix(text, "Command ") {
			tr.errorf("%s: the comment does not start with Package %s", f.name, name)
		}
	}
	for dir, n := range docs {
		if n != 1 {
			tr.errorf("package %s has %d doc comments, want 1", dir, n)
		}
	}
}

func checkSizes(tr *tree) {
	files := map[string]int{}
	for _, f := range tr.files {
		if !f.test {
			files[f.dir]++
		}
		if n := max(maxFiles, large[f.dir]); files[f.dir] > n {
			tr.errorf("%s: package %s has more than %d files", f.name, f.dir, n)
		}
		if n := len(f.lines) - 1; n > maxFileLines {
			tr.errorf("%s has %d lines, the limit is %d", f.name, n, maxFileLines)
		}
		for _, d := range f.Decls {
			n := tr.fset.Position(d.End()).Line - tr.fset.Position(d.Pos()).Line + 1
			if fn, ok := d.(*ast.FuncDecl); ok && n > maxFuncLines {
				tr.errorf("%s: func %s has %d lines, the limit is %d", tr.at(fn), fn.Name.Name, n, maxFuncLines)
			}
		}
	}
}

// checkColumns leaves raw texts, tables in comments and instructions to tools as they are.
func checkColumns(tr *tree) {
	for _, f := range tr.files {
		raw := map[int]bool{}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Value[0] == '`' {
				for l := tr.fset.Position(lit.Pos()).Line; l <= tr.fset.Position(lit.End()).Line; l++ {
					raw[l] = true
				}
			}
			return true
		})
		for i, line := range f.lines {
			table := strings.HasPrefix(strings.TrimSpace(line), "//\t") || strings.HasPrefix(line, "//go:")
			if n := utf8.RuneCountInString(line); n > maxColumns && !raw[i+1] && !table {
				tr.errorf("%s:%d has %d columns, the limit is %d", f.name, i+1, n, maxColumns)
			}
		}
	}
}

// checkStatements walks the statements of every file.
func checkStatements(tr *tree) {
	for _, f := range tr.files {
		if f.dir == "." && f.name != "arch_test.go" {
			tr.errorf("%s: no Go file but arch_test.go stands at the root", f.name)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == "init" {
				tr.errorf("%s: no init functions", tr.at(fn))
			}
			crash := ok && fn.Name.Name == "Crash" && f.dir == "supervisor"
			ast.Inspect(d, func(n ast.Node) bool {
				if why := forbidden(f, n, crash); why != "" {
					tr.errorf("%s: %s", tr.at(n), why)
				}
				return true
			})
		}
		for _, g := range f.Comments {
			for _, c := range g.List {
				if text := strings.TrimLeft(c.Text, "/* \t"); strings.HasPrefix(text, "TODO") ||
					strings.HasPrefix(text, "FIXME") {
					tr.errorf("%s: what is missing stands in the changelog", tr.at(c))
				}
			}
		}
	}
}

// whole are the files that see all of a configuration; the rest of their package gets narrow options (decision 0048).
var whole = map[string]string{"actors/master": "master.go core.go options.go configured.go keys.go rules.go",
	"actors/minion": "minion.go children.go connect.go configured.go times.go"}

// forbidden names the house rule that node n breaks, or nothing.
func forbidden(f *sourceFile, n ast.Node, crash bool) string {
	cmd := within(f.dir, "cmd") || path.Base(f.name) == "main_test.go" // a TestMain may be a process of its own
	if call, ok := n.(*ast.CallExpr); ok {
		if id, ok := call.Fun.(*ast.Ident); ok {
			switch {
			case id.Name == "panic" && !crash && !f.test:
				return "supervisor.Crash is the only panic"
			case (id.Name == "print" || id.Name == "println") && !f.test:
				return "no print outside cmd"
			}
		}
	}
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	see, held := whole[f.dir]
	switch name := pkg.Name + "." + sel.Sel.Name; {
	case held && !f.test && !slices.Contains(strings.Fields(see), path.Base(f.name)) && (name == "config.Master" ||
		name == "config.Minion" || sel.Sel.Name == "cfg"):
		return "the whole configuration is not for a part: give it options"
	case strings.HasPrefix(name, "fmt.Print") && !cmd:
		return "no fmt.Print outside cmd"
	case name == "os.Exit" && !cmd:
		return "no os.Exit outside cmd"
	case name == "time.Sleep" && f.test:
		return "a test waits for what it needs, it does not sleep"
	case (name == "sync.Mutex" || name == "sync.RWMutex") && within(f.dir, "actors") &&
		!within(f.dir, "actors/actortest"):
		return "an actor has no mutex"
	}
	return ""
}

// checkPackageVars fails where a function assigns to a package variable of its own package, or where such a
// variable is made to be changed (a mutex, an atomic, a sync.Map).
func checkPackageVars(tr *tree) {
	vars := map[string]map[string]bool{} // package dir + name → variable
	specs := map[any]bool{}              // every declaration of one
	for _, f := range tr.files {
		key := f.dir + " " + f.Name.Name
		if vars[key] == nil {
			vars[key] = map[string]bool{}
		}
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, s := range gen.Specs {
				spec := s.(*ast.ValueSpec)
				specs[spec] = true
				for _, id := range spec.Names {
					vars[key][id.Name] = id.Name != "_"
				}
				if changes(spec) && !f.test {
					tr.errorf("%s: a package variable that is made to be changed", tr.at(spec))
				}
			}
		}
	}
	for _, f := range tr.files {
		known := vars[f.dir+" "+f.Name.Name]
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name == "TestMain" || f.test {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				for _, e := range assigned(n) {
					if id := base(e); id != nil && known[id.Name] && !isLocal(id, specs) {
						tr.errorf("%s: package variable %s is changed", tr.at(n), id.Name)
					}
				}
				return true
			})
		}
	}
}

// changes says whether a variable's declared type is one that exists to be changed.
func changes(spec *ast.ValueSpec) bool {
	exprs := slices.Clone(spec.Values)
	if spec.Type != nil {
		exprs = append(exprs, spec.Type)
	}
	for _, e := range exprs {
		if lit, ok := e.(*ast.CompositeLit); ok {
			e = lit.Type
		}
		if ix, ok := e.(*ast.IndexExpr); ok {
			e = ix.X
		}
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		pkg, _ := sel.X.(*ast.Ident)
		if pkg != nil && (pkg.Name == "atomic" || pkg.Name == "sync" &&
			slices.Contains([]string{"Mutex", "RWMutex", "Map"}, sel.Sel.Name)) {
			return true
		}
	}
	return false
}

// assigned lists the expressions a statement writes to.
func assigned(n ast.Node) []ast.Expr {
	switch s := n.(type) {
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			return s.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{s.X}
	case *ast.CallExpr:
		if id, ok := s.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(s.Args) > 0 {
			return s.Args[:1]
		}
	}
	return nil
}

// base is the variable at the root of a[i].b and the like.
func base(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// isLocal says whether the parser bound id to something declared inside a function. An identifier without an
// object is declared in another file of the package.
func isLocal(id *ast.Ident, specs map[any]bool) bool {
	obj := id.Obj // what one file resolves is all that is needed here
	return obj != nil && !specs[obj.Decl]
}

// rules are the checks of the whole tree.
var rules = map[string]func(*tree){
	"imports":      checkImports,
	"doc comments": checkDocComments,
	"sizes":        checkSizes,
	"columns":      checkColumns,
	"statements":   checkStatements,
	"package vars": checkPackageVars,
}

func TestTree(t *testing.T) {
	all := loadTree(t)
	for name, check := range rules {
		t.Run(name, func(t *testing.T) {
			tr := &tree{fset: all.fset, files: all.files}
			check(tr)
			for _, line := range tr.found {
				t.Error(line)
			}
		})
	}
}

// TestRulesBite gives each rule something to find.
func TestRulesBite(t *testing.T) {
	long := "package x\n" + strings.Repeat("\n", maxFileLines)
	for _, tt := range []struct{ rule, file, src, want string }{
		{"imports", "modules/x/x.go", `package x; import "brine/wire/client"`, "must not import wire/client"},
		{"imports", "actors/master/x.go", `package x; import "brine/actors/minion"`, "must not import actors/minion"},
		{"imports", "wire/zmq/x.go", `package x; import "brine/wire/crypt"`, "must not import wire/crypt"},
		{"imports", "config/x.go", `package x; import "crypto/aes"`, "must not import crypto/aes"},
		{"imports", "wire/event/x.go", `package x; import "github.com/asynkron/protoactor-go/actor"`,
			"must not import github.com"},
		{"imports", "actors/minion/x_test.go", `package x; import "github.com/asynkron/protoactor-go/actor"`,
			"must not import github.com"},
		{"imports", "wire/disk/x.go", `package x; import "brine/wire/event"`, "must not import wire/event"},
		{"imports", "extra/x.go", `package x`, "no place"},
		{"doc comments", "config/x.go", "package x", "0 doc comments"},
		{"doc comments", "config/x.go", "// X is no Package.\npackage x", "does not start with"},
		{"sizes", "config/x.go", long, "601 lines"},
		{"columns", "config/x.go", "package x // " + strings.Repeat("x", maxColumns), "columns"},
		{"sizes", "config/x.go", "package x\nfunc f() {" + strings.Repeat("\n", maxFuncLines) + "}",
			"func f has 101 lines"},
		{"statements", "x.go", "package x", "at the root"},
		{"statements", "config/x.go", "package x; func init() {}", "init"},
		{"statements", "config/x.go", `package x; func f() { panic("x") }`, "only panic"},
		{"statements", "supervisor/x.go", `package x; func g() { panic("x") }`, "only panic"},
		{"statements", "config/x.go", `package x; import "fmt"; func f() { fmt.Println() }`, "fmt.Print"},
		{"statements", "config/x.go", `package x; import "os"; func f() { os.Exit(1) }`, "os.Exit"},
		{"statements", "config/x_test.go", `package x; import "time"; func f() { time.Sleep(1) }`, "sleep"},
		{"statements", "actors/master/x.go", `package x; import "sync"; type a struct { sync.Mutex }`, "mutex"},
		{"statements", "config/x.go", "package x\n// TODO: later", "changelog"},
		{"statements", "actors/master/x.go", `package x; import "brine/config"; type a struct { c *config.Master }`,
			"not for a part"},
		{"statements", "actors/master/x.go", "package x; func (c *core) f() int { return c.cfg.Port }",
			"not for a part"},
		{"package vars", "config/x.go", "package x; var n int; func f() { n++ }", "n is changed"},
		{"package vars", "config/x.go", "package x; var m = map[int]int{}; func f() { m[1] = 2 }", "m is changed"},
		{"package vars", "config/x.go", `package x; import "sync"; var m sync.Map`, "made to be changed"},
	} {
		tr := &tree{fset: token.NewFileSet()}
		if err := tr.add(tt.file, tt.src); err != nil {
			t.Fatal(err)
		}
		rules[tt.rule](tr)
		if got := strings.Join(tr.found, "; "); !strings.Contains(got, tt.want) {
			t.Errorf("%s, %s: found %q, want %q", tt.rule, tt.file, got, tt.want)
		}
	}
	tr := &tree{fset: token.NewFileSet()}
	clean := `package x; import ("brine/config"; "brine/wire/payload"); var n = 1; func f() { n := n; n++ }`
	if err := tr.add("modules/x/x.go", "// Package x is clean.\n"+clean); err != nil {
		t.Fatal(err)
	}
	for _, check := range rules {
		check(tr)
	}
	if len(tr.found) > 0 {
		t.Errorf("clean file: %q", tr.found)
	}
}

// treePage shows what each folder is.
const treePage = "docs/architecture.md"

// TestArchitectureShowsTheTree: the tree of docs/architecture.md says in a line what each folder with Go files is, down
// to the second level and in rooms, which hold none of their own, one further. It shows no other.
func TestArchitectureShowsTheTree(t *testing.T) {
	page, _ := os.ReadFile(treePage) // without it there is no section
	shown, err := treeOf(string(page))
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for _, f := range loadTree(t).files {
		packages[f.dir] = true
	}
	for dir := range packages {
		parts := strings.Split(dir, "/")
		for n := range parts {
			name, above := strings.Join(parts[:n+1], "/"), strings.Join(parts[:n], "/")
			if name == "." || parts[0] == "tools" || n > 1 && packages[above] {
				break
			}
			if shown[name] == 0 {
				t.Errorf(treePage+": the tree does not say what %s/ is", name)
				shown[name] = 1 // once is enough
			}
		}
	}
	for name, times := range shown {
		if info, err := os.Stat(name); err != nil || !info.IsDir() || times > 1 {
			t.Errorf(treePage+": the tree shows %s/ %d times: once if it is there", name, times)
		}
	}
}

// treeOf reads the tree of a page: folders with how often they stand there. A line is a folder, blanks, and what it
// is; one that is indented by two more lies in the one above it.
func treeOf(page string) (map[string]int, error) {
	_, rest, ok := strings.Cut(page, "## The tree\n\n")
	if !ok {
		return nil, fmt.Errorf(treePage+": no section %q", "The tree")
	}
	shown := map[string]int{}
	var path []string
	for line := range strings.Lines(rest) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "    ") || len(words) == 0 {
			break
		}
		name, isFolder := strings.CutSuffix(words[0], "/")
		depth := (len(line)-len(strings.TrimLeft(line, " ")))/2 - 2
		if !isFolder || len(words) < 2 || depth > len(path) {
			return nil, fmt.Errorf(treePage+": %q is not a folder and what it is", strings.TrimSpace(line))
		}
		path = append(path[:depth], name)
		shown[strings.Join(path, "/")]++
	}
	return shown, nil
}

func TestDependenciesAreExplained(t *testing.T) {
	doc, err := os.ReadFile("docs/dependencies.md")
	mod, errMod := os.ReadFile("go.mod")
	if err != nil || errMod != nil {
		t.Fatal(err, errMod)
	}
	for line := range strings.Lines(string(mod)) {
		w := strings.Fields(line)
		module := len(w) == 2 && strings.Contains(w[0], ".") && strings.HasPrefix(w[1], "v")
		if module && !strings.Contains(string(doc), "`"+w[0]+"`") {
			t.Errorf("docs/dependencies.md does not tell what %s is for", w[0])
		}
	}
}
