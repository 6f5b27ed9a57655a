package netapi

import (
	"errors"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"brine/config/yaml"
	"brine/modules/text/args"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
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

// Read understands a body by its Content-Type. Errors are 400 for what cannot be read, 406 for another type, and those
// of Spend.
func (in *Intake) Read(contentType string) (Body, error) {
	b := Body{Raw: in.text}
	if err := Acceptable(contentType); err != nil {
		return b, err
	}
	var err error
	switch media(contentType) {
	case typeForm:
		b.Data, err = in.form()
	case TypeYAML, textYAML:
		b.Data, err = in.yaml()
	case TypeJSON:
		b.Data, err = in.JSON()
	default:
		if b.Data, err = in.JSON(); isSyntax(err) {
			b.Data, err = b.Raw, nil
		}
	}
	return b, err
}

// errJSON is a text that is no JSON.
var errJSON = BadRequest("Invalid JSON document")

func isSyntax(err error) bool { return errors.Is(err, errJSON) }

// JSON reads the body as JSON.
func (in *Intake) JSON() (any, error) {
	if !utf8.ValidString(in.text) {
		return nil, errJSON
	}
	v, err := pyjson.LoadWithin(in.text, in.Value)
	if err != nil && in.over == nil {
		return nil, errJSON
	}
	return v, in.over
}

func (in *Intake) yaml() (any, error) {
	v, err := yaml.LoadWithin([]byte(in.text), in.pays(weighNode))
	if in.over != nil {
		return nil, in.over
	}
	if err != nil || tooMuch(v) {
		return nil, BadRequest("Invalid YAML document")
	}
	return v, nil
}

// maxValues is how many values a YAML body may come to once its aliases are written out. A body of some hundred bytes
// can come to more than there is memory.
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

// form reads name=value pairs. A name that stands once has a text, else a list of texts; pairs with an empty value do
// not count. arg and kwarg are typed as words of a command line.
func (in *Intake) form() (*payload.Map, error) {
	fields := payload.NewMap(4)
	for pair := range strings.SplitSeq(in.text, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" {
			continue
		}
		if err := in.Pair(); err != nil {
			return nil, err
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
				list[i] = in.typed(one)
			}
		case len(list) == 1 && key == "kwarg":
			fields.Set(key, in.typed(list[0]))
		case len(list) == 1:
			fields.Set(key, list[0])
		}
	}
	return fields, in.over
}

// typed is a word of a form, read as YAML. When there is no room for more it stays a text, and the error is told at the
// end.
func (in *Intake) typed(v any) any {
	text, ok := v.(string)
	if !ok || in.Spend(weighWord) != nil {
		return v
	}
	v = args.YamlifyWith(text, func(b []byte) (any, error) { return yaml.LoadWithin(b, in.pays(weighNode)) })
	if tooMuch(v) {
		return text
	}
	return v
}

// unquote reads + as a blank and %XX as a byte; what is no such code stays. Bytes that are no UTF-8 become U+FFFD, as
// in Python.
func unquote(s string) string {
	if !strings.ContainsAny(s, "+%") {
		return python.DecodeUTF8([]byte(s))
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
	return python.DecodeUTF8(out)
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
