// Package yaml reads YAML 1.1 as Salt's own loader does and returns payload values: mappings are *payload.Map
// in the order of the text, sequences []any, dates stay text, leading zeros of an integer do not make it
// octal, a key that stands twice is an error.
//
// The grammar is that of go.yaml.in/yaml/v3, a port of the same libyaml that Salt's Python binding uses; the
// meaning of scalars and tags is decided here. Writing YAML is not done here (see modules/outputters).
// It answers to salt/utils/yamlloader.py on PyYAML's SafeLoader.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	yaml "go.yaml.in/yaml/v3"
)

// Document is one parsed YAML text.
type Document struct {
	Value any            // as Load returns it
	Lines map[string]int // line of each text key of the outermost mapping, from 1; keys that came by a merge have their own line
}

// Load parses a text that holds at most one YAML document. An empty text is nil.
//
// Values are nil, bool, int64, uint64, *big.Int (beyond uint64), float64, string, []byte (!!binary), []any
// (sequences, sets, pairs) and *payload.Map. What an anchor names is shared by all its aliases, not copied.
// Every error is a *Error.
func Load(b []byte) (any, error) {
	doc, err := LoadDocument(b)
	if err != nil {
		return nil, err
	}
	return doc.Value, nil
}

// LoadDocument is Load that also tells where the outermost keys stand.
func LoadDocument(b []byte) (*Document, error) {
	root, err := parse(b)
	if err != nil {
		return nil, err
	}
	doc := &Document{Lines: map[string]int{}}
	if root == nil {
		return doc, nil
	}
	c := newConstructor(b)
	if doc.Value, err = c.construct(root); err != nil {
		return nil, err
	}
	if root.Kind == yaml.MappingNode {
		for _, p := range c.pairs(root) {
			if p.key.Kind == yaml.ScalarNode {
				doc.Lines[p.key.Value] = p.key.Line
			}
		}
	}
	return doc, nil
}

// parse returns the content of the only document of b, nil when there is none. Anything but a syntax error
// that the parser stumbles over is a fault of the parser; it must not take down a daemon, so it is an error too.
func parse(b []byte) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, &Error{Line: 1, Problem: fmt.Sprintf("the text confuses the parser: %v", r)}
		}
	}()
	if rest, ok := bytes.CutPrefix(b, []byte("%YAML 1.2")); ok { // the parser accepts 1.1 only, Salt's both
		b = append([]byte("%YAML 1.1"), rest...)
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxError(b, err)
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, &Error{Line: next.Line, Column: next.Column, Problem: "expected a single document in the stream, but found another document"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(b, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	if bytes.IndexByte(b, '&') >= 0 {
		if err := uniqueAnchors(doc.Content[0], map[string]bool{}); err != nil {
			return nil, err
		}
	}
	return doc.Content[0], nil
}

// Scalar types one plain scalar as the loader would: "yes" is true, "010" is 10, "12:30" is 750, "1e3" stays text.
// A text that the loader refuses as a scalar, or reads as something else than a scalar, is returned as it is.
func Scalar(text string) any {
	v, err := plain(text)
	if err != nil {
		return text
	}
	return v
}
