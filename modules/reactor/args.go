package reactor

import (
	"fmt"
	"strings"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// internal are the keys of low data that are no arguments (REACTOR_INTERNAL_KEYWORDS).
var internal = map[any]bool{"__id__": true, "__sls__": true, "name": true, "order": true, "fun": true, "key": true,
	"state": true}

// formatCall gathers the arguments of a function from low data: those without a default by position, the others by
// name, each with its default where it is not given. Source: salt/utils/args.py, format_call.
func formatCall(f *loader.Func, low *payload.Map) (args []any, kw *payload.Map, err error) {
	left := low.Clone()
	kw, args = payload.NewMap(0), []any{}
	var missing int
	for _, p := range f.Params {
		v, given := left.Get(p.Name)
		left.Delete(p.Name)
		switch {
		case p.Required && given:
			args = append(args, v)
		case p.Required:
			missing++
		case given:
			kw.Set(p.Name, v)
		default:
			kw.Set(p.Name, p.Default)
		}
	}
	if missing > 0 {
		n, s := len(args)+missing, "s"
		if n == 1 {
			s = ""
		}
		return nil, nil, loader.InvocErr("%s takes at least %d argument%s (%d given)", f.Name, n, s, len(args))
	}
	extra := payload.NewMap(0)
	for k, v := range left.All() {
		if !internal[k] {
			extra.Set(k, v)
		}
	}
	if f.KWArgs {
		kw.Update(extra)
		return args, kw, nil
	}
	return args, kw, unexpected(f, extra)
}

// unexpected refuses arguments that a function does not have.
func unexpected(f *loader.Func, extra *payload.Map) error {
	var names []string
	for k := range extra.All() {
		names = append(names, "'"+python.Str(k)+"'")
	}
	switch last := len(names) - 1; last {
	case -1:
		return nil
	case 0:
		return loader.InvocErr("%s is an invalid keyword argument for '%s'", names[0], f.Name)
	default:
		return loader.InvocErr("%s and %s are invalid keyword arguments for '%s'", strings.Join(names[:last], ", "),
			names[last], f.Name)
	}
}

// dictlist tells whether all of a list are maps of one key.
func dictlist(list []any) bool {
	for _, v := range list {
		if m, ok := v.(*payload.Map); !ok || m.Len() != 1 {
			return false
		}
	}
	return true
}

// repack makes one map of a list of maps with one key. A text or a number among them is a key without a value; a text
// in place of the list is YAML. why is what is logged of one that cannot be packed. Source: salt/utils/data.py,
// repack_dictlist.
func repack(v any) (m *payload.Map, why string) {
	if text, ok := v.(string); ok {
		loaded, err := yaml.Load([]byte(text))
		if err != nil {
			return nil, err.Error()
		}
		v = loaded
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Sprintf("Invalid input for repack_dictlist, data passed is not a list (%s)", python.Str(v))
	}
	m = payload.NewMap(len(list))
	for _, item := range list {
		switch item := item.(type) {
		case *payload.Map:
			if item.Len() != 1 {
				return nil, fmt.Sprintf("Invalid input for repack_dictlist: key/value pairs must contain only one "+
					"element (data passed: %s).", python.Str(item))
			}
			m.Update(item)
		case string, int64, int, float64, bool:
			if other := twin(item); m.Has(other) {
				item = other
			}
			m.Set(item, nil)
		default:
			return nil, fmt.Sprintf("Invalid input for repack_dictlist: element %s is not a string/dict/numeric value",
				python.Str(item))
		}
	}
	return m, ""
}

// twin is the other key that Python takes for the same one: 1 and True are, 0 and False.
func twin(key any) any {
	switch key {
	case true:
		return int64(1)
	case false:
		return int64(0)
	case int64(1):
		return true
	case int64(0):
		return false
	}
	return key
}
