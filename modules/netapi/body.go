package netapi

import (
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"brine/config/yaml"
	"brine/modules/text/args"
	"brine/modules/text/pyjson"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Media types of bodies.
const (
	TypeJSON = "application/json"
	TypeYAML = "application/x-yaml"
	typeForm = "application/x-www-form-urlencoded"
	typeText = "text/plain"
	textYAML = "text/yaml"
)

// Body is the body of a request: its text, and what it means.
type Body struct {
	Raw  string
	Data any
}

// Acceptable says whether there is a reader for a Content-Type. The error is a 406.
func Acceptable(contentType string) *Error {
	switch media(contentType) {
	case TypeJSON, TypeYAML, textYAML, typeText, typeForm:
		return nil
	}
	return &Error{http.StatusNotAcceptable, "Content type not supported"}
}

func media(contentType string) string {
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil { // parameters that cannot be read do not matter
		name, _, _ = strings.Cut(contentType, ";")
		name = strings.ToLower(strings.TrimSpace(name))
	}
	return name
}

// Read reads a body by its Content-Type. Errors are 400 for what cannot be read, 406 for another type.
func Read(contentType string, raw []byte) (Body, error) {
	b := Body{Raw: string(raw)}
	if err := Acceptable(contentType); err != nil {
		return b, err
	}
	switch media(contentType) {
	case typeForm:
		b.Data = readForm(b.Raw)
	case TypeYAML, textYAML:
		v, err := yaml.Load(raw)
		if err != nil || tooMuch(v) {
			return b, BadRequest("Invalid YAML document")
		}
		b.Data = v
	case TypeJSON:
		v, err := readJSON(b.Raw)
		if err != nil {
			return b, BadRequest("Invalid JSON document")
		}
		b.Data = v
	default:
		v, err := readJSON(b.Raw)
		if err != nil {
			v = b.Raw
		}
		b.Data = v
	}
	return b, nil
}

func readJSON(text string) (any, error) {
	if !utf8.ValidString(text) {
		return nil, BadRequest("Invalid JSON document")
	}
	return pyjson.Load(text)
}

// maxValues is how many values a YAML body may come to once its aliases are written out. A body of some hundred bytes can come
// to more than there is memory.
const maxValues = 1 << 20

func tooMuch(v any) bool {
	left := maxValues
	return !count(v, &left, 0)
}

// maxDepth is how deep values may lie in each other, as in Python.
const maxDepth = 900

func count(v any, left *int, depth int) bool {
	if *left--; *left < 0 || depth > maxDepth {
		return false
	}
	switch x := v.(type) {
	case []any:
		for _, one := range x {
			if !count(one, left, depth+1) {
				return false
			}
		}
	case *payload.Map:
		for k, one := range x.All() {
			if !count(k, left, depth+1) || !count(one, left, depth+1) {
				return false
			}
		}
	case string:
		*left -= len(x) / 64
	}
	return *left >= 0
}

// readForm reads name=value pairs. A name that stands once has a text, else a list of texts; pairs with an empty value do not
// count. arg and kwarg are typed as words of a command line.
func readForm(raw string) *payload.Map {
	fields := payload.NewMap(4)
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" {
			continue
		}
		name, value = unquote(name), unquote(value)
		fields.Set(name, append(fields.List(name), value))
	}
	for _, name := range fields.Keys() {
		key, _ := name.(string)
		list := fields.List(key)
		switch {
		case key == "arg":
			for i, one := range list {
				list[i] = typed(one)
			}
		case len(list) == 1 && key == "kwarg":
			fields.Set(key, typed(list[0]))
		case len(list) == 1:
			fields.Set(key, list[0])
		}
	}
	return fields
}

func typed(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	if v = args.Yamlify(text); tooMuch(v) {
		return text
	}
	return v
}

// unquote reads + as a blank and %XX as a byte; what is no such code stays. Bytes that are no UTF-8 become U+FFFD, as in Python.
func unquote(s string) string {
	if !strings.ContainsAny(s, "+%") {
		return pytext.DecodeUTF8([]byte(s))
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '+':
			out = append(out, ' ')
		case c == '%' && i+2 < len(s) && digit(s[i+1]) >= 0 && digit(s[i+2]) >= 0:
			out = append(out, byte(digit(s[i+1])<<4|digit(s[i+2])))
			i += 2
		default:
			out = append(out, c)
		}
	}
	return pytext.DecodeUTF8(out)
}

func digit(c byte) int {
	if c >= '0' && c <= '9' {
		return int(c - '0')
	}
	if c |= 0x20; c >= 'a' && c <= 'f' {
		return int(c-'a') + 10
	}
	return -1
}
