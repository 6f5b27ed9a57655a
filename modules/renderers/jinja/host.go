package jinja

import (
	"context"
	"fmt"

	"brine/modules/renderers/jinja/py"
)

// Host is the machine that a template may look at by Salt's filters for files, users and names.
type Host interface {
	// Ask answers the filter of this name. The arguments are values of the package py, as many as Salt's filter has, with its
	// defaults; so is the answer.
	Ask(ctx context.Context, filter string, args []any) (any, error)
}

// hostFilters are those that a Host answers; without one they refuse by name.
func hostFilters() map[string]*builtin {
	ask := func(name, function, params string, defaults ...any) *builtin {
		return filter(function, params, func(r *run, a []any) (any, error) { return r.ask(name, a) }, defaults...)
	}
	return map[string]*builtin{
		"which":        ask("which", "which", "exe=", nil),
		"file_hashsum": ask("file_hashsum", "get_hash", "path form= chunk_size=", "sha256", int64(65536)),
		"is_empty":     ask("is_empty", "is_empty", "filename"),
		"is_text_file": ask("is_text_file", "is_text", "fp_ blocksize=", int64(512)),
		"is_bin_file":  ask("is_bin_file", "is_binary", "path"),
		"list_files":   ask("list_files", "list_files", "directory"),
		"get_uid":      ask("get_uid", "get_uid", "user=", nil),
		"dns_check":    ask("dns_check", "dns_check", "addr port safe= ipv6=", false, nil),
		"http_query": filter("http_query", "*args **kwargs", func(*run, []any) (any, error) {
			return nil, py.Errorf("NotImplementedError", "the filter 'http_query' is not there yet")
		}),
	}
}

// ask has a filter answered by the Host, and pays for the answer.
func (r *run) ask(name string, a []any) (any, error) {
	if r.engine.opt.Host == nil {
		return nil, py.Errorf("NotImplementedError", "the filter %s is not there: this template does not reach files, users and networks", quote(name))
	}
	const cost = 500 // of a look at the machine, in steps
	if err := r.work.Step(cost); err != nil {
		return nil, err
	}
	v, err := r.engine.opt.Host.Ask(r.work.Context(), name, a)
	if err != nil {
		return nil, err
	}
	if list, ok := v.(*py.List); ok {
		for _, item := range list.Items {
			if err := r.work.Grow(16 + len(fmt.Sprint(item))); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
