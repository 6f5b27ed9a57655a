package git

import (
	"strings"

	"brine/modules/execution/git"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// inRepository is where options are.
type inRepository struct {
	Repo any `arg:"repo=None"`
	who
	Encoding any          `arg:"output_encoding=None"`
	KW       *payload.Map `arg:"**kwargs"`
}

// options is git where the options are, and which they are; why is what is wrong with the arguments.
func (a inRepository) options(c *states.Call, kw *payload.Map) (w *git.Work, scope []string, why string) {
	global := python.Truth(kw.Value("global"))
	kw.Delete("global")
	if why := unknown(kw); why != "" {
		return nil, nil, why
	}
	if !global && !python.Truth(a.Repo) {
		return nil, nil, "Non-global config options require the 'repo' argument to be set"
	}
	scope, w = []string{"--local"}, &git.Work{Call: c.Call, User: a.User, Encoding: a.Encoding}
	if global {
		scope = []string{"--global"}
	}
	if a.Repo != nil {
		w.Cwd = git.Expand(a.Repo, a.User)
	}
	return w, scope, ""
}

func isGlobal(scope []string) bool { return scope[0] == "--global" }

type configSetArgs struct {
	Name     string `arg:"name"`
	Value    any    `arg:"value=None"`
	Multivar any    `arg:"multivar=None"`
	inRepository
}

// values are the values that are wanted, beside them as text.
func (a configSetArgs) values() (values []string, text string) {
	if a.Value != nil {
		v := python.Str(a.Value)
		return []string{v}, "'" + v + "'"
	}
	if list, ok := a.Multivar.([]any); ok {
		for _, v := range list {
			values = append(values, python.Str(v))
		}
	} else {
		values = strings.Split(python.Str(a.Multivar), ",")
	}
	return values, python.Str(payload.AnyList(values))
}

func configSet(c *states.Call, a configSetArgs) (states.Plan, error) {
	if a.Value != nil && a.Multivar != nil {
		return states.Wrong("Only one of 'value' and 'multivar' is permitted"), nil
	}
	w, scope, why := a.options(c, loader.CleanKWArgs(a.KW))
	switch {
	case why != "":
		return states.Wrong(why), nil
	case a.Value == nil && a.Multivar == nil:
		return states.Wrong("One of 'value' and 'multivar' is required"), nil
	}
	values, text := a.values()
	had, there, err := w.Quiet().ConfigGet(scope, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	old := listOrNone(had, there)
	key, keyInside := "'"+a.Name+"'", "'"+a.Name+"'"
	if isGlobal(scope) {
		key, keyInside = "Global key "+key, "global key "+key
	}
	wanted := payload.AnyList(values)
	if there && payload.Equal(old, wanted) {
		return states.Correct(key + " is already set to " + text), nil
	}
	how := "set to"
	if !there {
		how = "added as"
	}
	return states.Would(key+" would be "+how+" "+text, payload.M("old", old, "new", wanted), func() (states.Done,
		error) {
		got, there, err := w.ConfigSet(scope, a.Name, values, false)
		if err != nil {
			return states.Failed("Failed to set "+keyInside+" to "+text+": "+reason(err), nil)
		}
		now, changes := listOrNone(got, there), payload.NewMap(0)
		if !payload.Equal(old, now) {
			changes.Set(a.Name, payload.M("old", old, "new", now))
		}
		if !payload.Equal(now, wanted) {
			return states.Failed("Failed to set "+keyInside+" to "+text, changes)
		}
		return states.Changed(key+" was "+how+" "+text, changes)
	}), nil
}

// listOrNone is a list of texts, None where there is none.
func listOrNone(list []string, there bool) any {
	if !there {
		return nil
	}
	return payload.AnyList(list)
}

type configUnsetArgs struct {
	Name  string `arg:"name"`
	Value any    `arg:"value_regex=None"`
	inRepository
}

func configUnset(c *states.Call, a configUnsetArgs) (states.Plan, error) {
	kw := loader.CleanKWArgs(a.KW)
	all := python.Truth(kw.Value("all"))
	kw.Delete("all")
	w, scope, why := a.options(c, kw)
	if why != "" {
		return states.Wrong(why), nil
	}
	key := "^" + strings.TrimRight(strings.TrimLeft(a.Name, "^"), "$") + "$"
	matching, err := w.Quiet().ConfigMatching(scope, key, a.Value)
	switch {
	case err != nil:
		return states.Plan{}, err
	case matching.Len() == 0:
		return states.Correct("No matching keys are set"), nil
	}
	if several := listed(matching, 2); !all && several != "" {
		if a.Value != nil {
			return states.Wrong("Multiple values are matched by value_regex for the following keys (set 'all' to " +
				"True to " +
				"force removal): " + several), nil
		}
		return states.Wrong("Multivar(s) matched by the key expression (set 'all' to True to force removal): " +
			several), nil
	}
	u := &unset{a, w, scope, key, matching, all}
	return states.Would(sprintf("%d key(s) would have value(s) unset", matching.Len()), matching, u.apply), nil
}

// listed are keys with their values, of those that have at least so many.
func listed(keys *payload.Map, least int) string {
	var out []string
	for key, v := range keys.All() {
		if values := payload.Texts(v); len(values) >= least {
			out = append(out, python.Str(key)+" ("+strings.Join(values, ", ")+")")
		}
	}
	return strings.Join(out, "; ")
}

// unset takes values of keys away.
type unset struct {
	configUnsetArgs
	work     *git.Work
	scope    []string
	key      string
	matching *payload.Map
	all      bool
}

func (u *unset) apply() (states.Done, error) {
	before, err := u.work.Quiet().ConfigMatching(u.scope, u.key, nil)
	if err != nil {
		return states.Done{}, err
	}
	var failed []string
	for name := range u.matching.All() {
		if err := u.work.ConfigUnset(u.scope, u.Name, u.Value, u.all); err != nil {
			failed = append(failed, python.Str(name))
		}
	}
	if len(failed) > 0 {
		return states.Failed("Error(s) occurred unsetting values for the following keys (see the minion log for "+
			"details): "+
			strings.Join(failed, ", "), nil)
	}
	after, err := u.work.Quiet().ConfigMatching(u.scope, u.key, nil)
	if err != nil {
		return states.Done{}, err
	}
	changes := payload.NewMap(0)
	for name, v := range before.All() {
		if gone := lackingInOrder(payload.Texts(v), payload.Texts(after.Value(name))); len(gone) > 0 {
			changes.Set(name, payload.AnyList(gone))
		}
	}
	left, err := u.work.Quiet().ConfigMatching(u.scope, u.key, u.Value)
	switch {
	case err != nil:
		return states.Done{}, err
	case left.Len() > 0:
		return states.Failed("Failed to unset value(s): "+listed(left, 1), changes)
	}
	return states.Changed("Value(s) successfully unset", changes)
}

// lackingInOrder are the values of one list that another lacks.
func lackingInOrder(list, in []string) (out []string) {
	for _, v := range list {
		if len(lacking([]string{v}, in)) > 0 {
			out = append(out, v)
		}
	}
	return out
}
