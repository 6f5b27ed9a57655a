package jinja

import (
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/jinja/syntax"
)

// blockRef is what super() and self.name() call: one definition of a block in the line of its definitions.
type blockRef struct {
	vm    *vm
	room  *room
	name  string
	stack []blockBody
	depth int
}

// TypeName is that of Jinja's class.
func (b *blockRef) TypeName() string { return "BlockReference" }

// Qualified is the name with its module.
func (b *blockRef) Qualified() string { return "jinja2.runtime.BlockReference" }

// Attr is super of super.
func (b *blockRef) Attr(name string) (any, bool) {
	if name != "super" {
		return nil, false
	}
	return b.vm.super(b.room, b.name, b.stack, b.depth), true
}

// super is the definition behind one.
func (v *vm) super(r *room, name string, stack []blockBody, depth int) any {
	if depth+1 >= len(stack) {
		u := v.hinted("there is no parent block called " + quote(name) + ".")
		u.Name = "super"
		return u
	}
	return &blockRef{v, r, name, stack, depth + 1}
}

// Call renders the block.
func (b *blockRef) Call(_ *py.Work, a py.Args) (any, error) {
	if len(a.Pos)+len(a.Kw) > 0 {
		return nil, py.Errorf("TypeError", "BlockReference.__call__() takes 1 positional argument but %d were given",
			len(a.Pos)+1)
	}
	var out strings.Builder
	err := b.vm.renderBlock(b.room, b.name, b.stack, b.depth, nil, &out)
	if err == nil {
		err = b.vm.work.Grow(out.Len())
	}
	if b.room.autoescape {
		return py.Markup(out.String()), err
	}
	return out.String(), err
}

// selfRef is the variable self.
type selfRef struct {
	vm   *vm
	room *room
}

// TypeName is that of Jinja's class.
func (s *selfRef) TypeName() string { return "TemplateReference" }

// Qualified is the name with its module.
func (s *selfRef) Qualified() string { return "jinja2.runtime.TemplateReference" }

// Print is how it shows itself.
func (s *selfRef) Print(*py.Work, bool) (string, error) {
	name := "None"
	if s.room.tmpl.name != "" {
		name = quote(s.room.tmpl.name)
	}
	return "<TemplateReference " + name + ">", nil
}

// Item finds a block.
func (s *selfRef) Item(_ *py.Work, key any) (any, bool, error) {
	name, _ := py.Text(key)
	stack := s.room.blocks[name]
	if len(stack) == 0 {
		return nil, false, nil
	}
	return &blockRef{s.vm, s.room, name, stack, 0}, true, nil
}

// renderBlock runs one definition of a block. outer is what a scoped block sees of the place where it stands.
func (v *vm) renderBlock(r *room, name string, stack []blockBody, depth int, outer *scope, out *strings.Builder) error {
	b := stack[depth]
	f := &frame{tmpl: b.tmpl, line: b.block.At(), inBlock: true}
	if err := v.enter(f); err != nil {
		return err
	}
	x := &run{vm: v, s: &scope{room: r, outer: outer}, f: f, out: out}
	x.s.set("super", v.super(r, name, stack, depth))
	return v.leave(x.body(b.block.Body))
}

func (r *run) block(s *syntax.Block) error {
	if r.top && r.s.room.parent != nil {
		return nil
	}
	r.f.line = s.At()
	room := r.s.room
	stack := room.blocks[s.Name]
	if s.Required && len(stack) <= 1 {
		return py.Errorf("TemplateRuntimeError", "Required block %s not found", quote(s.Name))
	}
	var outer *scope
	if s.Scoped {
		outer = r.s
	}
	return r.renderBlock(room, s.Name, stack, 0, outer, r.out)
}

func (r *run) extends(s *syntax.Extends) error {
	r.f.line = s.At()
	room := r.s.room
	if room.parent != nil {
		return py.Errorf("TemplateRuntimeError", "extended multiple times")
	}
	name, err := r.eval(s.Template)
	if err != nil {
		return err
	}
	t, err := r.template(name)
	if err != nil {
		return err
	}
	room.parent = t
	for name, b := range t.tree.Blocks {
		room.blocks[name] = append(room.blocks[name], blockBody{t, b})
	}
	return nil
}
