// Package yaml reads YAML 1.1 like Salt's own loader and returns payload values: mappings become *payload.Map in the
// order of the text, sequences become []any, dates stay text, leading zeros of an integer do not make it octal, and a
// duplicate key is an error.
//
// It works in four steps, with one or two files for each: reader and scanner make tokens, parse makes nodes, construct
// makes values. The grammar, with the words and positions of errors, is that of libyaml, which Salt's Python binding
// uses. The meaning of scalars and tags is PyYAML's and Salt's. The package does not write YAML (see
// modules/outputters). It answers to salt/utils/yamlloader.py on PyYAML's CSafeLoader.
package yaml

import "strings"

// Document is one parsed YAML text.
type Document struct {
	Value any // the result of Load
	// the line of each text key of the outermost mapping, from 1; merged keys have their own line
	Lines map[string]int
}

// Dialect distinguishes Salt's loaders.
type Dialect uint8

// Salt is salt.utils.yaml.safe_load. SLS is the renderer's loader: an !!omap is a mapping. Plain is PyYAML's own, which
// salt.serializers.yaml uses: a leading zero means octal, and the last of two equal keys wins.
const (
	Salt Dialect = iota
	SLS
	Plain
)

// Load parses a text with at most one YAML document. An empty text gives nil.
//
// Values are nil, bool, int64, uint64, *big.Int (beyond uint64), float64, string, []byte (!!binary), []any (sequences,
// pairs), payload.Set (!!set) and *payload.Map. All aliases of an anchor share its value. Every error is a *Error.
func Load(b []byte) (any, error) { return LoadAs(b, Salt) }

// LoadAs is Load in one of Salt's dialects. Dates stay text in all of them.
func LoadAs(b []byte, dialect Dialect) (any, error) {
	v, _, err := load(b, dialect, nil)
	return v, err
}

// LoadWithin is Load with a limit: spend is called before each value. Its error ends the reading and is returned.
func LoadWithin(b []byte, spend func(values int) error) (any, error) {
	v, _, err := load(b, Salt, spend)
	return v, err
}

// LoadDocument is Load that also returns the lines of the outermost keys.
func LoadDocument(b []byte) (*Document, error) {
	v, lines, err := load(b, Salt, nil)
	if err != nil {
		return nil, err
	}
	return &Document{Value: v, Lines: lines()}, nil
}

// load returns the value and a function that returns the lines of its keys.
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

// lines returns the lines of the keys of a constructed mapping.
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

// Scalar reads one plain scalar like the loader: "yes" is true, "010" is 10, "12:30" is 750, "1e3" stays text. A text
// that the loader refuses as a scalar, or does not read as a scalar, is returned unchanged.
func Scalar(text string) any {
	v, err := plain(text)
	if err != nil {
		return text
	}
	return v
}
