package high

import (
	"fmt"
	"slices"

	"brine/wire/payload"
	"brine/wire/python"
)

// Extend takes the extensions of SLS files into the IDs that they mean. Source: State.reconcile_extend.
func Extend(high *payload.Map) []string { return reconcile(high, false) }

// reconcile is Extend. strict says that an ID is meant only where it has the module.
func reconcile(high *payload.Map, strict bool) (errs []string) {
	list, _ := high.Value(ExtendKey).([]any)
	high.Delete(ExtendKey)
	excluded := excludedNames(high)
	for _, item := range list {
		m, _ := item.(*payload.Map)
		for name, v := range m.All() {
			body, ok := v.(*payload.Map)
			if !ok {
				continue // rendering told of it
			}
			if err := extend(high, name, body, strict, excluded); err != "" {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// extend takes one extension over. It returns what is wrong with it.
func extend(high *payload.Map, name any, body *payload.Map, strict bool, excluded []string) string {
	all := modules(body)
	if len(all) == 0 { // Unlike Salt: it fails with a traceback
		return fmt.Sprintf("Extension '%s' in SLS '%s' names no state module", python.Str(name), slsOf(body))
	}
	if to, ok := high.Value(name).(*payload.Map); !ok || !to.Has(all[0]) {
		ids := find(high, name, all[0], strict)
		if len(ids) != 1 {
			return cannotExtend(name, body)
		}
		name = ids[0]
	}
	to, ok := high.Value(name).(*payload.Map)
	if !ok || slices.Contains(excluded, body.Str(SLSKey)) {
		return ""
	}
	for _, module := range all {
		if !to.Has(module) {
			to.Set(module, body.Value(module))
			continue
		}
		more, ok := body.Value(module).([]any)
		if !ok { // Unlike Salt: it takes keys, or letters, for functions
			return fmt.Sprintf("State '%s' in SLS '%s' is not formed as a list", python.Str(name), slsOf(body))
		}
		if args, isList := to.Value(module).([]any); isList {
			to.Set(module, extendArgs(args, more))
		}
	}
	return ""
}

func cannotExtend(name any, body *payload.Map) string {
	id, env, sls := python.Str(name), textOr(body, EnvKey, "base"), textOr(body, SLSKey, "base")
	return fmt.Sprintf("Cannot extend ID '%s' in '%s:%s'. It is not part of the high state.\nThis is likely due to a "+
		"missing include statement or an incorrectly typed ID.\nEnsure that a state with an ID of '%s' is "+
		"available\nin environment '%s' and to SLS '%s'", id, env, sls, id, env, sls)
}

// extendArgs puts arguments over others: each takes the place of the one with the same first key, requisites grow.
func extendArgs(args, more []any) []any {
	args = slices.Clone(args)
	for _, arg := range more {
		update := false
		for i := range args {
			if extendArg(args, i, arg) {
				update = true
			}
		}
		if !update {
			args = append(args, arg)
		}
	}
	return args
}

// extendArg puts an argument over that at i, where they are the same one.
func extendArg(args []any, i int, arg any) (update bool) {
	if _, isText := arg.(string); isText {
		if _, isText = args[i].(string); isText {
			args[i] = arg
		}
		return isText
	}
	key, value, ok := first(arg)
	old, was, isMap := first(args[i])
	switch {
	case !ok || !isMap:
		return false
	case key == "name" && old == "names":
		args[i] = arg // and it is added once more, as in Salt
		return false
	case key != old:
		return false
	case !IsRequisite(key):
		args[i] = arg
		return true
	}
	refs, isList := was.([]any)
	others, alsoList := value.([]any)
	if isList && alsoList {
		args[i] = args[i].(*payload.Map).Clone().Set(key, slices.Concat(refs, others))
	}
	return true
}

// find lists the IDs that a name means for a module: the ID itself, or those with an argument of that value. Of the
// module sls they are all of an SLS. Source: find_name.
func find(high *payload.Map, name any, module string, strict bool) (ids []any) {
	if !isKey(name) {
		return nil
	}
	if body, ok := high.Get(name); ok {
		m, _ := body.(*payload.Map)
		if !strict || m.Has(module) {
			return []any{name}
		}
	}
	for id, v := range high.All() {
		body, ok := v.(*payload.Map)
		if !ok {
			continue
		}
		if module == "sls" {
			if payload.Equal(body.Value(SLSKey), name) {
				ids = append(ids, id)
			}
			continue
		}
		args, _ := body.Value(module).([]any)
		for _, arg := range args {
			if m, ok := arg.(*payload.Map); ok && m.Len() == 1 && payload.Equal(m.Value(m.Keys()[0]), name) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
