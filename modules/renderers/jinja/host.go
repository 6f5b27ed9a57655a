package jinja

import (
	"context"
	"fmt"
	"strings"

	"brine/modules/renderers/jinja/py"
)

// Host is the machine that a template may look at by Salt's filters for files, users and names.
type Host interface {
	// Ask answers the filter of this name. The arguments are values of the package py, as many as Salt's filter has,
	// with its defaults; so is the answer.
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
		"http_query":   filter("query", queryParams, httpQuery, make([]any, strings.Count(queryParams, "="))...),
	}
}

// queryParams are the parameters of http_query (salt/utils/http.py, query). What is not given is None here, and stands
// for the default.
const queryParams = "url method= params= data= data_file= header_dict= header_list= header_file= username= " +
	"password= auth= decode= " +
	"decode_type= status= headers= text= cookies= cookie_jar= cookie_format= persist_session= session_cookie_jar= " +
	"data_render= " +
	"data_renderer= header_render= header_renderer= template_dict= test= test_url= node= port= opts= backend= " +
	"ca_bundle= verify_ssl= " +
	"cert= text_out= headers_out= decode_out= stream= streaming_callback= header_callback= handle= agent= " +
	"hide_fields= raise_error= " +
	"formdata= formdata_fieldname= formdata_filename= decode_body= **kwargs"

// httpQuery gives the Host a URL and a dictionary of what was given. The last argument of Salt's is for others, and not
// looked at.
func httpQuery(r *run, a []any) (any, error) {
	given := py.NewDict()
	for i, name := range strings.Fields(queryParams) {
		if name = strings.TrimSuffix(name, "="); i > 0 && i < len(a)-1 && a[i] != nil {
			given.SetStr(name, a[i])
		}
	}
	return r.ask("http_query", []any{a[0], given})
}

// ask has a filter answered by the Host, and pays for the answer.
func (r *run) ask(name string, a []any) (any, error) {
	if r.engine.opt.Host == nil {
		return nil, py.Errorf("NotImplementedError", "the filter %s is not there: this template does not reach "+
			"files, users and networks", quote(name))
	}
	const cost = 500 // of a look at the machine, in steps
	if err := r.work.Step(cost); err != nil {
		return nil, err
	}
	v, err := r.engine.opt.Host.Ask(r.work.Context(), name, a)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *py.Dict: // the answer of a server stands in it as text, and perhaps once more as data
		if body, ok := v.GetStr("body"); ok {
			if err := r.work.Grow(8 * len(fmt.Sprint(body))); err != nil {
				return nil, err
			}
		}
	case *py.List:
		for _, item := range v.Items {
			if err := r.work.Grow(16 + len(fmt.Sprint(item))); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
