package sqlstore

import (
	"math"
	"strings"

	"brine/wire/payload"
)

// binaryJSON is textJSON for a column of the type jsonb, which knows neither NUL nor numbers that are none: these are
// told as text, the way PostgreSQL itself makes jsonb of them, and NUL as U+FFFD. Unlike Salt, which loses the return
// for them.
func binaryJSON(v any) (string, error) {
	if !plain(v) {
		v = storable(decoded(v))
	}
	return textJSON(v)
}

// plain says whether jsonb takes v as it is.
func plain(v any) bool {
	switch x := v.(type) {
	case string:
		return !strings.ContainsRune(x, 0)
	case float64:
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	case []byte:
		return false
	case []any:
		for _, e := range x {
			if !plain(e) {
				return false
			}
		}
	case *payload.Map:
		for k, e := range x.All() {
			if !plain(k) || !plain(e) {
				return false
			}
		}
	case payload.Bytes:
		return false
	}
	return true
}

func storable(v any) any {
	switch x := v.(type) {
	case string:
		return strings.ReplaceAll(x, "\x00", "\ufffd")
	case float64:
		switch {
		case math.IsNaN(x):
			return "NaN"
		case math.IsInf(x, 1):
			return "Infinity"
		case math.IsInf(x, -1):
			return "-Infinity"
		}
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = storable(e)
		}
		return out
	case *payload.Map:
		out := payload.NewMap(x.Len())
		for k, e := range x.All() {
			out.Set(storable(k), storable(e))
		}
		return out
	}
	return v
}
