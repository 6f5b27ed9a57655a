package control

import (
	"errors"
	"fmt"
	"reflect"

	"brine/wire/payload"
)

// ErrAnswer means that the message of the other end cannot be read.
var ErrAnswer = errors.New("control: it cannot be read")

// rawTag marks the field that keeps a whole map, including fields that this end does not know.
const rawTag = ",raw"

// Encode is a question or an answer as it is sent: a struct becomes a map by its tags, a nil map becomes nil. If a
// struct has a non-nil Raw map, Encode returns that map and ignores the other fields.
func Encode(v any) any { return encode(reflect.ValueOf(v)) }

func encode(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	switch x := v.Interface().(type) {
	case *payload.Map:
		if x == nil {
			return nil
		}
		return x
	case []string:
		return payload.AnyList(x)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return encode(v.Elem())
	case reflect.Struct:
		return encodeStruct(v)
	case reflect.Bool:
		return v.Bool()
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = encode(v.Index(i))
		}
		return list
	}
	return v.Interface()
}

func encodeStruct(v reflect.Value) any {
	m := payload.NewMap(v.NumField())
	for field, at := range fieldsOf(v) {
		if field.name == rawTag {
			if raw := at.Interface().(*payload.Map); raw != nil {
				return raw
			}
			continue
		}
		if field.optional && at.IsNil() {
			continue
		}
		m.Set(field.name, encode(at))
	}
	return m
}

// field is one field of a struct that is sent.
type field struct {
	name     string
	optional bool // left out if nil
}

// fieldsOf iterates over the fields of a struct that are sent; the fields of an embedded struct come in its place.
func fieldsOf(v reflect.Value) func(func(field, reflect.Value) bool) {
	return func(yield func(field, reflect.Value) bool) {
		t := v.Type()
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			if f.Anonymous {
				for inner, at := range fieldsOf(v.Field(i)) {
					if !yield(inner, at) {
						return
					}
				}
				continue
			}
			name := f.Tag.Get("control")
			if name != "" && !yield(field{name: name, optional: f.Type.Kind() == reflect.Pointer && name != rawTag},
				v.Field(i)) {
				return
			}
		}
	}
}

// Read turns an answer inside another answer into a struct of this package. Missing fields are zero.
func Read[A any](m *payload.Map) (answer A) {
	_ = decode(m, reflect.ValueOf(&answer).Elem()) // a map always has the right type
	return answer
}

// decode reads a message into a question or an answer. A field of an unexpected type reads as missing. If the message
// itself has an unexpected type, the error is ErrAnswer. A nil message is allowed, except for a struct.
func decode(got any, into reflect.Value) error {
	if into.Kind() != reflect.Struct {
		if got != nil && !decodeField(got, into) {
			return fmt.Errorf("%w: %T", ErrAnswer, got)
		}
		return nil
	}
	m, ok := got.(*payload.Map)
	if !ok {
		return fmt.Errorf("%w: %T", ErrAnswer, got)
	}
	for f, at := range fieldsOf(into) {
		if f.name == rawTag {
			at.Set(reflect.ValueOf(m))
			continue
		}
		decodeField(m.Value(f.name), at)
	}
	return nil
}

// decodeField sets one value and tells whether got has the right type.
func decodeField(got any, into reflect.Value) bool {
	if list, ok := got.([]any); ok && into.Type() == reflect.TypeFor[[]string]() {
		into.Set(reflect.ValueOf(payload.Texts(list)))
		return true
	}
	if got != nil && reflect.TypeOf(got) == into.Type() { // maps, lists of anything, texts, numbers
		into.Set(reflect.ValueOf(got))
		return true
	}
	switch into.Kind() {
	case reflect.Bool:
		b, ok := got.(bool)
		into.SetBool(b)
		return ok
	case reflect.Int64, reflect.Pointer:
		return decodeNumber(got, into)
	case reflect.Struct:
		return decode(got, into) == nil
	case reflect.Slice:
		list, ok := got.([]any)
		for _, one := range list {
			item := reflect.New(into.Type().Elem()).Elem()
			if decodeField(one, item) {
				into.Set(reflect.Append(into, item))
			}
		}
		return ok
	}
	return false
}

// decodeNumber sets a number, or a pointer to one.
func decodeNumber(got any, into reflect.Value) bool {
	n, ok := payload.M("n", got).Int("n")
	switch {
	case !ok:
		return false
	case into.Kind() == reflect.Int64:
		into.SetInt(n)
	case into.Type() == reflect.TypeFor[*int64]():
		into.Set(reflect.ValueOf(&n))
	default: // a pointer to another type
		return false
	}
	return true
}
