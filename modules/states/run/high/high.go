// Package high works on high data, the map of IDs that SLS files render to: the body of an ID maps a module to its
// function and arguments. The package checks it, brings extensions, excludes and the requisites of other states into
// it, and expands short forms. It renders nothing, calls nothing, and changes the map that it is given. Errors are
// texts in Salt's words; the keys that begin with two underscores are Salt's own. Answers to salt/state.py.
package high

import (
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// Keys of high data that are no IDs, and keys in the body of an ID that are no modules.
const (
	ExtendKey   = "__extend__"
	ExcludeKey  = "__exclude__"
	SLSKey      = "__sls__"
	EnvKey      = "__env__"
	IncludedKey = "__sls_included_from__"
)

// requisites are the keywords whose value is a list of references (STATE_REQUISITE_KEYWORDS).
var requisites = []string{"onfail", "onfail_any", "onfail_all", "require", "require_any", "onchanges", "onchanges_any",
	"watch", "watch_any", "prereq", "prerequired", "listen", "onfail_stop"}

// IsRequisite tells whether an argument is a list of references to other states.
func IsRequisite(name string) bool { return slices.Contains(requisites, name) }

// Own tells whether a key is one of Salt's.
func Own(key any) bool {
	name, ok := key.(string)
	return ok && strings.HasPrefix(name, "__")
}

// first is the first key of an argument, and its value.
func first(arg any) (key string, value any, ok bool) {
	m, _ := arg.(*payload.Map)
	for k, v := range m.All() {
		key, ok = k.(string)
		return key, v, ok
	}
	return "", nil, false
}

// modules are the names of modules in the body of an ID.
func modules(body any) (out []string) {
	m, _ := body.(*payload.Map)
	for key := range m.All() {
		if name, ok := key.(string); ok && !Own(key) {
			out = append(out, name)
		}
	}
	return out
}

// textOr is a value of a body as text.
func textOr(body *payload.Map, key, otherwise string) string {
	if v, ok := body.Get(key); ok {
		return python.Str(v)
	}
	return otherwise
}

// isKey tells whether a value can be the key of a map in Python.
func isKey(v any) bool {
	switch v.(type) {
	case []any, *payload.Map:
		return false
	}
	return true
}
