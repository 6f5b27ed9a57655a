package loader

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// Text is v as Python's str() shows it, with nil as "".
func Text(v any) string {
	if v == nil {
		return ""
	}
	return python.Str(v)
}

// Truthy is the truth of a payload value by Python's rules.
func Truthy(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case string:
		return x != ""
	case []byte:
		return len(x) > 0
	case []any:
		return len(x) > 0
	case payload.Set:
		return len(x) > 0
	case *payload.Map:
		return x.Len() > 0
	}
	if f, ok := ToFloat(v); ok {
		return f != 0
	}
	return true
}

// ToFloat reads any number or boolean; text is no number here.
func ToFloat(v any) (float64, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	case uint64:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// ToInt converts as Python's int() does: floats are cut, text must be a decimal whole number. The error is the
// ValueError or TypeError Python raises.
func ToInt(v any) (int64, error) {
	switch x := v.(type) {
	case string:
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(x), "_", ""), 10, 64)
		if err != nil {
			return 0, Raise("ValueError", "invalid literal for int() with base 10: %s", python.Repr(x))
		}
		return n, nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, Raise("OverflowError", "cannot convert float %s to integer", python.Str(x))
		}
		return int64(x), nil
	case int64:
		return x, nil
	case int:
		return int64(x), nil
	}
	if f, ok := ToFloat(v); ok {
		return int64(f), nil
	}
	return 0, &ArgumentError{Message: fmt.Sprintf(
		"int() argument must be a string, a bytes-like object or a real number, not '%s'", python.Type(v))}
}

// StringList reads a list of texts: a list as it is, a string as one element or, with a comma, as several.
func StringList(v any) []string {
	switch x := v.(type) {
	case nil:
		return nil
	case string:
		var out []string
		for part := range strings.SplitSeq(x, ",") {
			out = append(out, strings.TrimSpace(part))
		}
		return out
	case []any:
		out := make([]string, len(x))
		for i := range x {
			out[i] = Text(x[i])
		}
		return out
	}
	return []string{Text(v)}
}
