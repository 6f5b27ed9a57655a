package config

import (
	"errors"
	"io/fs"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"brine/wire/payload"
	"brine/wire/python"
)

// required are the options without which the program cannot do its work: a wrong value ends it. Any other wrong
// value was warned about; the default is used instead.
func required(key string) bool {
	switch key {
	case "publish_port", "ret_port", "master_port", "worker_threads", "user", "id", "interface":
		return true
	}
	return strings.HasSuffix(key, "_dir") || strings.HasSuffix(key, "dir")
}

// decode fills a struct with options, each converted to the type of its field.
func (ld *loading) decode(opts *payload.Map, into any) error {
	extra := fallbacks()
	struc := reflect.ValueOf(into).Elem()
	for _, f := range fields(struc.Type()) {
		val, given := opts.Get(f.key)
		var conv any
		var err error
		if given {
			conv, err = convert(val, f)
		}
		switch {
		case err == nil:
		case required(f.key):
			bad := ld.bad(f.key, val, "Config option '%s' with value %s has an invalid type of %s: %w", f.key,
				python.Str(val), python.Type(val), err)
			if ld.fault(bad) != nil {
				return bad
			}
		case !ld.warned[f.key]:
			ld.warn("Config option '%s' with value %s is not usable: %v%s", f.key, python.Str(val), err,
				ld.fromVariable(f.key))
		}
		if err != nil || conv == nil {
			conv = ld.fallback(f, extra)
		}
		if conv != nil {
			struc.FieldByIndex(f.index).Set(reflect.ValueOf(conv))
		}
	}
	return nil
}

// fallback is the default of an option, nil when there is none.
func (ld *loading) fallback(f field, extra *payload.Map) any {
	std, ok := ld.standard.Get(f.key)
	if !ok {
		std, _ = extra.Get(f.key)
	}
	conv, err := convert(std, f)
	if err != nil {
		return nil
	}
	return conv
}

// field is one option of a struct.
type field struct {
	key   string
	name  string // of the field
	index []int  // of the field, for reflect
	typ   reflect.Type
	unit  time.Duration // of a duration
}

// fields lists the options of a struct type, those of embedded structs included.
func fields(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous {
			for _, f := range fields(sf.Type) {
				f.index = append([]int{i}, f.index...)
				out = append(out, f)
			}
			continue
		}
		key, _, _ := strings.Cut(sf.Tag.Get("mapstructure"), ",")
		if key == "" || key == "-" {
			continue
		}
		unit := time.Second
		switch sf.Tag.Get("unit") {
		case "ms":
			unit = time.Millisecond
		case "m":
			unit = time.Minute
		}
		out = append(out, field{key, sf.Name, []int{i}, sf.Type, unit})
	}
	return out
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	mapType      = reflect.TypeFor[*payload.Map]()
	anyType      = reflect.TypeFor[any]()
	modeType     = reflect.TypeFor[fs.FileMode]()
)

// convert turns the value of an option into the type of its field. nil without an error means: leave the
// default.
func convert(v any, f field) (any, error) {
	switch {
	case f.typ == anyType:
		return v, nil
	case f.typ == mapType:
		return toMap(v)
	case v == nil && f.typ.Kind() != reflect.String:
		return nil, nil
	case f.typ == durationType:
		return toDuration(v, f.unit)
	case f.typ == modeType:
		return toMode(v)
	}
	switch f.typ.Kind() {
	case reflect.Bool:
		return python.Truth(v), nil
	case reflect.String:
		return toText(v)
	case reflect.Slice:
		return toList(v, f.typ.Elem().Kind() == reflect.String)
	default:
		return toInt(v, f.typ)
	}
}

var (
	errNotMap    = errors.New("a mapping is required")
	errNotText   = errors.New("a text is required")
	errNotNumber = errors.New("a number is required")
	errNotList   = errors.New("a list is required")
	errRange     = errors.New("the number is out of range")
	errNotMode   = errors.New("octal digits such as 0660 are required")
)

func toMap(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return payload.NewMap(0), nil
	case *payload.Map:
		return v, nil
	case []any:
		if m, ok := mergedList(v); ok {
			return m, nil
		}
	}
	return nil, errNotMap
}

func toText(v any) (any, error) {
	switch v.(type) {
	case nil:
		return "", nil
	case []any, *payload.Map, []byte:
		return nil, errNotText
	}
	return python.Str(v), nil
}

func toList(v any, texts bool) (any, error) {
	var list []any
	switch v := v.(type) {
	case []any:
		list = v
	case string:
		if v != "" {
			list = []any{v}
		}
	case *payload.Map:
		if texts {
			return nil, errNotList
		}
		list = []any{v}
	default:
		if !python.Truth(v) {
			break
		}
		return nil, errNotList
	}
	if !texts {
		return append([]any{}, list...), nil
	}
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = python.Str(e)
	}
	return out, nil
}

func toNumber(v any) (float64, error) {
	if s, ok := v.(string); ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			return 0, errNotNumber
		}
		v = f
	}
	f, ok := python.Number(v)
	if _, truth := v.(bool); truth || !ok || math.IsNaN(f) {
		return 0, errNotNumber
	}
	return f, nil
}

func toInt(v any, t reflect.Type) (any, error) {
	f, err := toNumber(v)
	if err != nil {
		return nil, err
	}
	out := reflect.New(t).Elem()
	switch {
	case out.CanInt():
		if i := int64(f); math.Abs(f) >= math.MaxInt64 || out.OverflowInt(i) {
			return nil, errRange
		}
		out.SetInt(int64(f))
	case f < 0 || f >= math.MaxUint64:
		return nil, errRange
	default:
		out.SetUint(uint64(f))
	}
	return out.Interface(), nil
}

// toMode reads the digits of a file mode in octal. Salt's YAML takes the zero before them away: 0660 arrives as 660.
func toMode(v any) (any, error) {
	text, err := toText(v)
	if err != nil {
		return nil, errNotMode
	}
	digits := strings.TrimPrefix(strings.TrimSpace(text.(string)), "0o")
	mode, err := strconv.ParseUint(digits, 8, 32)
	if err != nil || mode > uint64(fs.ModePerm) {
		return nil, errNotMode
	}
	return fs.FileMode(mode), nil
}

func toDuration(v any, unit time.Duration) (any, error) {
	f, err := toNumber(v)
	if err != nil {
		return nil, err
	}
	if math.Abs(f)*float64(unit) >= math.MaxInt64 {
		return nil, errRange
	}
	return time.Duration(f * float64(unit)), nil
}
