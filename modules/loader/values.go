package loader

import (
	"strings"

	"brine/wire/python"
)

// Text is v as Python's str() shows it, with nil as "".
func Text(v any) string {
	if v == nil {
		return ""
	}
	return python.Str(v)
}

// ToInt is int(v) where Go's int64 is wanted. The error is the exception that Python raises, and an OverflowError for a
// number that is larger.
func ToInt(v any) (int64, error) {
	n, err := python.Int(v)
	if e, ok := err.(*python.Error); ok && e.Kind == "TypeError" {
		return 0, &ArgumentError{Message: e.Text}
	} else if ok {
		return 0, Raise(e.Kind, "%s", e.Text)
	}
	small, ok := n.(int64)
	if !ok {
		return 0, Raise("OverflowError", "Python int too large to convert to C long")
	}
	return small, nil
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
