package config

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"brine/wire/payload"
)

// falsy is Python's idea of a value that counts as false.
func falsy(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []byte:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case *payload.Map:
		return v.Len() == 0
	}
	n, ok := number(v)
	return ok && n == 0
}

// number is the value of an integer, float or bool.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	}
	return 0, false
}

// pyType names the Python type of a value.
func pyType(v any) string {
	switch v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, uint64, *big.Int:
		return "int"
	case float64:
		return "float"
	case []byte:
		return "bytes"
	case []any:
		return "list"
	case *payload.Map:
		return "dict"
	}
	return "str"
}

// pyStr writes a value as Python's str does, good enough for messages.
func pyStr(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return pyRepr(v)
}

func pyRepr(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		return pyFloat(v)
	case string:
		if strings.Contains(v, "'") && !strings.Contains(v, `"`) {
			return `"` + v + `"`
		}
		return "'" + strings.ReplaceAll(v, "'", `\'`) + "'"
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = pyRepr(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *payload.Map:
		var parts []string
		for k, e := range v.All() {
			parts = append(parts, pyRepr(k)+": "+pyRepr(e))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

func pyFloat(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e16 {
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
