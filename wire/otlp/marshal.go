package otlp

import (
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Marshal writes an ExportTraceServiceRequest. scope and version name the program that recorded the spans.
func Marshal(scope, version string, resources []Resource) []byte {
	var out []byte
	for i := range resources {
		out = nest(out, 1, func(b []byte) []byte { return resources[i].append(b, scope, version) })
	}
	return out
}

func (r *Resource) append(b []byte, scope, version string) []byte {
	b = nest(b, 1, func(b []byte) []byte { return attrs(b, 1, r.Attrs) })
	return nest(b, 2, func(b []byte) []byte {
		b = nest(b, 1, func(b []byte) []byte { return text(text(b, 1, scope), 2, version) })
		for i := range r.Spans {
			b = nest(b, 2, r.Spans[i].append)
		}
		return b
	})
}

func (s *Span) append(b []byte) []byte {
	b = raw(b, 1, s.Trace[:])
	b = raw(b, 2, s.ID[:])
	if s.Parent != (SpanID{}) {
		b = raw(b, 4, s.Parent[:])
	}
	b = text(b, 5, s.Name)
	b = number(b, 6, uint64(max(s.Kind, Internal)))
	b = moment(b, 7, s.Start)
	b = moment(b, 8, s.End)
	b = attrs(b, 9, s.Attrs)
	for i := range s.Events {
		e := &s.Events[i]
		b = nest(b, 11, func(b []byte) []byte { return attrs(text(moment(b, 1, e.At), 2, e.Name), 3, e.Attrs) })
	}
	if s.Failed {
		b = nest(b, 15, func(b []byte) []byte { return number(text(b, 2, s.Message), 3, statusError) })
	}
	return b
}

// statusError is the code of a span that has failed.
const statusError = 2

// attrs appends KeyValues. It skips a value whose type Attr does not name.
func attrs(b []byte, field protowire.Number, list []Attr) []byte {
	for _, a := range list {
		switch a.Value.(type) {
		case string, bool, int64, int, float64:
			b = nest(b, field, func(b []byte) []byte {
				return nest(text(b, 1, a.Key), 2, func(b []byte) []byte { return value(b, a.Value) })
			})
		}
	}
	return b
}

// value appends the one field of an AnyValue, even if it is empty or 0.
func value(b []byte, v any) []byte {
	switch x := v.(type) {
	case string:
		return raw(b, 1, []byte(strings.ToValidUTF8(x, replacement)))
	case bool:
		return number(b, 2, protowire.EncodeBool(x))
	case int64:
		return number(b, 3, uint64(x))
	case int:
		return number(b, 3, uint64(x))
	case float64:
		return protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), math.Float64bits(x))
	}
	return b
}

// replacement replaces bytes that are not UTF-8.
const replacement = "\uFFFD"

// nest appends a message that fill appends to b. The length is known only after fill: if it takes more than one byte,
// the message is moved.
func nest(b []byte, field protowire.Number, fill func([]byte) []byte) []byte {
	b = append(protowire.AppendTag(b, field, protowire.BytesType), 0)
	begin := len(b)
	b = fill(b)
	size := len(b) - begin
	if more := protowire.SizeVarint(uint64(size)) - 1; more > 0 {
		b = append(b, make([]byte, more)...)
		copy(b[begin+more:], b[begin:begin+size])
	}
	protowire.AppendVarint(b[:begin-1], uint64(size))
	return b
}

func raw(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// text appends a text, which must be valid UTF-8 on the wire. An empty one needs no bytes.
func text(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return raw(b, field, []byte(strings.ToValidUTF8(s, replacement)))
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

// moment appends nanoseconds since 1970.
func moment(b []byte, field protowire.Number, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), uint64(t.UnixNano()))
}
