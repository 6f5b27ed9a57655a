package high

import (
	"fmt"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// Verify tells what is wrong with high data, in Salt's words; nothing when it can be compiled.
func Verify(data any) (errs []string) {
	high, ok := data.(*payload.Map)
	if !ok {
		return []string{"High data is not a dictionary and is invalid"}
	}
	for key, v := range high.All() {
		body, isMap := v.(*payload.Map)
		id, isText := key.(string)
		switch {
		case isText && strings.HasPrefix(id, "__"):
			continue
		case !isText:
			errs = append(errs, fmt.Sprintf("ID '%s' in SLS '%s' is not formed as a string, but is type %s. It may "+
				"need to be quoted.",
				python.Str(key), slsOf(body), python.Type(key)))
		}
		if !isMap {
			errs = append(errs, fmt.Sprintf("The type %s in %s is not formatted as a dictionary", python.Str(key),
				python.StrOrdered(v)))
			continue
		}
		c := check{id: python.Str(key), sls: slsOf(body)}
		for state, args := range body.All() {
			c.state(state, args)
		}
		errs = append(errs, c.errs...)
	}
	return errs
}

func slsOf(body *payload.Map) string {
	return python.Str(body.Value("__sls__"))
}

// check goes through the body of one ID.
type check struct {
	id, sls string
	errs    []string
}

func (c *check) errorf(format string, a ...any) { c.errs = append(c.errs, fmt.Sprintf(format, a...)) }

func (c *check) state(key, v any) {
	state, isText := key.(string)
	if !isText { // Unlike Salt: it fails with a traceback
		c.errorf("The module %s in state '%s' in SLS '%s' is not formed as a string, but is type %s", python.Str(key),
			c.id, c.sls, python.Type(key))
		return
	}
	args, isList := v.([]any)
	switch {
	case strings.HasPrefix(state, "__"):
		return
	case v == nil:
		c.errorf("ID '%s' in SLS '%s' contains a short declaration (%s) with a trailing colon. When not passing any "+
			"arguments to a state, the colon must be omitted.", c.id, c.sls, state)
		return
	case !isList:
		c.errorf("State '%s' in SLS '%s' is not formed as a list", c.id, c.sls)
		return
	}
	var funs []string
	if _, fun, ok := strings.Cut(state, "."); ok {
		funs = append(funs, fun)
	}
	for _, arg := range args {
		switch arg := arg.(type) {
		case string:
			funs = append(funs, arg)
			if strings.Contains(strings.TrimSpace(arg), " ") {
				c.errorf(
					`The function "%s" in state "%s" in SLS "%s" has whitespace, a function with whitespace is not supported, perhaps this is an argument that is missing a ":"`, arg, c.id, c.sls)
			}
		case *payload.Map:
			c.argument(arg)
		}
	}
	switch {
	case len(funs) == 0:
		c.errorf("No function declared in state '%s' in SLS '%s'", c.id, c.sls)
	case len(funs) > 1:
		c.errorf("Too many functions declared in state '%s' in SLS '%s'. Please choose one of the following: %s", c.id,
			c.sls, strings.Join(funs, ", "))
	}
}

// argument looks at one map among the arguments, by its first key.
func (c *check) argument(arg *payload.Map) {
	if arg.Len() == 0 { // Unlike Salt: it fails with a traceback
		c.errorf("An argument of state '%s' in SLS '%s' is an empty dictionary", c.id, c.sls)
		return
	}
	first, _ := arg.Keys()[0].(string)
	list, isList := arg.Value(first).([]any)
	if first == "names" && !isList {
		c.errorf("The 'names' argument in state '%s' in SLS '%s' needs to be formed as a list", c.id, c.sls)
	}
	if !IsRequisite(first) {
		return
	}
	if !isList {
		c.errorf("The %s statement in state '%s' in SLS '%s' needs to be formed as a list", first, c.id, c.sls)
		return
	}
	for _, ref := range list {
		c.reference(ref)
	}
	if arg.Len() != 1 {
		c.errorf("Multiple dictionaries defined in argument of state '%s' in SLS '%s'", c.id, c.sls)
	}
}

// reference looks at one reference of a requisite: a text, which is an ID, or a map of one key.
func (c *check) reference(ref any) {
	if text, ok := ref.(string); ok {
		ref = payload.M("id", text)
	}
	m, ok := ref.(*payload.Map)
	if !ok || m.Len() != 1 {
		c.errorf("Requisite declaration %s in state %s in SLS %s is not formed as a single key dictionary",
			python.StrOrdered(ref), c.id, c.sls)
		return
	}
	key := python.Str(m.Keys()[0])
	if name, _, dotted := strings.Cut(key, "."); dotted {
		c.errorf("Invalid requisite type '%s' in state '%s', in SLS '%s'. Requisite types must not contain dots, "+
			"did you mean '%s'?", key, c.id, c.sls, name)
	}
	switch v := m.Value(m.Keys()[0]).(type) {
	case []any, *payload.Map:
		c.errorf("Illegal requisite \"%s\" in SLS \"%s\", please check your syntax.\n", python.StrOrdered(v), c.sls)
	}
}
