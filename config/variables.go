package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"brine/config/yaml"
	"brine/wire/payload"
)

// Options may stand in the environment: BRINE_MASTER__LOG_LEVEL=debug, BRINE_MINION__ID=web1. A double underscore goes
// one level down, BRINE_MINION__GRAINS__ROLE=web. A value is YAML, as in a file. A name in capitals means the one in
// small letters; any other is taken as it is written. An empty variable counts as not set.
const (
	masterVariables = "BRINE_MASTER__"
	minionVariables = "BRINE_MINION__"
	levelMark       = "__"
)

// IsVariable tells whether an environment variable is an option of a master or a minion. Such variables may hold
// secrets: they are no business of the programs that a minion runs for others, or of events.
func IsVariable(name string) bool {
	return strings.HasPrefix(name, masterVariables) || strings.HasPrefix(name, minionVariables)
}

// environment reads the options of this role from the environment; sorted by name, so that a whole option comes before
// its parts.
func (ld *loading) environment() (*source, error) {
	prefix := masterVariables
	if ld.role == roleMinion {
		prefix = minionVariables
	}
	environ := os.Environ
	if ld.Environ != nil {
		environ = ld.Environ
	}
	pairs := slices.DeleteFunc(environ(), func(p string) bool { return !strings.HasPrefix(p, prefix) })
	slices.Sort(pairs)
	out := newSource()
	for _, p := range pairs {
		name, text, _ := strings.Cut(p, "=")
		path := ld.optionPath(strings.TrimPrefix(name, prefix))
		if text == "" || slices.Contains(path, "") {
			continue
		}
		value, err := variableValue(path, text)
		if err != nil {
			err = fmt.Errorf("variable %s: %w", name, err)
			if err = ld.fault(&Error{Key: path[0], Code: ExitGeneric, Err: err}); err != nil {
				return nil, err
			}
			continue
		}
		for i := len(path) - 1; i > 0; i-- {
			value = payload.M(path[i], value)
		}
		out.merge(&source{payload.M(path[0], value), map[string]Origin{path[0]: {Layer: LayerEnvironment,
			Variable: name}}})
	}
	return out, nil
}

// optionPath takes the name of a variable apart. KEYS__CACHE_DRIVER means the option keys.cache_driver, which is not
// nested.
func (ld *loading) optionPath(name string) []string {
	path := strings.Split(name, levelMark)
	for i, p := range path {
		if p == strings.ToUpper(p) {
			path[i] = strings.ToLower(p)
		}
	}
	if dotted := strings.Join(path, "."); len(path) > 1 && ld.standard.Has(dotted) {
		return []string{dotted}
	}
	return path
}

// variableValue reads the value of a variable. An id is text, whatever it looks like: 042 stays 042.
func variableValue(path []string, text string) (any, error) {
	v, err := yaml.Load([]byte(text))
	if err != nil {
		return nil, err
	}
	if _, isText := v.(string); !isText && len(path) == 1 && path[0] == "id" {
		return strings.TrimSpace(text), nil
	}
	return v, nil
}
