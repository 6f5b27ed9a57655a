package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// uses is what a function, or the value of a package variable, refers to.
type uses struct {
	names  []string // functions, package variables and types, by their full names
	calls  []string // methods of interfaces, see signature
	fields []string // fields of the option structs
	keys   []string // texts by which options are read; in a function that has all options every text
	hands  bool     // it passes all options to code that reads them by texts of its own
}

// program holds the uses of all functions of this tree that are linked into a program.
type program struct {
	funcs   map[string]*uses
	methods map[string][]method // by signature
}

type method struct{ typ, full string }

// loadProgram reads the packages of one program.
func loadProgram(t *testing.T, pattern string) *program {
	t.Helper()
	all := listPackages(t, pattern)
	fset := token.NewFileSet()
	from := importing(fset, exportOf(all))
	p := &program{funcs: map[string]*uses{}, methods: map[string][]method{}}
	for _, pkg := range all {
		if !strings.HasPrefix(pkg.path, "brine/") {
			continue
		}
		var files []*ast.File
		for _, name := range append(slices.Clone(pkg.files), pkg.cgo...) {
			f, err := parser.ParseFile(fset, filepath.Join(pkg.dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		conf := types.Config{Importer: from, FakeImportC: true}
		if len(pkg.cgo) > 0 {
			conf.Error = func(error) {} // for C's names
		}
		info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{},
			Defs: map[*ast.Ident]types.Object{}}
		if _, err := conf.Check(pkg.path, fset, files, info); err != nil && len(pkg.cgo) == 0 {
			t.Fatalf("%s: %v", pkg.path, err)
		}
		for _, f := range files {
			for _, d := range f.Decls {
				p.add(info, pkg.path, d)
			}
		}
	}
	return p
}

// add records the uses of a declaration.
func (p *program) add(info *types.Info, path string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		f, ok := info.Defs[d.Name].(*types.Func)
		if !ok {
			return
		}
		p.funcs[f.FullName()] = usesOf(info, d)
		if recv := f.Signature().Recv(); recv != nil {
			p.methods[signature(f)] = append(p.methods[signature(f)], method{typeName(recv.Type()), f.FullName()})
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					p.funcs[path+"."+name.Name] = usesOf(info, spec)
				}
			case *ast.TypeSpec: // the methods of an embedded type count as used
				p.funcs[path+"."+spec.Name.Name] = usesOf(info, spec)
			}
		}
	}
}

// signature is the name of a method with the types of its parameters and results.
func signature(f *types.Func) string {
	text := f.Name()
	for _, tuple := range []*types.Tuple{f.Signature().Params(), f.Signature().Results()} {
		for v := range tuple.Variables() {
			text += " " + v.Type().String()
		}
		text += ";"
	}
	return text
}

// typeName is the full name of a type; for a pointer, of its element.
func typeName(t types.Type) string {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Pkg().Path() + "." + named.Obj().Name()
	}
	return t.String()
}

// usesOf walks over a declaration.
func usesOf(info *types.Info, node ast.Node) *uses {
	u := &uses{}
	asked := map[ast.Expr]bool{} // all options, where they are asked for a text
	var texts []string
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 {
				_, asked[f.X] = n.Args[0].(*ast.BasicLit)
			}
			texts = append(texts, limitsOf(n)...)
		case *ast.Ident:
			u.name(info.Uses[n])
		case *ast.SelectorExpr:
			if sel := info.Selections[n]; sel != nil {
				if name := optionField(sel); name != "" {
					u.fields = append(u.fields, name)
					u.hands = u.hands || name == "Raw" && !asked[n]
				}
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				texts = append(texts, s)
			}
		}
		return true
	})
	u.keys = texts
	return u
}

func (u *uses) name(obj types.Object) {
	switch o := obj.(type) {
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			u.calls = append(u.calls, signature(o))
			return
		}
		u.names = append(u.names, o.Origin().FullName())
	case *types.Var:
		if o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
			u.names = append(u.names, o.Pkg().Path()+"."+o.Name())
		}
	case *types.TypeName:
		if o.Pkg() != nil {
			u.names = append(u.names, o.Pkg().Path()+"."+o.Name())
		}
	}
}

// reached are the functions that may run after some were called, with their uses. A method may be called through an
// interface if its type is used. The walk does not enter the functions or packages in ends.
func (p *program) reached(ends []string, roots ...string) map[string]*uses {
	seen, calls := map[string]*uses{}, map[string]bool{}
	for todo := roots; len(todo) > 0; {
		for len(todo) > 0 {
			name := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			u := p.funcs[name]
			if _, ok := seen[name]; ok || u == nil || slices.ContainsFunc(ends, func(end string) bool {
				return within(name, end)
			}) {
				continue
			}
			seen[name] = u
			todo = append(todo, u.names...)
			for _, call := range u.calls {
				calls[call] = true
			}
		}
		for call := range calls { // through interfaces, because more types are known now
			for _, m := range p.methods[call] {
				if _, ok := seen[m.full]; !ok && seen[m.typ] != nil {
					todo = append(todo, m.full)
				}
			}
		}
		todo = slices.DeleteFunc(todo, func(name string) bool {
			return slices.ContainsFunc(ends, func(end string) bool { return within(name, end) })
		})
	}
	return seen
}

// within tells whether a function is the named one, or belongs to the named package.
func within(name, end string) bool {
	return name == end || strings.HasPrefix(strings.TrimLeft(name, "(*"), end+".")
}
