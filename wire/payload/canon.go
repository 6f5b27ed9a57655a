package payload

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// canonReflect handles types that are rare on hot paths: sized numbers, typed slices and maps, named types. A value
// without a form in msgpack is returned unchanged.
func canonReflect(v any) any {
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Bool:
		return rv.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return rv.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return canonUint(rv.Uint())
	case reflect.Float32, reflect.Float64:
		return rv.Float()
	case reflect.String:
		return rv.String()
	case reflect.Slice, reflect.Array:
		return canonSlice(rv, v)
	case reflect.Map:
		return canonMap(rv)
	}
	return v
}

func canonSlice(rv reflect.Value, v any) any {
	if rv.Type().Elem().Kind() == reflect.Uint8 && rv.Kind() == reflect.Slice {
		return rv.Bytes()
	}
	out := make([]any, rv.Len())
	for i := range out {
		out[i] = Canon(rv.Index(i).Interface())
	}
	return out
}

// canonMap sorts by the text of the keys, so that packing a Go map gives the same bytes every time.
func canonMap(rv reflect.Value) any {
	keys := rv.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		return strings.Compare(fmt.Sprint(a.Interface()), fmt.Sprint(b.Interface()))
	})
	out := NewMap(len(keys))
	for _, k := range keys {
		out.Set(k.Interface(), Canon(rv.MapIndex(k).Interface()))
	}
	return out
}

// canonKey makes a map key comparable and part of the vocabulary. A key that msgpack cannot hold becomes its text.
func canonKey(k any) any {
	switch k := k.(type) {
	case nil, string, int64, bool, float64, Bytes, Time:
		return k
	case int:
		return int64(k)
	case time.Time:
		return naive(k)
	case []byte:
		return Bytes(k)
	}
	switch k := canon(k).(type) {
	case string, int64, uint64, bool, float64:
		return k
	case []byte:
		return Bytes(k)
	}
	return fmt.Sprint(k)
}
