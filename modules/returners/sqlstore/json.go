package sqlstore

import (
	"unicode/utf8"

	"brine/modules/outputters"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// textJSON is salt.utils.json.dumps of salt.utils.data.decode: bytes that are UTF-8 are text. Other bytes have the form
// in which Python prints them. Unlike Salt, which loses the return for them.
func textJSON(v any) (string, error) {
	text, ok := outputters.DumpJSON(decoded(v), outputters.JSONOptions{Indent: -1})
	if !ok {
		return "", refuse("a key of the value has no form in JSON")
	}
	return text, nil
}

// decoded is v without byte strings, as far as these are text. What holds none is not copied.
func decoded(v any) any {
	switch x := v.(type) {
	case []byte:
		if utf8.Valid(x) {
			return string(x)
		}
	case []any:
		return decodedList(x)
	case *payload.Map:
		return decodedMap(x)
	}
	return v
}

func decodedList(list []any) any {
	for i, v := range list {
		if !holdsBytes(v) {
			continue
		}
		out := append([]any{}, list...)
		for j := i; j < len(out); j++ {
			out[j] = decoded(out[j])
		}
		return out
	}
	return list
}

func decodedMap(m *payload.Map) any {
	if !holdsBytes(m) {
		return m
	}
	out := payload.NewMap(m.Len())
	for k, v := range m.All() {
		if b, ok := k.(payload.Bytes); ok {
			if k = string(b); !utf8.ValidString(string(b)) {
				k = python.Repr([]byte(b))
			}
		}
		out.Set(k, decoded(v))
	}
	return out
}

func holdsBytes(v any) bool {
	switch x := v.(type) {
	case []byte:
		return true
	case []any:
		for _, e := range x {
			if holdsBytes(e) {
				return true
			}
		}
	case *payload.Map:
		for k, e := range x.All() {
			if _, ok := k.(payload.Bytes); ok || holdsBytes(e) {
				return true
			}
		}
	}
	return false
}

// readJSON reads a column. What is no JSON stays the text it is, so that one bad row hides no others.
// Unlike Salt, which raises an exception.
func readJSON(text string) any {
	v, err := pyjson.Load(text)
	if err != nil {
		return text
	}
	return v
}

// readLoad reads a publication; what is none is an empty one.
func readLoad(text string) *payload.Map {
	if m, ok := readJSON(text).(*payload.Map); ok {
		return m
	}
	return payload.NewMap(0)
}
