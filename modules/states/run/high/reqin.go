package high

import (
	"fmt"
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// inward are the keywords that say something of another state, or take something from one.
var inward = []string{"require_in", "watch_in", "onfail_in", "onchanges_in", "use", "use_in", "prereq_in"}

// notUsed are arguments that a state does not take from another one by use.
var notUsed = append([]string{"require", "watch", "prereq", "onfail", "onfail_stop", "onchanges", "name", "names"},
	inward...)

// RequisitesIn makes extensions of require_in and its like, of use and use_in, and takes them into the IDs that they
// mean. disabled are keywords that mean nothing (disabled_requisites). Source: State.requisite_in.
func RequisitesIn(high *payload.Map, disabled []string) []string {
	r := &requisitesIn{high: high, extend: payload.NewMap(0)}
	for id, v := range high.All() {
		body, ok := v.(*payload.Map)
		if !ok {
			continue
		}
		for _, module := range modules(body) {
			args, _ := body.Value(module).([]any)
			for _, arg := range args {
				key, items, ok := first(arg)
				if ok && slices.Contains(inward, key) && !slices.Contains(disabled, key) {
					(&source{r, id, module, body, key}).take(items)
				}
			}
		}
	}
	if r.extend.Len() > 0 {
		var list []any
		for name, body := range r.extend.All() {
			list = append(list, payload.NewMap(1).Set(name, body))
		}
		high.Set(ExtendKey, list)
	}
	return append(r.errs, reconcile(high, true)...)
}

// requisitesIn gathers the extensions.
type requisitesIn struct {
	high, extend *payload.Map
	errs         []string
}

// source is a state with one such keyword.
type source struct {
	*requisitesIn
	id     any
	module string
	body   *payload.Map
	key    string
}

// kind is the keyword as the other state has it.
func (s *source) kind() string {
	kind, _, _ := strings.Cut(s.key, "_")
	return kind
}

// take reads the value of the keyword: a list of references, or a map of them.
func (s *source) take(items any) {
	switch items := items.(type) {
	case *payload.Map:
		for key, name := range items.All() {
			module, fun, dotted := strings.Cut(python.Str(key), ".")
			if dotted {
				s.errs = append(s.errs, fmt.Sprintf("Invalid requisite in %s: %s.%s for %s in SLS '%s'. Requisites "+
					"must not contain dots, did you mean '%s'?", s.kind(), module, fun, python.Str(name),
					slsOf(s.body), module))
			}
			s.require(target{name, module})
		}
	case []any:
		s.takeList(items)
	}
}

// target is an ID, or a name, and a module.
type target struct {
	name   any
	module string
}

// takeList goes through references. As with Salt the targets of one are there again for the next one of the list.
func (s *source) takeList(items []any) {
	var targets []target
	for _, item := range items {
		ref, ok := item.(*payload.Map)
		if !ok {
			ref = s.byText(item)
		}
		if ref.Len() == 0 {
			continue
		}
		key := ref.Keys()[0]
		module, name := python.Str(key), ref.Value(key)
		if module == "sls" {
			targets = s.ofSLS(name)
		} else {
			targets = append(targets, target{name, module})
		}
		if mod, _, dotted := strings.Cut(module, "."); dotted {
			s.errs = append(s.errs, fmt.Sprintf("Invalid requisite in %s: %s for %s, in SLS '%s'. Requisites must not "+
				"contain dots, did you mean '%s'?", s.kind(), module, python.Str(name), slsOf(s.body), mod))
		}
		for _, t := range targets {
			switch s.key {
			case "use_in":
				s.useIn(t)
			case "use":
				s.use(t)
			default:
				s.require(t)
			}
		}
	}
}

// byText is what a reference without a module means: the first module of that ID, or the state with that name.
func (s *source) byText(item any) *payload.Map {
	if !isKey(item) {
		return nil
	}
	if body, ok := s.high.Get(item); ok {
		if all := modules(body); len(all) > 0 {
			return payload.NewMap(1).Set(all[0], item)
		}
		return nil
	}
	for id, body := range s.high.All() {
		for _, module := range modules(body) {
			args, _ := body.(*payload.Map).Value(module).([]any)
			for _, arg := range args {
				m, _ := arg.(*payload.Map)
				if name, ok := m.Get("name"); ok && payload.Equal(name, item) {
					return payload.NewMap(1).Set(module, id)
				}
			}
		}
	}
	return nil
}

// ofSLS are all states of an SLS.
func (s *source) ofSLS(name any) (out []target) {
	for id, v := range s.high.All() {
		body, ok := v.(*payload.Map)
		if !ok || !payload.Equal(body.Value(SLSKey), name) {
			continue
		}
		for _, module := range modules(body) {
			out = append(out, target{id, module})
		}
	}
	return out
}

// extension is the one of an ID, and its arguments for a module.
func (r *requisitesIn) extension(id any, module string) (body *payload.Map, args []any) {
	body, ok := r.extend.Value(id).(*payload.Map)
	if !ok {
		body = payload.NewMap(3)
		r.extend.Set(id, body)
	}
	if !body.Has(module) {
		body.Set(module, []any{})
	}
	args, _ = body.Value(module).([]any)
	return body, args
}

// require adds the requisite to a target.
func (s *source) require(t target) {
	if !isKey(t.name) { // Unlike Salt: it fails with a traceback
		s.errs = append(s.errs, fmt.Sprintf("Illegal requisite \"%s\" in SLS \"%s\", please check your syntax.\n",
			python.StrOrdered(t.name), slsOf(s.body)))
		return
	}
	body, args := s.extension(t.name, t.module)
	body.Set(EnvKey, s.body.Value(EnvKey)).Set(SLSKey, s.body.Value(SLSKey))
	ref, kind, found := payload.M(s.module, s.id), s.kind(), false
	for _, arg := range args {
		if key, refs, _ := first(arg); key == kind {
			list, _ := refs.([]any)
			arg.(*payload.Map).Set(kind, append(list, ref))
			found = true
		}
	}
	if !found {
		body.Set(t.module, append(args, payload.M(kind, []any{ref})))
	}
}

// use gives this state the arguments of a target.
func (s *source) use(t target) {
	for _, id := range find(s.high, t.name, t.module, true) {
		s.lend(s.id, s.module, s.argsOf(id, t.module))
	}
}

// useIn gives a target the arguments of this state.
func (s *source) useIn(t target) {
	for _, id := range find(s.high, t.name, t.module, true) {
		s.lend(id, t.module, s.argsOf(s.id, s.module))
	}
}

func (r *requisitesIn) argsOf(id any, module string) []any {
	body, _ := r.high.Value(id).(*payload.Map)
	args, _ := body.Value(module).([]any)
	return args
}

// lend adds arguments that a state does not have itself.
func (r *requisitesIn) lend(id any, module string, args []any) {
	var known []string
	for _, arg := range r.argsOf(id, module) {
		if key, _, ok := first(arg); ok && arg.(*payload.Map).Len() == 1 {
			known = append(known, key)
		}
	}
	body, more := r.extension(id, module)
	for _, arg := range args {
		m, ok := arg.(*payload.Map)
		if !ok || m.Len() != 1 {
			continue
		}
		if key, _, _ := first(arg); !slices.Contains(known, key) && !slices.Contains(notUsed, key) {
			more = append(more, arg)
		}
	}
	body.Set(module, more)
}
