package engines

import (
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"

	"brine/modules/outputters"
	"brine/wire/payload"
)

var errNoJSON = errors.New("there is no JSON for it")

// jsonLine is a message as a line. Bytes that are UTF-8 are a text, others an object {"base64": TEXT}.
func jsonLine(m *payload.Map) ([]byte, error) {
	body, ok := outputters.DumpJSON(plain(m), outputters.JSONOptions{Indent: -1})
	if !ok {
		return nil, errNoJSON
	}
	return append([]byte(body), '\n'), nil
}

// plain is a value without bytes.
func plain(v any) any {
	switch v := v.(type) {
	case []byte:
		if utf8.Valid(v) {
			return string(v)
		}
		return payload.M("base64", base64.StdEncoding.EncodeToString(v))
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = plain(one)
		}
		return out
	case *payload.Map:
		out := payload.NewMap(v.Len())
		for k, one := range v.All() {
			if b, ok := k.([]byte); ok {
				k = strings.ToValidUTF8(string(b), "\ufffd")
			}
			out.Set(k, plain(one))
		}
		return out
	}
	return v
}
