package outputters

import (
	"bytes"
	"strings"

	"brine/modules/text/printable"
	"brine/wire/payload"
)

// shown is data as it goes to an outputter. Where the outputter colours for a terminal, nothing in the data may look
// like a colour of ours, and where lines tell by their beginnings whose they are, no name goes on in the next one.
func (o *Options) shown(name string, data any) any {
	if !o.Terminal {
		return data
	}
	if o.paints(name) && !o.KeepEscapes {
		data = withoutEscapes(data)
	}
	switch name {
	case "json", "yaml", "raw", "pprint":
		return data
	}
	return onOneLine(data)
}

// onOneLine writes out line ends in the names of a value: the keys of its maps, and what a state says of itself beside
// its comment and its changes. Of all other texts outputters indent each line. It changes nothing in place.
func onOneLine(v any) any {
	switch x := v.(type) {
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = onOneLine(x[i])
		}
		return list
	case *payload.Map:
		m, state := payload.NewMap(x.Len()), x.Has("result") && x.Has("comment")
		for k, v := range x.All() {
			name, isText := k.(string)
			if isText && strings.ContainsAny(name, lineEnds) {
				for name = line(name); x.Has(name) || m.Has(name); { // two keys stay two
					name += "?"
				}
				k = name
			}
			if text, isText := v.(string); isText && state && k != any("comment") {
				v = line(text)
			}
			m.Set(k, onOneLine(v))
		}
		return m
	}
	return v
}

// indented is a text with several lines, the later ones not at the beginning of the line on a terminal.
func (o *Options) indented(text string) string {
	if !o.Terminal {
		return text
	}
	return strings.Join(splitLines(text, false), "\n    ")
}

// lineEnds are the characters at which Python ends a line.
const lineEnds = "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"

// line is a name that would go on in the next line, on one.
func line(text string) string {
	if !strings.ContainsAny(text, lineEnds) {
		return text
	}
	return printable.Line(text)
}

// printable is the finished text as it may reach its reader. With strip_colors: False minions may colour.
//
// Unlike Salt: on a terminal control characters that came from a minion are written out, and so are marks that turn the
// direction of a text. Salt replaces ESC in some places and prints the rest, with which a minion writes to the
// clipboard of the operator, or over lines of others. A file or a pipe gets what Salt would write.
func (o *Options) printable(name, text string) string {
	switch {
	case !o.Terminal:
		return text
	case o.KeepEscapes || o.paints(name):
		return printable.Colored(text)
	}
	return printable.Text(text)
}

// paints tells whether an outputter uses colours.
func (o *Options) paints(name string) bool {
	switch name {
	case "json", "yaml", "raw", "pprint", "txt", "text", "newline_values_only":
		return false
	}
	return o.Color
}

// withoutEscapes replaces ESC in the texts of a value, as clean does in one. It changes nothing in place.
func withoutEscapes(v any) any {
	switch x := v.(type) {
	case string:
		return strings.ReplaceAll(x, "\x1b", "?")
	case []byte:
		return bytes.ReplaceAll(x, []byte{0x1b}, []byte{'?'})
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = withoutEscapes(x[i])
		}
		return list
	case *payload.Map:
		m := payload.NewMap(x.Len())
		for k, v := range x.All() {
			name, isText := k.(string)
			if isText && strings.Contains(name, "\x1b") {
				name = strings.ReplaceAll(name, "\x1b", "?")
				for x.Has(name) || m.Has(name) { // two keys stay two
					name += "?"
				}
				k = name
			}
			m.Set(k, withoutEscapes(v))
		}
		return m
	}
	return v
}
