// Package saltyaml is YAML by the three ways that Salt has to it: the renderer (salt/renderers/yaml.py), safe_load and
// safe_dump (salt/utils/yaml.py) and the serializer (salt/serializers/yaml.py). They read by config/yaml and write by
// modules/outputters; here are their errors and their differences.
package saltyaml

import (
	"errors"
	"strings"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/wire/payload"
	"brine/wire/python"
)

// Error is what Python says of a text, with the place that Salt's binding of libyaml keeps to itself. It is a
// *loader.Exception for whoever asks by errors.As, and a *yaml.Error.
type Error struct {
	Class, Text string
	Cause       *yaml.Error
}

func (e *Error) Error() string { return e.Text }

// Unwrap gives both faces.
func (e *Error) Unwrap() []error {
	return []error{&loader.Exception{Class: e.Class, Message: e.Text}, e.Cause}
}

// RenderClass is the class of errors that renderers raise.
const RenderClass = "salt.exceptions.SaltRenderError"

// Render is the renderer: nothing, false and zero are an empty map.
func Render(text string) (any, error) {
	v, err := yaml.LoadAs([]byte(text), yaml.SLS)
	if err != nil {
		e := failed(err)
		switch e.Cause.Kind {
		case yaml.ScannerError:
			e.Class, e.Text = RenderClass, e.Cause.Problem
		case yaml.ParserError, yaml.ConstructorError:
			e.Class = RenderClass
		}
		return nil, e
	}
	if !python.Truth(v) {
		return payload.NewMap(0), nil
	}
	return v, nil
}

// Load is safe_load.
func Load(text string) (any, error) {
	v, err := yaml.Load([]byte(text))
	if err != nil {
		return nil, failed(err)
	}
	return v, nil
}

// failed words an error of the reader as Python's exception.
func failed(err error) *Error {
	var e *yaml.Error
	if !errors.As(err, &e) {
		e = &yaml.Error{Kind: yaml.ValueError, Problem: err.Error()}
	}
	return &Error{Class: classOf(e), Text: e.Python(), Cause: e}
}

func classOf(e *yaml.Error) string {
	switch e.Kind {
	case yaml.ReaderError:
		return "yaml.reader.ReaderError"
	case yaml.ScannerError:
		return "yaml.scanner.ScannerError"
	case yaml.ParserError:
		return "yaml.parser.ParserError"
	case yaml.ComposerError:
		return "yaml.composer.ComposerError"
	case yaml.ConstructorError:
		return "yaml.constructor.ConstructorError"
	}
	switch p := e.Problem; {
	case strings.HasPrefix(p, "maximum recursion"):
		return "RecursionError"
	case strings.HasPrefix(p, "string index"):
		return "IndexError"
	case strings.HasPrefix(p, "'"):
		return "KeyError"
	}
	return "ValueError"
}

// Dump is safe_dump with its defaults: collections of scalars in brackets, keys sorted, a line end last.
func Dump(v any) string { return outputters.DumpYAML(v, outputters.FlowLeaves, 0) }

// Deserialize is the serializer's way to read.
func Deserialize(text string) (any, error) {
	v, err := yaml.LoadAs([]byte(text), yaml.Plain)
	if err == nil {
		return v, nil
	}
	return nil, unread(err)
}

// DeserializeYamlex is the serializer yamlex's way to read.
func DeserializeYamlex(text string) (any, error) {
	v, err := yaml.LoadYamlex([]byte(text))
	if err == nil {
		return v, nil
	}
	return nil, unread(err)
}

// RenderYamlex is the renderer yamlex: nothing, false and zero are an empty map.
func RenderYamlex(text string) (any, error) {
	v, err := DeserializeYamlex(text)
	if err == nil && !python.Truth(v) {
		return payload.NewMap(0), nil
	}
	return v, err
}

func unread(err error) *Error {
	e := failed(err)
	e.Class = "salt.serializers.DeserializationError"
	if e.Cause.Kind == yaml.ScannerError {
		e.Text = "Unknown yaml render error"
	}
	return e
}

// Serialize is the serializer's way to write: other letters than ASCII's as escapes, no line end. The options are those
// of PyYAML's dump that change what is written.
func Serialize(v any, options *payload.Map) (string, error) {
	o := outputters.YAMLOptions{Flow: outputters.FlowLeaves, ASCII: true}
	for k, value := range options.All() {
		name := python.Str(k)
		switch name {
		case "default_flow_style":
			o.Flow = flowOf(value)
		case "allow_unicode":
			o.ASCII = !python.Truth(value)
		case "sort_keys":
			o.KeepOrder = !python.Truth(value)
		case "explicit_start":
			o.ExplicitStart = python.Truth(value)
		case "indent":
			o.Indent = number(value)
		case "width":
			o.Width = number(value)
		case "explicit_end", "encoding":
		case "canonical", "default_style", "line_break", "version", "tags", "Dumper", "stream":
			return "", loader.Raise(serializationClass, "brine does not know the option %s yet", name)
		default:
			return "", loader.Raise(serializationClass, "dump_all() got an unexpected keyword argument %s",
				python.Repr(name))
		}
	}
	return strings.TrimSuffix(outputters.DumpYAMLBy(v, o), "\n"), nil
}

const serializationClass = "salt.serializers.SerializationError"

func flowOf(v any) outputters.FlowStyle {
	switch {
	case v == nil:
		return outputters.FlowLeaves
	case python.Truth(v):
		return outputters.FlowAlways
	}
	return outputters.FlowNever
}

func number(v any) int {
	n, err := loader.ToInt(v)
	if err != nil || n < 0 || n > 1<<20 {
		return 0
	}
	return int(n)
}
