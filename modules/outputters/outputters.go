// Package outputters turns values into the text Salt's tools print: nested, json, yaml, raw, pprint, txt, table,
// key, no_return, highstate and two of older releases. It also writes YAML for configuration files as Salt does
// (DumpYAML). It writes to nothing itself: texts come back. Answers to salt/output.
package outputters

import (
	"errors"
	"fmt"

	"brine/wire/payload"
)

// ErrUnknown means there is no outputter of that name; nested was used in its place.
var ErrUnknown = errors.New("outputters: no such outputter")

// errShape means data an outputter cannot show: the routine falls back to nested, then raw.
var errShape = errors.New("outputters: data does not fit")

// Options are what outputters read of the configuration. The zero value prints as Salt does into a pipe.
type Options struct {
	Color        bool
	Theme        map[string]string // color_theme: colour name → code between "ESC[" and "m"
	KeepEscapes  bool              // strip_colors: False, leave ESC in returned text; on a terminal, colours only
	Terminal     bool              // the text goes to a terminal: what is not printable in data is written out
	Indent       Indent            // output_indent
	NestedIndent int               // nested_indent
	Minions      bool              // data maps ids of minions to what they said
	Retcode      int               // of the return shown; not 0 turns nested's keys red
	Table        *payload.Map      // out.table.*, without that prefix
	State        StateOptions      // of highstate
}

// Indent is the option output_indent.
type Indent struct {
	Kind IndentKind
	N    int // for IndentNumber
}

// IndentKind tells the forms of output_indent apart.
type IndentKind uint8

// The forms of output_indent: absent, null, "pretty", a number.
const (
	IndentDefault IndentKind = iota
	IndentNull
	IndentPretty
	IndentNumber
)

// FromOpts reads Options from the options of a tool; colours and themes are the tool's decision.
func FromOpts(opts *payload.Map) Options {
	o := Options{Indent: indentOf(opts), State: stateOptions(opts), Table: payload.NewMap(0)}
	if strip, ok := opts.Get("strip_colors"); ok {
		o.KeepEscapes = strip == false
	}
	n, _ := opts.Int("nested_indent")
	o.NestedIndent = int(n)
	const prefix = "out.table."
	for k, v := range opts.All() {
		if name, ok := k.(string); ok && len(name) > len(prefix) && name[:len(prefix)] == prefix {
			o.Table.Set(name[len(prefix):], v)
		}
	}
	return o
}

func indentOf(opts *payload.Map) Indent {
	v, ok := opts.Get("output_indent")
	if !ok {
		return Indent{}
	}
	if v == nil {
		return Indent{Kind: IndentNull}
	}
	if n, ok := opts.Int("output_indent"); ok {
		return Indent{Kind: IndentNumber, N: int(n)}
	}
	if v == "pretty" {
		return Indent{Kind: IndentPretty}
	}
	return Indent{}
}

// Choose picks the outputter as Salt's tools do. asked is --out or the option output, out what the return wants;
// --out=highstate does not override it. Unlike Salt 3006: a return does not choose an outputter that shows texts
// without saying whose they are. Static mode shows functions of the state module as highstate.
func Choose(asked, out string, static bool, fun string) string {
	const states = "state."
	if out == "newline_values_only" { // a minion that asks for it would write lines of others
		out = ""
	}
	if asked != "" && asked != "highstate" {
		return asked
	}
	if out == "" && static {
		if asked != "" {
			return asked
		}
		if len(fun) > len(states) && fun[:len(states)] == states {
			return "highstate"
		}
	}
	return out
}

type outputter func(data any, o *Options) (string, error)

// table of all outputters. quiet and newline_values_only are of 3006 and 3007.
func lookup(name string) (outputter, bool) {
	switch name {
	case "", "nested":
		return nested, true
	case "json":
		return jsonOut, true
	case "yaml":
		return yamlOut, true
	case "raw":
		return raw, true
	case "pprint":
		return pprintOut, true
	case "txt", "text":
		return txt, true
	case "table":
		return table, true
	case "key":
		return keyOut, true
	case "no_return":
		return noReturn, true
	case "highstate":
		return highstate, true
	case "quiet":
		return quiet, true
	case "newline_values_only":
		return newlineValuesOnly, true
	}
	return nested, false
}

// Format returns what Salt prints for data, without the newline at its end; "" prints nothing at all. Data that
// does not fit the outputter is shown by nested, then by raw. The text is usable beside ErrUnknown, whose text is
// the one Salt logs.
func Format(name string, data any, o Options) (string, error) {
	_, known := lookup(name)
	var err error
	if !known && name != "grains" { // old minions ask for grains, which is nested
		err = fmt.Errorf("%w: Invalid outputter %s specified, fall back to nested", ErrUnknown, name)
	}
	for _, name := range [...]string{name, "nested", "raw"} {
		out, _ := lookup(name)
		if text, shapeErr := out(o.shown(name, data), &o); shapeErr == nil {
			return o.printable(name, rstrip(text)), err
		}
	}
	return "", err
}
