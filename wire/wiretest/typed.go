package wiretest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"brine/wire/payload"
)

// Recorded reads the answers of Salt 3008 from testdata/salt3008.json of the tested package. The make.py beside that
// file says what a row is.
func Recorded[T any](t testing.TB) (rows []T) {
	t.Helper()
	b, err := os.ReadFile("testdata/salt3008.json")
	if err == nil {
		err = json.Unmarshal(b, &rows)
	}
	if err != nil {
		t.Fatalf("recorded answers: %v", err)
	}
	return rows
}

// Typed writes a value with its types, like the function show of such a make.py: "int 1", "[str a|null]", "{str
// k=>float 0.5}", "set [int 1]". beyond is the name for an integer outside int64 and uint64.
func Typed(v any, beyond string) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case int64, uint64:
		return fmt.Sprintf("int %d", v)
	case *big.Int:
		return beyond + " " + v.String()
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "float " + strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
		}
		return fmt.Sprintf("float %.17g", v)
	case string:
		return "str " + v
	case []byte:
		return fmt.Sprintf("bytes %x", v)
	case payload.Bytes:
		return fmt.Sprintf("bytes %x", string(v))
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, Typed(e, beyond))
		}
		return "[" + strings.Join(parts, "|") + "]"
	case payload.Set:
		var parts []string
		for _, e := range v {
			parts = append(parts, Typed(e, beyond))
		}
		slices.Sort(parts)
		return "set [" + strings.Join(parts, "|") + "]"
	case *payload.Map:
		var parts []string
		for k, e := range v.All() {
			parts = append(parts, Typed(k, beyond)+"=>"+Typed(e, beyond))
		}
		return "{" + strings.Join(parts, "|") + "}"
	}
	return fmt.Sprint(v)
}
