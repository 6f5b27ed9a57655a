package jinja

import (
	"errors"
	"path"
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/jinja/syntax"
)

// module is what an import binds: the exported variables of a template and what it printed.
type module struct {
	name string
	vars map[string]any
	text string
}

// TypeName is that of Jinja's class.
func (m *module) TypeName() string { return "TemplateModule" }

// Qualified is the name with its module.
func (m *module) Qualified() string { return "jinja2.environment.TemplateModule" }

// Attr is an exported variable.
func (m *module) Attr(name string) (any, bool) {
	v, ok := m.vars[name]
	return v, ok
}

// Print is the text of the template.
func (m *module) Print(_ *py.Work, repr bool) (string, error) {
	if repr {
		return "<TemplateModule " + quote(m.name) + ">", nil
	}
	return m.text, nil
}

// errMissing is a template that was not found.
type errMissing struct{ names []string }

func (e *errMissing) Error() string {
	if len(e.names) == 1 {
		return e.names[0]
	}
	if len(e.names) == 0 {
		return "Tried to select from an empty list of templates."
	}
	return "none of the templates given were found: " + strings.Join(e.names, ", ")
}

// template finds the template of that name.
func (r *run) template(v any) (*Template, error) {
	if u, ok := v.(*py.Undefined); ok {
		return nil, u.Err()
	}
	if name, ok := py.Text(v); ok {
		return r.loadTemplate(name)
	}
	return nil, py.Errorf("AttributeError", "'%s' object has no attribute 'split'", py.TypeName(v))
}

// oneOf finds the first template that is there of a list of names, or that of one name.
func (r *run) oneOf(v any) (*Template, error) {
	if isText(v) || isType[*py.Undefined](v) {
		return r.template(v)
	}
	names, err := py.Collect(r.work, v)
	if err != nil {
		return nil, err
	}
	all := &errMissing{}
	for _, n := range names {
		name, ok := py.Text(n)
		if !ok {
			if u, isU := n.(*py.Undefined); isU {
				return nil, u.Err()
			}
			return nil, py.Errorf("TypeError", "expected a template name, not %s", py.TypeName(n))
		}
		t, err := r.loadTemplate(name)
		var missing *errMissing
		if !errors.As(err, &missing) {
			return t, err
		}
		all.names = append(all.names, name)
	}
	if len(all.names) == 1 {
		return nil, &errMissing{[]string{"none of the templates given were found: " + all.names[0]}}
	}
	return nil, all
}

func (r *run) loadTemplate(name string) (*Template, error) {
	if t := r.loaded[name]; t != nil {
		return t, nil
	}
	if r.engine.opt.Loader == nil {
		return nil, py.Errorf("TypeError", "no loader for this environment specified")
	}
	from := ""
	if dir, ok := r.global("tpldir"); ok {
		from, _ = py.Text(dir)
	} else if isRelative(name) {
		return nil, &errMissing{[]string{name}}
	}
	src, err := r.engine.opt.Loader.Load(r.work.Context(), name, from)
	if errors.Is(err, ErrNotFound) {
		return nil, &errMissing{[]string{name}}
	}
	if err != nil {
		return nil, err
	}
	if err := r.work.Grow(len(src.Text)); err != nil {
		return nil, err
	}
	r.setPlaces(name, from, src)
	t := &Template{engine: r.engine, path: src.Path, name: name, text: src.Text}
	tree, err := syntax.Parse(src.Text, r.engine.syntaxOptions(nil))
	if err != nil {
		var se *syntax.Error
		if errors.As(err, &se) {
			return nil, &traced{err, t, se.Line}
		}
		return nil, err
	}
	t.tree = tree
	r.loaded[name] = t
	return t, nil
}

// isRelative says whether a name begins with ./ or ../.
func isRelative(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return first == "." || first == ".."
}

// setPlaces sets the variables that say where a template lies, as Salt's loader does.
func (r *run) setPlaces(name, from string, src Source) {
	dir := path.Dir(src.Name)
	file := src.Name
	if dir == "." {
		dir = ""
	}
	if isRelative(name) {
		dir, file = from, name
	}
	shown := dir
	if shown == "" {
		shown = "."
	}
	r.places["tplfile"], r.places["tpldir"] = file, shown
	r.places["tpldot"] = strings.ReplaceAll(dir, "/", ".")
}

// roomFor is the room of a template that is included or imported.
func (r *run) roomFor(t *Template, withContext bool) *room {
	if !withContext {
		return r.newRoom(t, nil)
	}
	room := r.newRoom(t, r.all())
	room.places = r.s.room.places
	return room
}

func (r *run) include(s *syntax.Include) error {
	r.f.line = s.At()
	name, err := r.eval(s.Template)
	if err != nil {
		return err
	}
	t, err := r.oneOf(name)
	if err != nil {
		var missing *errMissing
		if s.IgnoreMissing && errors.As(err, &missing) {
			return nil
		}
		return err
	}
	room := r.roomFor(t, s.WithContext)
	room.autoescape = r.s.room.autoescape && s.WithContext
	return r.renderRoot(room, t, r.out)
}

// module renders another template for an import.
func (r *run) module(e syntax.Expr, withContext bool) (*module, error) {
	v, err := r.eval(e)
	if err != nil {
		return nil, err
	}
	t, err := r.template(v)
	if err != nil {
		return nil, err
	}
	room := r.roomFor(t, withContext)
	var out strings.Builder
	if err := r.renderRoot(room, t, &out); err != nil {
		return nil, err
	}
	m := &module{name: t.name, vars: map[string]any{}, text: out.String()}
	for name := range room.exported {
		m.vars[name] = room.vars[name]
	}
	return m, nil
}

func (r *run) importModule(s *syntax.Import) error {
	r.f.line = s.At()
	m, err := r.module(s.Template, s.WithContext)
	if err != nil {
		return err
	}
	var v any = m
	if s.Load != "" {
		if v, err = r.apply("filter", "load_"+s.Load, py.Args{Pos: []any{m}}); err != nil {
			return err
		}
	}
	if s.Load != "" { // Salt assigns what it makes of the import
		r.assign(s.Target, v)
		return nil
	}
	r.bind(s.Target, v)
	return nil
}

func (r *run) fromImport(s *syntax.FromImport) error {
	r.f.line = s.At()
	m, err := r.module(s.Template, s.WithContext)
	if err != nil {
		return err
	}
	for i, name := range s.Names {
		v, ok := m.vars[name]
		if !ok {
			u := r.hinted("the template " + quote(m.name) + " (imported on line " + itoa(s.At()) +
				r.inTemplate() + ") does not export the requested name " + quote(name))
			u.Name = name
			v = u
		}
		r.bind(s.Aliases[i], v)
	}
	return nil
}

// inTemplate is how messages name the template that is running, if it has a name.
func (r *run) inTemplate() string {
	if r.f.tmpl.name == "" {
		return ""
	}
	return " in " + quote(r.f.tmpl.name)
}
