package git

import (
	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// configFuncs are the functions about options of git.
func configFuncs() []loader.Func {
	regexp := func(name string) loader.Func {
		return loader.Fn(name, configGetRegexp, "Give the options whose keys match an expression.",
			"git."+name+" 'foo.bar\\..*' cwd=/path/to/repo")
	}
	return []loader.Func{
		loader.Fn("config_get", configGet, "Give the value of an option.",
			"git.config_get user.name cwd=/path/to/repo"),
		regexp("config_get_regexp"), regexp("config_get_regex"),
		loader.Fn("config_set", configSet, "Set an option.",
			"git.config_set user.email me@example.com cwd=/path/to/repo"),
		loader.Fn("config_unset", configUnset, "Take an option away.", "git.config_unset foo.bar cwd=/path/to/repo"),
	}
}

type configTail struct {
	Cwd any `arg:"cwd=None"`
	account
	tail
	KW *payload.Map `arg:"**kwargs"`
}

// work is where the options are, and which they are: ["--local"] or ["--global"].
func (a configTail) work(c *loader.Call, kw *payload.Map) (w *Work, scope []string, err error) {
	scope = []string{"--local"}
	global := python.Truth(take(kw, "global"))
	if global {
		scope = []string{"--global"}
	}
	if err := noMore(kw); err != nil {
		return nil, nil, err
	}
	w = &Work{Call: c, User: a.User, Ignore: a.Ignore, Encoding: a.Encoding}
	switch {
	case a.Cwd != nil:
		w.Cwd = Expand(a.Cwd, a.User)
	case !global:
		return nil, nil, loader.InvocErr("'cwd' argument required unless global=True")
	}
	return w, scope, nil
}

func configGet(c *loader.Call, a struct {
	Key string `arg:"key"`
	configTail
}) (any, error) {
	kw := loader.CleanKWArgs(a.KW)
	all := python.Truth(take(kw, "all"))
	w, scope, err := a.work(c, kw)
	if err != nil {
		return nil, err
	}
	values, there, err := w.ConfigGet(scope, a.Key)
	switch {
	case err != nil || !there:
		return nil, err
	case all:
		return payload.AnyList(values), nil
	case len(values) == 0:
		return "", nil
	}
	return values[len(values)-1], nil
}

// ConfigGet are the values of an option; there is false where it has none.
func (w *Work) ConfigGet(scope []string, key string) (values []string, there bool, err error) {
	if err := cmdmod.Operand(key); err != nil {
		return nil, false, err
	}
	out, err := w.Try(append(append([]string{"config"}, scope...), "--get-all", key)...)
	return out.Lines(), out.Code != 1, err
}

func configGetRegexp(c *loader.Call, a struct {
	Key   string `arg:"key"`
	Value any    `arg:"value_regex=None"`
	configTail
}) (*payload.Map, error) {
	w, scope, err := a.work(c, loader.CleanKWArgs(a.KW))
	if err != nil {
		return nil, err
	}
	return w.ConfigMatching(scope, a.Key, a.Value)
}

// ConfigMatching are the options whose keys match an expression, and whose values match another one unless that is nil.
func (w *Work) ConfigMatching(scope []string, key string, value any) (*payload.Map, error) {
	line := append(append([]string{"config"}, scope...), "--get-regexp")
	names := []string{key}
	if value != nil {
		names = append(names, python.Str(value))
	}
	line, err := operands(line, names...)
	if err != nil {
		return nil, err
	}
	out, err := w.Try(line...)
	found := payload.NewMap(0)
	if err != nil || out.Code == 1 {
		return found, err
	}
	for _, row := range out.Lines() {
		if name, v, ok := cutFields(row); ok {
			found.Set(name, append(found.List(name), v))
		}
	}
	return found, nil
}

func configSet(c *loader.Call, a struct {
	Key      string `arg:"key"`
	Value    any    `arg:"value=None"`
	Multivar any    `arg:"multivar=None"`
	configTail
}) (any, error) {
	kw := loader.CleanKWArgs(a.KW)
	add := python.Truth(take(kw, "add"))
	w, scope, err := a.work(c, kw)
	if err != nil {
		return nil, err
	}
	if a.Value != nil && a.Multivar != nil {
		return nil, loader.InvocErr("Only one of 'value' and 'multivar' is permitted")
	}
	values := split(a.Multivar)
	if a.Value != nil {
		values = []string{python.Str(a.Value)}
	} else if a.Multivar == nil {
		return nil, loader.InvocErr("One of 'value' and 'multivar' is required")
	}
	values, there, err := w.ConfigSet(scope, a.Key, values, add)
	if err != nil || !there {
		return nil, err
	}
	return payload.AnyList(values), nil
}

// ConfigSet sets an option to values, or adds one, and gives what it is then.
func (w *Work) ConfigSet(scope []string, key string, values []string, add bool) ([]string, bool, error) {
	if err := cmdmod.Operand(key); err != nil {
		return nil, false, err
	}
	where := scope
	if len(where) > 0 && where[0] == "--local" {
		where = nil // as Salt, whose git chooses
	}
	for i, v := range values {
		how := "--replace-all"
		if add || i > 0 {
			how = "--add"
		}
		line := append(append([]string{"config"}, where...), how, key, v)
		if _, err := w.Out(line...); err != nil {
			return nil, false, err
		}
	}
	return w.ConfigGet(scope, key)
}

func configUnset(c *loader.Call, a struct {
	Key   string `arg:"key"`
	Value any    `arg:"value_regex=None"`
	configTail
}) (bool, error) {
	kw := loader.CleanKWArgs(a.KW)
	all := python.Truth(take(kw, "all"))
	w, scope, err := a.work(c, kw)
	if err != nil {
		return false, err
	}
	err = w.ConfigUnset(scope, a.Key, a.Value, all)
	return err == nil, err
}

// ConfigUnset takes an option away, or all its values.
func (w *Work) ConfigUnset(scope []string, key string, value any, all bool) error {
	line := []string{"config", "--unset"}
	if all {
		line[1] = "--unset-all"
	}
	names := []string{key}
	if value != nil {
		names = append(names, python.Str(value))
	}
	line, err := operands(append(line, scope...), names...)
	if err != nil {
		return err
	}
	out, err := w.Try(line...)
	if err != nil {
		return err
	}
	switch out.Code {
	case 0:
		return nil
	case 1:
		return loader.ExecErr("Section or key is invalid")
	case 5:
		return w.whyNotUnset(scope, key, value)
	case 6:
		return loader.ExecErr("The value_regex is invalid")
	}
	text := "Failed to unset key '" + key + "', git config returned exit code " + python.Str(out.Code)
	if out.Stderr != "" {
		text += "; " + out.Stderr
	}
	return loader.ExecErr("%s", text)
}

// whyNotUnset tells why an option stays: it is not there, or has more than one value.
func (w *Work) whyNotUnset(scope []string, key string, value any) error {
	switch _, there, err := w.ConfigGet(scope, key); {
	case err != nil:
		return err
	case !there:
		return loader.ExecErr("Key '%s' does not exist", key)
	}
	text := "Multiple values exist for key '" + key + "'"
	if value != nil {
		text += " and value_regex matches multiple values"
	}
	return loader.ExecErr("%s", text)
}
