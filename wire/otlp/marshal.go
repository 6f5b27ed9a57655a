package otlp

import (
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Marshal writes an ExportTraceServiceRequest. scope and version name who observed the spans.
func Marshal(scope, version string, resources []Resource) []byte {
	var out []byte
	for _, r := range resources {
		out = message(out, 1, resourceSpans(scope, version, r))
	}
	return out
}

func resourceSpans(scope, version string, r Resource) []byte {
	var about, who, spans []byte
	for _, a := range r.Attrs {
		about = attr(about, 1, a)
	}
	who = text(who, 1, scope)
	who = text(who, 2, version)
	spans = message(spans, 1, who)
	for i := range r.Spans {
		spans = message(spans, 2, r.Spans[i].marshal())
	}
	return message(message(nil, 1, about), 2, spans)
}

func (s *Span) marshal() []byte {
	b := raw(nil, 1, s.Trace[:])
	b = raw(b, 2, s.ID[:])
	if s.Parent != (SpanID{}) {
		b = raw(b, 4, s.Parent[:])
	}
	b = text(b, 5, s.Name)
	b = number(b, 6, uint64(max(s.Kind, Internal)))
	b = moment(b, 7, s.Start)
	b = moment(b, 8, s.End)
	for _, a := range s.Attrs {
		b = attr(b, 9, a)
	}
	for _, e := range s.Events {
		b = message(b, 11, e.marshal())
	}
	if s.Failed {
		b = message(b, 15, number(text(nil, 2, s.Message), 3, statusError))
	}
	return b
}

// statusError is the code of a span that has failed.
const statusError = 2

func (e Event) marshal() []byte {
	b := text(moment(nil, 1, e.At), 2, e.Name)
	for _, a := range e.Attrs {
		b = attr(b, 3, a)
	}
	return b
}

// attr appends a KeyValue. A value of another type than Attr names is left out.
func attr(b []byte, field protowire.Number, a Attr) []byte {
	var v []byte
	switch x := a.Value.(type) {
	case string:
		v = text(nil, 1, x)
		if v == nil { // an empty text is a value, too
			v = raw(nil, 1, nil)
		}
	case bool:
		v = number(nil, 2, protowire.EncodeBool(x))
	case int64:
		v = number(nil, 3, uint64(x))
	case int:
		v = number(nil, 3, uint64(x))
	case float64:
		v = protowire.AppendFixed64(protowire.AppendTag(nil, 4, protowire.Fixed64Type), math.Float64bits(x))
	default:
		return b
	}
	return message(b, field, message(text(nil, 1, a.Key), 2, v))
}

func raw(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func message(b []byte, field protowire.Number, v []byte) []byte { return raw(b, field, v) }

// text appends a text, which must be valid UTF-8 on the wire. An empty one needs no bytes.
func text(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return raw(b, field, []byte(strings.ToValidUTF8(s, "\uFFFD")))
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
