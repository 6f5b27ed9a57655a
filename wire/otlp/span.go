// Package otlp writes spans in the form of the OpenTelemetry protocol (OTLP, traces, protobuf over HTTP) and delivers
// them. It holds no queue, makes no spans and reads no clock: its callers decide what is traced and when it is sent. It
// stands for the exporter otlp-http of salt/utils/tracing.py. Field numbers are those of
// opentelemetry/proto/trace/v1/trace.proto, version 1.
//
// The package is written by hand because the exporter of OpenTelemetry links gRPC: 7 MB that nothing else needs.
package otlp

import (
	"encoding/hex"
	"strings"
	"time"
)

// TraceID and SpanID name a trace and a span in it. The zero value is none.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

// Kind is the role of a span in an exchange.
type Kind int

// The kinds.
const (
	Internal Kind = iota + 1
	Server
	Client
	Producer
	Consumer
)

// Attr is one attribute. The value is a string, a bool, an int64, an int or a float64; other types are left out.
type Attr struct {
	Key   string
	Value any
}

// Event is a moment in a span.
type Event struct {
	At    time.Time
	Name  string
	Attrs []Attr
}

// Span is one piece of work.
type Span struct {
	Trace      TraceID
	ID, Parent SpanID
	Name       string
	Kind       Kind // Internal when 0
	Start, End time.Time
	Attrs      []Attr
	Events     []Event
	Failed     bool
	Message    string // why it failed
}

// Resource is a process and the spans that it recorded.
type Resource struct {
	Attrs []Attr
	Spans []Span
}

// Parent is the context that a trace continues (W3C Trace Context, traceparent).
type Parent struct {
	Trace   TraceID
	Span    SpanID
	Sampled bool
}

// parentLen is the length of a traceparent of version 00, VERSION-TRACE-SPAN-FLAGS in hexadecimal; flagSampled is a bit
// of its flags.
const (
	parentLen   = 55
	flagSampled = 1
)

// ParseParent reads a traceparent; false if it is invalid. Of a version after 00 it reads the known part.
func ParseParent(text string) (p Parent, ok bool) {
	if len(text) < parentLen || len(text) > parentLen && (text[:2] == "00" || text[parentLen] != '-') {
		return Parent{}, false
	}
	parts := strings.Split(text[:parentLen], "-")
	if len(parts) != 4 || strings.ToLower(text[:parentLen]) != text[:parentLen] || parts[0] == "ff" {
		return Parent{}, false
	}
	var version, flags [1]byte
	for i, to := range [][]byte{version[:], p.Trace[:], p.Span[:], flags[:]} {
		if len(parts[i]) != 2*len(to) {
			return Parent{}, false
		}
		if _, err := hex.Decode(to, []byte(parts[i])); err != nil {
			return Parent{}, false
		}
	}
	if p.Trace == (TraceID{}) || p.Span == (SpanID{}) {
		return Parent{}, false
	}
	p.Sampled = flags[0]&flagSampled != 0
	return p, true
}

// String is the traceparent.
func (p Parent) String() string {
	flags := "-00"
	if p.Sampled {
		flags = "-01"
	}
	return "00-" + hex.EncodeToString(p.Trace[:]) + "-" + hex.EncodeToString(p.Span[:]) + flags
}
