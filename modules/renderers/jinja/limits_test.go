package jinja

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// small are limits that a test reaches at once.
var small = Limits{Steps: 50_000, Memory: 8 << 20, Output: 1 << 20, Depth: 50}

// TestLimits: what would go on for ever, or eat the memory, is ended and says by what.
func TestLimits(t *testing.T) {
	const steps, memory, output, depth = "more than 50000 steps", "more than 8388608 bytes", "output is too long",
		"maximum recursion depth"
	for _, tt := range []struct{ name, template, want string }{
		{"loops in loops", `{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}`, steps},
		{"list that grows while it is read", `{% set l = [1] %}{% for i in l %}{% do l.append(i) %}{% endfor %}`,
			steps},
		{"combinations", `{{ range(40)|combinations(20)|list|length }}`, memory},
		{"power", `{{ 10 ** 100000000 }}`, "a number is too large"},
		{"powers", `{{ (10 ** 100000) * (10 ** 1000000) }}`, "a number is too large"},
		{"text times number", `{{ 'x' * 10 ** 10 }}`, memory},
		{"list times number", `{{ [0] * 10 ** 9 }}`, memory},
		{"text that doubles",
			`{% set ns = namespace(x='xxxxxxxx') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}`,
			memory},
		{"list that doubles",
			`{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}`, memory},
		{"width", `{{ '%999999999d' % 1 }}`, memory},
		{"width of format", `{{ '{:999999999}'.format(1) }}`, memory},
		{"center", `{{ 'x'|center(999999999) }}`, memory},
		{"ljust", `{{ 'x'.ljust(999999999) }}`, memory},
		{"indent", `{{ ('a\n' * 10000)|indent(10000) }}`, memory},
		{"replace", `{{ ('a' * 100000).replace('a', 'b' * 10000) }}`, memory},
		{"replace by pattern", `{{ ('a' * 10000)|regex_replace('a', 'b' * 10000) }}`, steps},
		{"zfill", `{{ '1'.zfill(999999999) }}`, memory},
		{"join", `{{ range(1000)|join('x' * 100000) }}`, memory},
		{"nested lists",
			`{% set ns = namespace(x=[1, 2]) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}`, memory},
		{"equal nested lists",
			`{% set a = namespace(x=[1]) %}{% set b = namespace(x=[1]) %}{% for i in range(40) %}{% set a.x = [a.x, a.x] %}{% set b.x = [b.x, b.x] %}{% endfor %}{{ a.x == b.x }}`, steps},
		{"nested json",
			`{% set ns = namespace(x=[1, 2]) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|json }}`, memory},
		{"paragraphs", `{{ lipsum(10 ** 9) }}`, memory},
		{"empty paragraphs", `{{ lipsum(10 ** 9, true, 0, 1) }}`, memory},
		{"long paragraph", `{{ lipsum(1, false, 10 ** 9, 10 ** 10) }}`, memory},
		{"nested xml",
			`{% set ns = namespace(x={'a': 1}) %}{% for i in range(40) %}{% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}{{ {'r': ns.x}|xml }}`, memory},
		{"wide xml",
			`{% set ns = namespace(x=[1, 2]) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ {'r': ns.x}|xml }}`, memory},
		{"answers that double", `{{ [1]|json_query('` + strings.Repeat("[@, @][]|", 40) + `@') }}`, steps},
		{"queries in each other", `{{ 1|json_query('` + strings.Repeat("(", 5000) + `a') }}`, depth},
		{"pipes", `{{ 1|json_query('` + strings.Repeat("@|", 5000) + `@') }}`, depth},
		{"not in queries", `{{ 1|json_query('` + strings.Repeat("!", 5000) + `a') }}`, depth},
		{"long query", `{{ 1|json_query('a' * 200000) }}`, memory},
		{"queries of queries",
			`{{ range(400)|list|json_query('map(&sort_by($, &@), [$, $])'|replace('$', '[*].[@, @][]')) }}{{ range(400)|list|json_query('[?$[?$[?@ == ` + "`x`" + `]]]'|replace('$', '[[@,@],[@,@]][]')) }}{% for i in range(500) %}{{ range(400)|list|json_query('[?@ == ` + "`x`" + `]') }}{% endfor %}`, steps},
		{"output", `{% for i in range(2000) %}{{ 'x' * 1000 }}{% endfor %}`, output},
		{"data", `{% for i in range(20000) %}` + strings.Repeat("y", 200) + `{% endfor %}`, output},
		{"macro", `{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}`, depth},
		{"caller", `{% macro m() %}{{ caller() }}{% call m() %}{% endcall %}{% endmacro %}{% call m() %}{% endcall %}`,
			depth},
		{"block", `{% block a %}{{ self.a() }}{% endblock %}`, depth},
		{"include", `{% include 'loop.j2' %}`, depth},
		{"recursive loop", `{% set l = [] %}{% do l.append(l) %}{% for i in l recursive %}{{ loop(i) }}{% endfor %}`,
			depth},
		{"parentheses", `{{ ` + strings.Repeat("(", 5000) + `1` + strings.Repeat(")", 5000) + ` }}`,
			"nested too deeply"},
		{"not", `{{ ` + strings.Repeat("not ", 5000) + `1 }}`, "nested too deeply"},
		{"ifs", strings.Repeat("{% if 1 %}", 5000) + strings.Repeat("{% endif %}", 5000), "nested too deeply"},
		{"attributes", `{{ x` + strings.Repeat(".a", 50000) + ` }}`, "nested too deeply"},
		{"sums", `{{ 1` + strings.Repeat(" + 1", 50000) + ` }}`, "nested too deeply"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := New(Options{Limits: small, Loader: loops{}})
			tmpl, err := e.Compile(tt.template)
			out := ""
			if err == nil {
				out, err = tmpl.Render(t.Context(), map[string]any{"x": "x"})
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %.100q, error %.300v, want %q", out, err, tt.want)
			}
		})
	}
}

// loops is a template that includes itself.
type loops struct{}

func (loops) Load(context.Context, string, string) (Source, error) {
	return Source{Text: `{% include 'loop.j2' %}`, Path: "loop.j2", Name: "loop.j2"}, nil
}

// TestValuesInThemselves: a value that holds itself is printed, compared and copied without end only up to a depth.
func TestValuesInThemselves(t *testing.T) {
	const own = `{% set l = [] %}{% do l.append(l) %}{% set d = {} %}{% do d.update({'d': d}) %}`
	e := New(Options{Limits: small})
	for _, use := range []string{
		`{{ l }}`, `{{ d }}`, `{{ l == [[[l]]] }}`, `{{ l|json }}`, `{{ l|tojson }}`, `{{ l|flatten }}`,
		`{{ d|pprint }}`, `{{ l|json_query('[][][]') }}`, `{{ d|json_query('to_string(@)') }}`,
		`{{ d|json_query('d == d') }}`, `{{ {'a': d}|xml }}`, `{{ {'a': l}|xml }}`, `{{ l < l }}`, `{{ f(l) }}`,
		`{{ l|string }}`, `{{ '%s' % [l] }}`, `{{ l|json_encode_list }}`, `{{ [l, l]|unique }}`, `{{ l in l }}`,
		`{{ (l,) in d }}`,
	} {
		tmpl, err := e.Compile(own + use)
		if err != nil {
			t.Fatal(err)
		}
		echo := Func(testFunctions["test.echo"])
		if _, err = tmpl.Render(t.Context(), map[string]any{"f": echo}); err != nil {
			var je *Error
			if !errors.As(err, &je) {
				t.Errorf("%s: %v", use, err)
			}
		}
	}
}

// TestCancel: a context that ends stops the rendering, with its cause.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	e := New(Options{Limits: Limits{Steps: -1, Memory: -1, Output: -1}})
	tmpl, err := e.Compile(
		`{% for a in range(99999) %}{{ stop() if a == 3 }}{% for b in range(99999) %}{% endfor %}{% endfor %}`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tmpl.Render(ctx, map[string]any{"stop": stopper(cancel)})
	if err == nil || !strings.Contains(err.Error(), "enough of it") {
		t.Errorf("got %v", err)
	}
}

// TestConcurrent: one compiled template renders for many at once, and nobody sees what another changed.
func TestConcurrent(t *testing.T) {
	e := New(Options{Loader: files("testdata/files")})
	tmpl, err := e.Compile(
		`{% from 'macros.j2' import hello %}{% do nums.append(who) %}{{ hello(who) }} {{ nums|length }} {{ {'b': 1}|json }}`)
	if err != nil {
		t.Fatal(err)
	}
	shared := variables(t)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			vars := map[string]any{"who": fmt.Sprint(i)}
			for k, v := range shared {
				vars[k] = v
			}
			out, err := tmpl.Render(t.Context(), vars)
			if want := fmt.Sprintf(`Hello %d 4 {"b": 1}`, i); out != want || err != nil {
				t.Errorf("got %q, %v, want %q", out, err, want)
			}
		})
	}
	wg.Wait()
}
