package jinja

import (
	"context"
	"errors"
	"maps"
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/jinja/syntax"
)

// vm renders one template once.
type vm struct {
	engine  *Engine
	work    *py.Work
	vars    map[string]any // as the caller gave them
	values  map[string]any // those that were asked for, as values, and the globals
	places  map[string]any // tplfile, tpldir, tpldot of the template that was loaded last
	loaded  map[string]*Template
	frames  []*frame
	depth   int
	lenient *py.Undefined // what undefined values are like
	output  int           // bytes still allowed
}

func newVM(ctx context.Context, e *Engine, vars map[string]any) *vm {
	l := e.opt.Limits
	return &vm{
		engine: e, work: py.NewWork(ctx, l.Steps, l.Memory), vars: vars, values: map[string]any{},
		places: map[string]any{}, loaded: map[string]*Template{}, output: l.Output,
		lenient: &py.Undefined{Lenient: e.opt.AllowUndefined},
	}
}

// frame is a piece of a template that is being run: its body, a macro, a block, a recursive loop.
type frame struct {
	tmpl    *Template
	line    int
	inBlock bool // Salt's errors do not look into blocks
}

// room is what the parts of one template share: Jinja's Context.
type room struct {
	tmpl       *Template
	over       map[string]any  // what an including template gave, nil for none
	places     map[string]any  // tplfile and so on, as they were at the start
	vars       map[string]any  // set at the top level
	exported   map[string]bool // of vars: what an import of the template finds
	blocks     map[string][]blockBody
	autoescape bool
	parent     *Template // set by extends
}

// blockBody is one definition of a block.
type blockBody struct {
	tmpl  *Template
	block *syntax.Block
}

// scope is the innermost place where variables are set.
type scope struct {
	room   *room
	outer  *scope
	names  []string
	values []any
}

func (s *scope) set(name string, v any) {
	for i, n := range s.names {
		if n == name {
			s.values[i] = v
			return
		}
	}
	s.names = append(s.names, name)
	s.values = append(s.values, v)
}

// run is the state of a piece of code that is being evaluated.
type run struct {
	*vm
	s   *scope
	f   *frame
	out *strings.Builder
	top bool // assignments are exported
	// root says that what is printed is that of the template itself: one that extends another prints nothing.
	root bool
}

// inner is the same code in a scope of its own.
func (r *run) inner() *run {
	return &run{vm: r.vm, s: &scope{room: r.s.room, outer: r.s}, f: r.f, out: r.out, root: r.root}
}

// places that the loader changes.
var placeNames = []string{"tplfile", "tpldir", "tpldot"}

func (v *vm) newRoom(t *Template, over map[string]any) *room {
	r := &room{tmpl: t, over: over, vars: map[string]any{}, exported: map[string]bool{},
		blocks: map[string][]blockBody{}, places: map[string]any{}}
	for _, name := range placeNames {
		if p, ok := v.global(name); ok {
			r.places[name] = p
		}
	}
	for name, b := range t.tree.Blocks {
		r.blocks[name] = []blockBody{{t, b}}
	}
	return r
}

// global finds a variable of the caller or of Jinja.
func (v *vm) global(name string) (any, bool) {
	if p, ok := v.places[name]; ok {
		return p, true
	}
	if got, ok := v.values[name]; ok {
		return got, true
	}
	if raw, ok := v.vars[name]; ok {
		got := value(raw)
		v.values[name] = got
		return got, true
	}
	got, ok := v.engine.globals[name]
	if mk, isMaker := got.(func(v *vm) any); isMaker {
		got = mk(v)
		v.values[name] = got
	}
	return got, ok
}

// find looks a variable up in the room and what lies around it.
func (v *vm) find(r *room, name string) (any, bool) {
	if got, ok := r.vars[name]; ok {
		return got, true
	}
	if got, ok := r.over[name]; ok {
		return got, true
	}
	switch name {
	case "tplfile", "tpldir", "tpldot":
		got, ok := r.places[name]
		return got, ok
	}
	return v.global(name)
}

// lookup finds a variable.
func (r *run) lookup(name string) (any, bool) {
	for s := r.s; s != nil; s = s.outer {
		for i, n := range s.names {
			if n == name {
				return s.values[i], true
			}
		}
	}
	if name == "self" {
		return &selfRef{r.vm, r.s.room}, true
	}
	return r.find(r.s.room, name)
}

// assign sets a variable where the code stands.
func (r *run) assign(name string, v any) {
	if !r.top {
		r.s.set(name, v)
		return
	}
	room := r.s.room
	room.vars[name] = v
	if !strings.HasPrefix(name, "_") {
		room.exported[name] = true
	}
}

// bind sets a variable to what was imported. The template does not export it until it is assigned again.
func (r *run) bind(name string, v any) {
	r.assign(name, v)
	if r.top {
		delete(r.s.room.exported, name)
	}
}

func (v *vm) undefined(name string) *py.Undefined {
	return &py.Undefined{Name: name, Lenient: v.lenient.Lenient}
}

func (v *vm) hinted(hint string) *py.Undefined {
	return &py.Undefined{Hint: hint, Lenient: v.lenient.Lenient}
}

// enter begins a piece of a template.
func (v *vm) enter(f *frame) error {
	if v.depth++; v.engine.opt.Limits.Depth > 0 && v.depth > v.engine.opt.Limits.Depth {
		v.depth--
		return py.Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	v.frames = append(v.frames, f)
	return nil
}

// leave ends the piece. An error that comes out of it is given its place.
func (v *vm) leave(err error) error {
	out := err
	var t *traced
	if err != nil && !errors.As(err, &t) {
		for i := len(v.frames) - 1; i >= 0; i-- {
			if f := v.frames[i]; !f.inBlock {
				out = &traced{err, f.tmpl, f.line}
				break
			}
		}
	}
	v.frames = v.frames[:len(v.frames)-1]
	v.depth--
	return out
}

func (v *vm) renderMain(t *Template) (string, error) {
	var out strings.Builder
	err := v.renderRoot(v.newRoom(t, nil), t, &out)
	return out.String(), err
}

// renderRoot runs the body of a template, and of those it extends.
func (v *vm) renderRoot(r *room, t *Template, out *strings.Builder) error {
	f := &frame{tmpl: t, line: 1}
	if err := v.enter(f); err != nil {
		return err
	}
	x := &run{vm: v, s: &scope{room: r}, f: f, out: out, top: true, root: true}
	err := x.body(t.tree.Body)
	if _, brk := err.(*loopEnd); brk {
		err = py.Errorf("SyntaxError", "%s", err)
	}
	if parent := r.parent; err == nil && parent != nil {
		r.parent = nil
		err = v.renderRoot(r, parent, out)
	}
	return v.leave(err)
}

// all is everything a template that is included with context sees.
func (r *run) all() map[string]any {
	out := map[string]any{}
	maps.Copy(out, r.s.room.over)
	maps.Copy(out, r.s.room.vars)
	var chain []*scope
	for s := r.s; s != nil; s = s.outer {
		chain = append(chain, s)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		for j, n := range chain[i].names {
			out[n] = chain[i].values[j]
		}
	}
	return out
}

// write adds to the output.
func (r *run) write(s string) error {
	if r.engine.opt.Limits.Output > 0 {
		if r.output -= len(s); r.output < 0 {
			return &py.LimitError{Text: "the template was stopped: its output is too long"}
		}
	}
	r.out.WriteString(s)
	return nil
}
