package apiplay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// member is a key of a JSON object with its value.
type member struct {
	key   string
	value any
}

// object is a JSON object that keeps the order of its keys. Other values of a tree have the types of
// encoding/json, with Number.
type object []member

// parseJSON reads one JSON document and keeps the order of its keys.
func parseJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d)
	if err == nil && d.More() {
		err = fmt.Errorf("more than one document")
	}
	return v, err
}

func parseValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return parseObject(d)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

func parseObject(d *json.Decoder) (any, error) {
	o := object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		o = append(o, member{key.(string), v})
	}
	_, err := d.Token()
	return o, err
}

// python writes a tree as Python's json.dumps with ensure_ascii off: ", " and ": ", raw UTF-8.
func python(v any) string {
	var b strings.Builder
	write(&b, v)
	return b.String()
}

func write(b *strings.Builder, v any) {
	switch v := v.(type) {
	case object:
		for i, m := range v {
			b.WriteString(opening(i, "{"))
			b.WriteString(quoted(m.key) + ": ")
			write(b, m.value)
		}
		b.WriteString(closing(len(v), "{", "}"))
	case []any:
		for i, e := range v {
			b.WriteString(opening(i, "["))
			write(b, e)
		}
		b.WriteString(closing(len(v), "[", "]"))
	case string:
		b.WriteString(quoted(v))
	case nil:
		b.WriteString("null")
	default:
		fmt.Fprint(b, v)
	}
}

func opening(i int, bracket string) string {
	if i == 0 {
		return bracket
	}
	return ", "
}

func closing(n int, open, shut string) string {
	if n == 0 {
		return open + shut
	}
	return shut
}

// quoted writes a JSON string with only the escapes that Python uses.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(b.String(), "\n"))
}
