package perform

import (
	"errors"
	"os"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// forCommands are arguments of a chunk that its checks run with, as far as cmd_opts_exclude lets them.
var forCommands = []string{"cwd", "root", "runas", "env", "prepend_path", "umask", "timeout", "success_retcodes"}

// check is what one of unless, onlyif and creates came to.
type check struct {
	skip      bool // the state is not called
	comment   any  // nil: none
	skipWatch bool
}

// checks asks onlyif, unless and creates. It gives the return of a chunk that they skip, and nil for one that runs.
// Source: State._run_check.
func (p *Performer) checks(c *loader.Call, chunk *payload.Map) (*payload.Map, error) {
	if p.has(chunk, "mod_run_check") {
		return nil, nil
	}
	opts := commandOptions(c, chunk)
	var all []check
	for _, ask := range []struct {
		key string
		of  func(*loader.Call, any, *payload.Map) (check, error)
	}{{"onlyif", onlyIf}, {"unless", unless}, {"creates", creates}} {
		v, given := chunk.Get(ask.key)
		if !given {
			continue
		}
		found, err := ask.of(c, v, opts)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	skip, watch, comments := false, false, []any{}
	for _, found := range all {
		skip, watch = skip || found.skip, watch || found.skipWatch
		comments = append(comments, found.comment)
	}
	if !skip {
		return nil, nil
	}
	ret := payload.M("result", true, "name", chunk.Value("name"), "changes", payload.NewMap(0), "comment", comments)
	if watch {
		ret.Set("skip_watch", true)
	}
	return ret, nil
}

// commandOptions are the keywords of cmd.retcode for checks.
func commandOptions(c *loader.Call, chunk *payload.Map) *payload.Map {
	left := chunk.List("cmd_opts_exclude")
	if one := chunk.Value("cmd_opts_exclude"); one != nil && left == nil {
		left = []any{one}
	}
	excluded := func(key string) bool {
		for _, v := range left {
			if v == any(key) {
				return true
			}
		}
		return false
	}
	opts := payload.M("ignore_retcode", true, "python_shell", true)
	for _, key := range forCommands {
		if v := chunk.Value(key); v != nil && !excluded(key) {
			opts.Set(key, v)
		}
	}
	if v, ok := chunk.Get("shell"); ok && !excluded("shell") {
		opts.Set("shell", v)
	} else if shell, ok := c.Grain("shell"); ok {
		opts.Set("shell", shell)
	}
	return opts
}

// entries are the items of a check: a list, or one that stands alone. An empty list is an error, as in Salt.
func entries(v any) ([]any, error) {
	list, isList := v.([]any)
	if !isList {
		return []any{v}, nil
	}
	if len(list) == 0 {
		return nil, loader.Raise("KeyError", "'comment'")
	}
	return list, nil
}

// retcode runs a command of a check; failed stands for one that could not be run.
func retcode(c *loader.Call, command string, opts *payload.Map, failed int64) (int64, error) {
	v, err := c.Call("cmd.retcode", []any{command}, opts)
	var refused *loader.CommandExecutionError
	if errors.As(err, &refused) {
		return failed, nil
	}
	if err != nil {
		return 0, err
	}
	return loader.ToInt(v)
}

func onlyIf(c *loader.Call, v any, opts *payload.Map) (check, error) {
	no := check{true, "onlyif condition is false", true}
	found := check{}
	list, err := entries(v)
	for _, entry := range list {
		holds := false
		switch entry := entry.(type) {
		case string:
			var code int64
			code, err = retcode(c, entry, opts, 100)
			holds = code == 0
		case *payload.Map:
			if !entry.Has("fun") {
				return check{comment: "no `fun` argument in onlyif: " + python.Str(entry)}, nil
			}
			holds, err = function(c, entry)
		default:
			return check{comment: "onlyif execution failed, bad type passed"}, nil
		}
		if err != nil {
			return found, err
		}
		if !holds {
			return no, nil
		}
		found = check{comment: "onlyif condition is true"}
	}
	return found, err
}

func unless(c *loader.Call, v any, opts *payload.Map) (check, error) {
	found := check{}
	list, err := entries(v)
	for _, entry := range list {
		holds := false
		switch entry := entry.(type) {
		case string:
			var code int64
			code, err = retcode(c, entry, opts, 0)
			holds = code == 0
		case *payload.Map:
			if !entry.Has("fun") {
				return check{comment: "no `fun` argument in unless: " + python.Str(entry)}, nil
			}
			holds, err = function(c, entry)
		default:
			found = check{comment: "unless condition is false, bad type passed"}
			continue
		}
		if err != nil {
			return found, err
		}
		if !holds {
			return check{comment: "unless condition is false"}, nil
		}
		found = check{true, "unless condition is true", true}
	}
	return found, err
}

// function calls the function of a check, {fun, args, get_return, keywords}, and tells whether its value is true. For
// one that sets a return code, that counts.
func function(c *loader.Call, entry *payload.Map) (bool, error) {
	kw := entry.Clone()
	kw.Delete("fun")
	kw.Delete("args")
	kw.Delete("get_return")
	args, err := fillSlots(c, entry.List("args"))
	if err != nil {
		return false, err
	}
	filled, err := fillSlots(c, kw)
	if err != nil {
		return false, err
	}
	positional, _ := args.([]any)
	before := c.Retcode()
	c.SetRetcode(0)
	defer c.SetRetcode(before)
	v, err := c.Call(python.Str(entry.Value("fun")), positional, filled.(*payload.Map))
	if err != nil {
		return false, err
	}
	if code := c.Retcode(); code != 0 {
		return false, nil
	}
	if path := entry.Value("get_return"); path != nil {
		v, _ = dicts.Traverse(v, python.Str(path), ":")
	}
	return python.Truth(v), nil
}

// creates looks for files. Relative names count from the directory of the process, as in Salt.
func creates(_ *loader.Call, v any, _ *payload.Map) (check, error) {
	there := func(v any) bool {
		_, err := os.Stat(python.Str(v))
		return err == nil
	}
	switch v := v.(type) {
	case string:
		if there(v) {
			return check{true, v + " exists", true}, nil
		}
	case []any:
		all := true
		for _, path := range v {
			all = all && there(path)
		}
		if all {
			return check{true, "All files in creates exist", true}, nil
		}
	}
	return check{comment: "Creates files not found"}, nil
}

// checkCommands runs the commands of check_cmd: what the result becomes, and the comment if there was one.
func checkCommands(c *loader.Call, v any) (*payload.Map, error) {
	opts := payload.M("ignore_retcode", true, "python_shell", true)
	if shell, ok := c.Grain("shell"); ok {
		opts.Set("shell", shell)
	}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	out := payload.M("result", false)
	for _, command := range list {
		v, err := c.Call("cmd.retcode", []any{command}, opts)
		if err != nil {
			return nil, err
		}
		if python.Truth(v) {
			return payload.M("result", false, "comment", "check_cmd determined the state failed"), nil
		}
		out = payload.M("result", true, "comment", "check_cmd determined the state succeeded")
	}
	return out, nil
}

// conditions looks at global_state_conditions: the return of a chunk that they keep from running, else nil. Source:
// State._match_global_state_conditions.
func (p *Performer) conditions(c *loader.Call, f *loader.Func, chunk *payload.Map) (*payload.Map, error) {
	all := c.Opts().Map("global_state_conditions")
	asked := false
	for name, v := range all.All() {
		if text := python.Str(name); text != "*" && text != f.Name && text != chunk.Str("state") {
			continue
		}
		list, isList := v.([]any)
		if text, isText := v.(string); isText {
			list, isList = []any{text}, true
		}
		for _, condition := range list {
			asked = isList
			hit, err := c.Call("match.compound", []any{condition}, nil)
			if err != nil {
				return nil, err
			}
			if python.Truth(hit) {
				return nil, nil
			}
		}
	}
	if !asked {
		return nil, nil
	}
	return payload.M("name", chunk.Value("name"), "comment",
		"Failed to meet global state conditions. State not called.", "changes", payload.NewMap(0), "result", nil), nil
}
