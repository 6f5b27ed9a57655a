package outputters

import (
	"cmp"
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// rstrip is Python's str.rstrip.
func rstrip(s string) string { return strings.TrimRightFunc(s, python.IsSpace) }

// strip is Python's str.strip.
func strip(s string) string { return strings.TrimFunc(s, python.IsSpace) }

// isBreak tells the characters that end a line for Python's str.splitlines.
func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// splitLines is Python's str.splitlines; keep leaves the line ends on.
func splitLines(s string, keep bool) []string {
	var out []string
	start, skip := 0, -1
	for i, r := range s {
		if i == skip || !isBreak(r) {
			continue
		}
		end := i + len(string(r))
		if r == '\r' && strings.HasPrefix(s[i+1:], "\n") {
			skip = i + 1
			end = i + 2
		}
		line := s[start:i]
		if keep {
			line = s[start:end]
		}
		out = append(out, line)
		start = end
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// runeLen is Python's len of a text.
func runeLen(s string) int { return len([]rune(s)) }

// str is Python's str of a value.
func str(v any) string { return python.Str(v) }

// entry is one key and value of a map.
type entry struct{ key, value any }

// entries returns the entries of m in its own order.
func entries(m *payload.Map) []entry {
	out := make([]entry, 0, m.Len())
	for k, v := range m.All() {
		out = append(out, entry{k, v})
	}
	return out
}

// sorted returns the entries ordered by key. ok is false when Python could not compare the keys; the entries are
// then in the map's own order.
func sorted(m *payload.Map) (list []entry, ok bool) {
	list = entries(m)
	if !areComparable(list) {
		return list, false
	}
	slices.SortStableFunc(list, func(a, b entry) int { return compareKeys(a.key, b.key) })
	return list, true
}

// areComparable tells whether all keys are text, all bytes or all numbers. One key alone is never compared.
func areComparable(list []entry) bool {
	for i := 1; i < len(list); i++ {
		if kind(list[i].key) != kind(list[0].key) || kind(list[0].key) == otherKey {
			return false
		}
	}
	return true
}

type keyKind uint8

const (
	textKey keyKind = iota
	bytesKey
	numberKey
	otherKey
)

func kind(k any) keyKind {
	switch k.(type) {
	case string:
		return textKey
	case payload.Bytes:
		return bytesKey
	case bool, int64, uint64, float64:
		return numberKey
	}
	return otherKey
}

func compareKeys(a, b any) int {
	switch x := a.(type) {
	case string:
		return strings.Compare(x, b.(string))
	case payload.Bytes:
		return cmp.Compare(x, b.(payload.Bytes))
	}
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(number(a), number(b))
}

// number is a key as a float; whole numbers past 2^53 that differ by little may count as equal.
func number(v any) float64 {
	switch x := v.(type) {
	case bool:
		if x {
			return 1
		}
	case int64:
		return float64(x)
	case uint64:
		return float64(x)
	case float64:
		return x
	}
	return 0
}
