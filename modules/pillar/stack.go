package pillar

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/renderers/jinja"
	"brine/modules/renderers/saltyaml"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// stack is the external pillar of that name (salt/pillar/stack.py): lists of YAML files, merged by strategies that
// these name.
func stack(e *extCall) (any, error) {
	files, err := stackFiles(e)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			e.log(slog.LevelInfo, "Ignoring pillar stack cfg %q: file does not exist", file)
			continue
		}
		s := &stacker{extCall: e, config: file, dir: filepath.Dir(file)}
		if out, err = s.process(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stackFiles are the lists of files: those that are given, and those for values of the pillar, the grains or the
// options.
func stackFiles(e *extCall) ([]string, error) {
	files := loader.StringList(e.rest)
	env := "base"
	for _, name := range []string{"saltenv", "pillarenv"} {
		if v := text(e.opts.Value(name)); v != "" {
			env = v
		}
	}
	if !filepath.IsLocal(env) { // it becomes a part of a path
		env = "base"
	}
	data := map[string]*payload.Map{"pillar": e.pillar, "grains": e.grains(), "opts": e.opts}
	for key, by := range e.kw.All() {
		where, path, ok := strings.Cut(python.Str(key), ":")
		choices, isMap := by.(*payload.Map)
		switch {
		case !ok:
			return nil, loader.Raise("ValueError", "not enough values to unpack (expected 2, got 1)")
		case data[where] == nil:
			return nil, loader.Raise("Exception", "Unknown traverse option \"%s\", should be one of "+
				"dict_keys(['pillar', 'grains', 'opts'])", where)
		case !isMap:
			return nil, noAttribute(by, "get")
		}
		if v, ok := choices.Get("__env__"); ok {
			choices = choices.Clone().Set(env, v)
		}
		at, _ := dicts.Traverse(data[where], path, ":")
		switch chosen := choices.Value(at).(type) {
		case []any:
			for _, file := range loader.StringList(chosen) {
				files = append(files, strings.ReplaceAll(file, "__env__", env))
			}
		case string:
			files = append(files, strings.ReplaceAll(chosen, "__env__", env))
		}
	}
	return files, nil
}

// stacker works through one list of files.
type stacker struct {
	*extCall
	config, dir string
}

// Load finds a template below the directory of the list.
func (s *stacker) Load(_ context.Context, name, _ string) (jinja.Source, error) {
	file := filepath.Join(s.dir, name)
	raw, err := os.ReadFile(file)
	if err != nil || !filepath.IsLocal(name) {
		return jinja.Source{}, jinja.ErrNotFound
	}
	return jinja.Source{Text: string(raw), Path: file, Name: name}, nil
}

// template renders a file below the directory of the list.
func (s *stacker) template(name string, out *payload.Map, more map[string]any) (string, error) {
	src, err := s.Load(s.ctx, name, "")
	if err != nil {
		return "", loader.Raise("TemplateNotFound", "%s", name)
	}
	tmpl, err := jinja.New(jinja.Options{AllowUndefined: true, Loader: s, Limits: s.opt.Limits}).Compile(src.Text)
	if err != nil {
		return "", cause(err)
	}
	find := func(fun string) (jinja.Func, bool) {
		if !s.has(fun) || s.funcs.Call == nil {
			return nil, false
		}
		return func(ctx context.Context, args []any, kw *payload.Map) (any, error) {
			return s.funcs.Call(ctx, fun, args, kw)
		}, true
	}
	vars := map[string]any{
		"__opts__": s.opts, "__grains__": s.grains(), "__salt__": jinja.Functions{Find: find, HasModule: s.has},
		"__stack__": payload.M("cfg_path", s.config), "minion_id": s.q.ID, "pillar": s.pillar,
		"pillarenv": s.opts.Value("pillarenv"), "stack": out,
	}
	for name, v := range more {
		vars[name] = v
	}
	text, err := tmpl.Render(s.ctx, vars)
	if strings.HasSuffix(src.Text, "\n") { // Salt's renderer keeps the last line end, this one does not
		text = strings.TrimSuffix(text, "\n")
	}
	return text, cause(err)
}

// cause is the error of a template without Salt's words about it, which this external pillar does not have.
func cause(err error) error {
	var je *jinja.Error
	if errors.As(err, &je) && je.Unwrap() != nil {
		return je.Unwrap()
	}
	return err
}

// process merges the files that a list names, each once for every file that a pattern finds, in order.
func (s *stacker) process(out *payload.Map) (*payload.Map, error) {
	list, err := s.template(filepath.Base(s.config), out, nil)
	if err != nil {
		return nil, err
	}
	for _, item := range stackItems(list) {
		if strings.TrimSpace(item) == "" {
			continue
		}
		files, err := filepath.Glob(filepath.Join(s.dir, item))
		if err != nil || len(files) == 0 {
			s.log(slog.LevelInfo, "Ignoring pillar stack template %q: can't find from root dir %q", item, s.dir)
			continue
		}
		slices.Sort(files)
		for _, file := range files {
			if out, err = s.one(file, out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// one merges one file.
func (s *stacker) one(file string, out *payload.Map) (*payload.Map, error) {
	name, err := filepath.Rel(s.dir, file)
	if err != nil {
		return nil, err
	}
	text, err := s.template(name, out, map[string]any{"ymlpath": file})
	if err != nil {
		return nil, loader.Raise("Exception", "Stack pillar template render error in %s:\n\"%s\"", file,
			loader.Message(err))
	}
	v, err := saltyaml.Load(text)
	if err != nil {
		return nil, loader.Raise("Exception", "Stack pillar yaml parsing error in %s:\n%s\n%s", file,
			loader.Message(err), text)
	}
	m, ok := v.(*payload.Map)
	if !ok {
		return out, nil
	}
	return stackMaps(out, m)
}

// stackItems are the lines of a list, or its entries where it is a list in YAML.
func stackItems(content string) []string {
	if v, err := yaml.Load([]byte(content)); err == nil {
		if list, ok := v.([]any); ok {
			return loader.StringList(list)
		}
	}
	return strings.Split(strings.ReplaceAll(content, "\r\n", "\n"), "\n")
}

// strategyKey is the key under which a map or the first entry of a list says how it is merged.
const strategyKey = "__"

func stackStrategy(v any) (string, error) {
	switch v {
	case any("overwrite"), any("merge-first"), any("merge-last"), any("remove"):
		return v.(string), nil
	}
	return "", loader.Raise("Exception", "Unknown strategy \"%s\", should be one of ('overwrite', 'merge-first', "+
		"'merge-last', 'remove')", python.Str(v))
}

// stackMaps puts a map over the stack.
func stackMaps(stack, obj *payload.Map) (*payload.Map, error) {
	named, ok := obj.Get(strategyKey)
	if !ok {
		named = "merge-last"
	}
	obj.Delete(strategyKey)
	strategy, err := stackStrategy(named)
	if err != nil {
		return nil, err
	}
	if strategy == "overwrite" {
		return clean(obj).(*payload.Map), nil
	}
	for k, v := range obj.All() {
		if strategy == "remove" {
			stack.Delete(k)
			continue
		}
		old, ok := stack.Get(k)
		if !ok {
			stack.Set(k, clean(v))
			continue
		}
		if strategy == "merge-first" {
			old, v = clean(v), old
		}
		merged, err := stackValues(old, v)
		if err != nil {
			return nil, err
		}
		stack.Set(k, merged)
	}
	return stack, nil
}

// stackValues puts a value over another one.
func stackValues(old, v any) (any, error) {
	switch v := v.(type) {
	case *payload.Map:
		if m, ok := old.(*payload.Map); ok {
			return stackMaps(m, v)
		}
	case []any:
		if l, ok := old.([]any); ok {
			return stackLists(l, v)
		}
	}
	return clean(v), nil
}

func stackLists(stack, obj []any) (any, error) {
	strategy := "merge-last"
	if len(obj) > 0 {
		if m, ok := obj[0].(*payload.Map); ok && m.Has(strategyKey) {
			var err error
			if strategy, err = stackStrategy(m.Value(strategyKey)); err != nil {
				return nil, err
			}
			obj = obj[1:]
		}
	}
	switch strategy {
	case "overwrite":
		return slices.Clone(obj), nil
	case "remove":
		return slices.DeleteFunc(slices.Clone(stack), func(v any) bool { return dicts.Contains(obj, v) }), nil
	case "merge-first":
		return append(slices.Clone(obj), stack...), nil
	}
	return append(slices.Clone(stack), obj...), nil
}

// clean drops the strategies that had nothing to be merged with.
func clean(v any) any {
	switch v := v.(type) {
	case *payload.Map:
		v.Delete(strategyKey)
		for _, k := range v.Keys() {
			v.Set(k, clean(v.Value(k)))
		}
	case []any:
		if len(v) > 0 {
			if m, ok := v[0].(*payload.Map); ok && m.Has(strategyKey) {
				return slices.Clone(v[1:])
			}
		}
	}
	return v
}
