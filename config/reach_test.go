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

// uses is what a function, or the value of a package variable, speaks of.
type uses struct {
	names  []string // functions, package variables and types, by their full names
	calls  []string // methods of interfaces, see signature
	fields []string // fields of the option structs
	keys   []string // texts that options are asked for by, and in a function that has all options every text
	hands  bool     // it hands all options on, to something that asks for texts of its own
}

// program is what the functions of this tree speak of, as far as they are linked into a program.
type program struct {
	funcs   map[string]*uses
	methods map[string][]method // by signature
}

type method struct{ typ, full string }

// loadProgram reads the packages that one links.
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
			conf.Error = func(error) {} // of what C has
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

// add notes what a declaration speaks of.
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
			case *ast.TypeSpec: // what is embedded in it, its methods are
				p.funcs[path+"."+spec.Name.Name] = usesOf(info, spec)
			}
		}
	}
}

// signature is the name of a method and the types that it takes and gives.
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

// typeName is the full name of a type, or of what it points to.
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

// reached are the functions that may run once some have been called, with what they speak of. A method runs through an
// interface when its type is spoken of. ends are functions, or packages, that are not looked into.
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
		for call := range calls { // through interfaces, now that more types are known
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

// within tells whether a function is the one that is named, or one of the package.
func within(name, end string) bool {
	return name == end || strings.HasPrefix(strings.TrimLeft(name, "(*"), end+".")
}
