package sls

import (
	"fmt"
	"slices"
	"strings"

	"brine/modules/states/run/high"
	"brine/wire/payload"
	"brine/wire/python"
)

// oneSLS is one SLS that was rendered.
type oneSLS struct {
	*Compiler
	sls, env string
	init     bool // the file is an init.sls
	state    *payload.Map
	wanted   *payload.Map
	errs     []string
}

func (s *oneSLS) errorf(format string, a ...any) { s.errs = append(s.errs, fmt.Sprintf(format, a...)) }

// includes takes the list of includes out. One that is no list stays, and is no state.
func (s *oneSLS) includes() []any {
	v, ok := s.state.Get("include")
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		s.errorf("Include Declaration in SLS %s is not formed as a list", s.sls)
		return nil
	}
	s.state.Delete("include")
	return list
}

// extend takes the extensions out, in the full form.
func (s *oneSLS) extend() {
	v, ok := s.state.Get("extend")
	if !ok {
		return
	}
	s.state.Delete("extend")
	ext, ok := v.(*payload.Map)
	if !ok {
		s.errorf("Extension value in SLS '%s' is not a dictionary", s.sls)
		return
	}
	for name, v := range ext.All() {
		body, ok := v.(*payload.Map)
		if !ok {
			s.errorf("Extension name '%s' in SLS '%s' is not a dictionary", python.Str(name), s.sls)
			continue
		}
		s.sign(body)
		for _, key := range body.Keys() {
			if text, ok := key.(string); ok && !strings.HasPrefix(text, "_") {
				expand(body, text)
			}
		}
	}
	list, _ := s.state.Value(high.ExtendKey).([]any)
	s.state.Set(high.ExtendKey, append(list, ext))
}

// sign says in a body which SLS it is of.
func (s *oneSLS) sign(body *payload.Map) {
	if !body.Has(high.SLSKey) {
		body.Set(high.SLSKey, s.sls)
	}
	if !body.Has(high.EnvKey) {
		body.Set(high.EnvKey, s.env)
	}
}

// expand makes of "mod.fun: [args]" the module with the function among its arguments. What stood under the module is
// gone.
func expand(body *payload.Map, key string) {
	args, isList := body.Value(key).([]any)
	module, fun, dotted := shortForm(key)
	if isList && dotted {
		body.Delete(key)
		body.Set(module, append(slices.Clone(args), fun))
	}
}

// shortForm takes "mod.fun" apart. As in Salt, what stands behind a second dot is lost.
func shortForm(text string) (module, fun string, ok bool) {
	module, rest, ok := strings.Cut(text, ".")
	fun, _, _ = strings.Cut(rest, ".")
	return module, fun, ok
}

// exclude takes the list of excludes out.
func (s *oneSLS) exclude() {
	v, ok := s.state.Get("exclude")
	if !ok {
		return
	}
	s.state.Delete("exclude")
	list, ok := v.([]any)
	if !ok {
		s.errorf("Exclude Declaration in SLS %s is not formed as a list", s.sls)
	}
	old, _ := s.state.Value(high.ExcludeKey).([]any)
	s.state.Set(high.ExcludeKey, append(old, list...))
}

// declare brings short forms into the full one and notes in each ID where it is from.
func (s *oneSLS) declare() {
	for _, id := range s.state.Keys() {
		switch body := s.state.Value(id).(type) {
		case *payload.Map:
			s.declareBody(id, body)
			s.sign(body)
			continue
		case string:
			if module, fun, ok := shortForm(body); ok {
				s.state.Set(id, payload.M(high.SLSKey, s.sls, high.EnvKey, s.env, module, []any{fun}))
				continue
			}
		}
		if id != any(high.ExtendKey) && id != any(high.ExcludeKey) {
			s.errorf("ID %s in SLS %s is not a dictionary", python.Str(id), s.sls)
		}
	}
}

func (s *oneSLS) declareBody(id any, body *payload.Map) {
	seen := map[string]bool{}
	for _, k := range body.Keys() {
		key, isText := k.(string)
		if _, isList := body.Value(k).([]any); !isText || !isList || strings.HasPrefix(key, "_") {
			continue
		}
		module, _, dotted := shortForm(key)
		if dotted && seen[module] {
			s.errorf("ID '%s' in SLS '%s' contains multiple state declarations of the same type", python.Str(id), s.sls)
			continue
		}
		expand(body, key)
		seen[module] = true
	}
}

// autoOrder gives an order to the states that have none.
func (c *Compiler) autoOrder(state *payload.Map) {
	if !c.auto {
		return
	}
	for _, v := range state.All() {
		body, _ := v.(*payload.Map)
		for _, k := range body.Keys() {
			key, isText := k.(string)
			args, isList := body.Value(k).([]any)
			if !isText || !isList || strings.HasPrefix(key, "_") || hasOrder(args) {
				continue
			}
			body.Set(key, append(slices.Clone(args), payload.M("order", c.order)))
			c.order++
		}
	}
}

func hasOrder(args []any) bool {
	return slices.ContainsFunc(args, func(arg any) bool {
		m, _ := arg.(*payload.Map)
		return m.Len() > 0 && m.Keys()[0] == any("order")
	})
}
