package renderers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/renderers/jinja"
	"brine/wire/payload"
)

// TestSLSNames has the answers of generate_sls_context of 3008.3.
func TestSLSNames(t *testing.T) {
	for _, tt := range []struct{ template, sls, want string }{
		{":string:", "", "sls_path= slscolonpath= slsdotpath= slspath= tpldir=. tpldot= tplfile=:string: " +
			"tplpath=:string:"},
		{"/srv/salt/a.sls", "a", "sls_path= slscolonpath= slsdotpath= slspath= tpldir=. tpldot= tplfile=a.sls " +
			"tplpath=/srv/salt/a.sls"},
		{"/srv/salt/a/init.sls", "a", "sls_path=a slscolonpath=a slsdotpath=a slspath=a tpldir=a tpldot=a " +
			"tplfile=a/init.sls tplpath=/srv/salt/a/init.sls"},
		{"/srv/salt/a/b/c.sls", "a.b.c", "sls_path=a_b slscolonpath=a:b slsdotpath=a.b slspath=a/b tpldir=a/b " +
			"tpldot=a.b tplfile=a/b/c.sls tplpath=/srv/salt/a/b/c.sls"},
		{"/srv/salt/a/b/init.sls", "a.b", "sls_path=a_b slscolonpath=a:b slsdotpath=a.b slspath=a/b tpldir=a/b " +
			"tpldot=a.b tplfile=a/b/init.sls tplpath=/srv/salt/a/b/init.sls"},
		{"/srv//salt/./x.sls", "", "sls_path= slscolonpath= slsdotpath= slspath= tpldir=. tpldot= tplfile=x.sls " +
			"tplpath=/srv//salt/./x.sls"},
		{"/srv/a/f.jinja", "a/f.jinja", "tpldir=a tplfile=a/f.jinja tplpath=/srv/a/f.jinja"},
		{"/srv/f.jinja", "f.jinja", "tpldir=. tplfile=f.jinja tplpath=/srv/f.jinja"},
		{"", "a.b", "sls_path=a_b slscolonpath=a:b slsdotpath=a.b slspath=a/b"},
		{"/x/y.sls", "a.b.", "tpldir=. tplfile=a.b. tplpath=/x/y.sls"},
		{"/x/bb/c.sls", "b.c", "sls_path=b slscolonpath=b slsdotpath=b slspath=b tpldir=b tpldot=b tplfile=b/c.sls " +
			"tplpath=/x/bb/c.sls"},
	} {
		names := slsNames(tt.template, tt.sls)
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			parts = append(parts, fmt.Sprintf("%s=%s", name, names[name]))
		}
		if got := strings.Join(parts, " "); got != tt.want {
			t.Errorf("%q, %q:\n got %s\nwant %s", tt.template, tt.sls, got, tt.want)
		}
	}
}

// TestJinja: names of the call, errors of functions, both faces of an error.
func TestJinja(t *testing.T) {
	engine := Jinja{
		Opts: payload.M("jinja_env", payload.M("TRIM_BLOCKS", true), "jinja_sls_env", payload.NewMap(0),
			"allow_undefined", false),
		Grains: func() *payload.Map { return payload.M("os", "Debian") },
		Has:    func(name string) bool { return strings.HasPrefix("test.fail", name) },
		Call: func(_ context.Context, fun string, args []any, _ *payload.Map) (any, error) {
			if len(args) > 0 {
				return nil, loader.Raise("ValueError", "not %v", args[0])
			}
			return nil, loader.ExecErr("%s failed", fun)
		},
	}
	set := New(Options{Jinja: engine})
	for _, tt := range []struct{ text, sls, want string }{
		{"{{ grains.os }} {{ pillar }} {{ x }}{{ y }}", "", "str Debian {} 23"},
		{"a\r\nb {{ x }}\r\n", "", "str a\r\nb 2\r\n"},
		{"{% if true %}\na{% endif %}", "", "str a"},
		{"{% if true %}\na{% endif %}", "a.b", "str \na"},
		{"{{ salt['test.fail']() }}", "", "error SaltRenderError: Problem running salt function in Jinja template: " +
			"test.fail failed; line 1"},
		{"{{ salt.test.fail(1) }}", "", "error SaltRenderError: Jinja error: not 1"},
		{"{{ 'x' in salt }} {{ salt['test.fail'] is defined }}", "", "str False True"},
		{"{% import_yaml 'x' as y %}", "", "error SaltRenderError: Jinja error: no loader"},
	} {
		in := Input{Template: InString, Data: tt.text, SLS: tt.sls, KW: payload.M("x", 1, "y", 3),
			Context: payload.M("x", 2)}
		v, err := set.Compile(t.Context(), "jinja", in)
		if got := answer(v, err); got != tt.want && !(err != nil && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%q:\n got %s\nwant %s", tt.text, got, tt.want)
		}
		var je *jinja.Error
		if err != nil && !errors.As(err, &je) {
			t.Errorf("%q: %T is no error of the engine", tt.text, err)
		}
	}
}
