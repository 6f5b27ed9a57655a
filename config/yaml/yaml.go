// Package yaml reads YAML 1.1 as Salt's own loader does and returns payload values: mappings are *payload.Map
// in the order of the text, sequences []any, dates stay text, leading zeros of an integer do not make it
// octal, a key that stands twice is an error.
//
// It goes in four steps, each a file or two: reader and scanner make tokens, parse makes nodes, construct makes values.
// The grammar, and so the words and places of errors, are libyaml's, which Salt's Python binding uses; the meaning of
// scalars and tags is PyYAML's and Salt's. Writing YAML is not done here (see modules/outputters).
// It answers to salt/utils/yamlloader.py on PyYAML's CSafeLoader.
package yaml

import "strings"

// Document is one parsed YAML text.
type Document struct {
	Value any // as Load returns it
	// line of each text key of the outermost mapping, from 1; keys that came by a merge have their own line
	Lines map[string]int
}

// Dialect tells the loaders of Salt apart.
type Dialect uint8

// Salt is salt.utils.yaml.safe_load. SLS is the renderer's: an !!omap is a mapping. Plain is PyYAML's own, which
// salt.serializers.yaml uses: a leading zero means octal, the last of two equal keys wins.
const (
	Salt Dialect = iota
	SLS
	Plain
)

// Load parses a text that holds at most one YAML document. An empty text is nil.
//
// Values are nil, bool, int64, uint64, *big.Int (beyond uint64), float64, string, []byte (!!binary), []any
// (sequences, sets, pairs) and *payload.Map. What an anchor names is shared by all its aliases, not copied.
// Every error is a *Error.
func Load(b []byte) (any, error) { return LoadAs(b, Salt) }

// LoadAs is Load as one of Salt's loaders does it. Dates stay text in all of them.
func LoadAs(b []byte, dialect Dialect) (any, error) {
	v, _, err := load(b, dialect, nil)
	return v, err
}

// LoadWithin is Load of a text of which not all may be worth reading: spend is asked before each value. Its error ends
// the reading, and is the one that is returned.
func LoadWithin(b []byte, spend func(values int) error) (any, error) {
	v, _, err := load(b, Salt, spend)
	return v, err
}

// LoadDocument is Load that also tells where the outermost keys stand.
func LoadDocument(b []byte) (*Document, error) {
	v, lines, err := load(b, Salt, nil)
	if err != nil {
		return nil, err
	}
	return &Document{Value: v, Lines: lines()}, nil
}

// load returns the value and a way to ask for the lines of its keys.
func load(b []byte, dialect Dialect, spend func(values int) error) (any, func() map[string]int, error) {
	none := func() map[string]int { return map[string]int{} }
	if err := readable(b); err != nil {
		return nil, none, err
	}
	root, aliases, fault, refused := parse(strings.TrimPrefix(string(b), byteOrderMark), spend)
	if refused != nil {
		return nil, none, refused
	}
	if fault != nil {
		return nil, none, fault
	}
	if root == nil {
		return nil, none, nil
	}
	c := newConstructor(aliases)
	c.dialect = dialect
	v, err := c.document(root)
	return v, func() map[string]int { return c.lines(root) }, err
}

// lines tells where the keys of a mapping that was constructed stand.
func (c *constructor) lines(root *node) map[string]int {
	lines := map[string]int{}
	if root.kind != mappingNode {
		return lines
	}
	items, err := c.flatten(root)
	for i := 0; err == nil && i+1 < len(items); i += 2 {
		if key := items[i]; key.kind == scalarNode {
			lines[key.text] = key.start.line + 1
		}
	}
	return lines
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
