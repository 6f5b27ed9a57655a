package otlp

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

var (
	at    = time.Unix(1715947200, 123456789)
	trace = TraceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

func sample() []Resource {
	return []Resource{
		{Attrs: []Attr{{"service.name", "salt-master"}}, Spans: []Span{
			{Trace: trace, ID: SpanID{1}, Name: "salt.req.recv.publish", Kind: Server, Start: at,
				End: at.Add(time.Millisecond),
				Attrs: []Attr{{"s", "text"}, {"empty", ""}, {"i", int64(-5)}, {"n", 7}, {"f", 0.5}, {"b", true},
					{"odd", []int{1}}, {"utf", "a\xffb"}}},
			{Trace: trace, ID: SpanID{2}, Parent: SpanID{1}, Name: "failed", Start: at, End: at, Failed: true,
				Message: "why",
				Events:  []Event{{At: at, Name: "event", Attrs: []Attr{{"k", "v"}}}}},
		}},
		{Attrs: []Attr{{"service.name", "salt-minion-m1"}}},
	}
}

func str(key, v string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key,
		Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v}}}
}

func integer(key string, v int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v}}}
}

// TestMarshal reads the output with OpenTelemetry's own definitions. TracesData has the fields of a request.
func TestMarshal(t *testing.T) {
	var got tracepb.TracesData
	if err := proto.Unmarshal(Marshal("brine", "1", sample()), &got); err != nil {
		t.Fatal(err)
	}
	scope := &commonpb.InstrumentationScope{Name: "brine", Version: "1"}
	nano := uint64(at.UnixNano())
	want := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{
		{
			Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{str("service.name", "salt-master")}},
			ScopeSpans: []*tracepb.ScopeSpans{{Scope: scope, Spans: []*tracepb.Span{
				{TraceId: trace[:], SpanId: []byte{1, 0, 0, 0, 0, 0, 0, 0}, Name: "salt.req.recv.publish",
					Kind: tracepb.Span_SPAN_KIND_SERVER, StartTimeUnixNano: nano, EndTimeUnixNano: nano + 1e6,
					Attributes: []*commonpb.KeyValue{
						str("s", "text"), str("empty", ""), integer("i", -5), integer("n", 7),
						{Key: "f", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: 0.5}}},
						{Key: "b", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}}},
						str("utf", "a\uFFFDb")}},
				{TraceId: trace[:], SpanId: []byte{2, 0, 0, 0, 0, 0, 0, 0}, ParentSpanId: []byte{1, 0, 0, 0, 0, 0, 0,
					0}, Name: "failed", Kind: tracepb.Span_SPAN_KIND_INTERNAL, StartTimeUnixNano: nano,
					EndTimeUnixNano: nano,
					Status:          &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "why"},
					Events: []*tracepb.Span_Event{{TimeUnixNano: nano, Name: "event",
						Attributes: []*commonpb.KeyValue{str("k", "v")}}}},
			}}},
		},
		{
			Resource:   &resourcepb.Resource{Attributes: []*commonpb.KeyValue{str("service.name", "salt-minion-m1")}},
			ScopeSpans: []*tracepb.ScopeSpans{{Scope: scope}},
		},
	}}
	if diff := cmp.Diff(want, &got, protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParent(t *testing.T) {
	const good = "00-0102030405060708090a0b0c0d0e0f10-0100000000000000-01"
	p, ok := ParseParent(good)
	if !ok || p.Trace != trace || p.Span != (SpanID{1}) || !p.Sampled || p.String() != good {
		t.Errorf("got %+v, %v, %s", p, ok, p)
	}
	if p, ok := ParseParent("cc" + good[2:] + "-more"); !ok || p.Trace != trace {
		t.Errorf("a later version: got %+v, %v", p, ok)
	}
	if p, ok := ParseParent(good[:53] + "02"); !ok || p.Sampled || p.String() != good[:53]+"00" {
		t.Errorf("not sampled: got %+v, %v", p, ok)
	}
	for _, bad := range []string{"", "00", good + "-more", "ff" + good[2:], strings.ToUpper(good), good[:54] + "x",
		"00-" + strings.Repeat("0", 32) + good[35:], good[:36] + strings.Repeat("0", 16) + good[52:],
		strings.Replace(good, "-", "0", 1), good[:3] + "-" + good[3:54]} {
		if p, ok := ParseParent(bad); ok {
			t.Errorf("%q: got %+v", bad, p)
		}
	}
}

func FuzzParseParent(f *testing.F) {
	f.Add("00-0102030405060708090a0b0c0d0e0f10-0100000000000000-01")
	f.Add("cc-0102030405060708090a0b0c0d0e0f10-0100000000000000-01-x")
	f.Fuzz(func(t *testing.T, text string) {
		if p, ok := ParseParent(text); ok && text[:2] == "00" && p.String()[:53] != text[:53] {
			t.Errorf("%q became %s", text, p)
		}
	})
}

// answer is the answer of a collector.
type answer struct {
	code  int
	after string
	body  []byte
}

func TestPost(t *testing.T) {
	rejected := raw(nil, 1, text(number(nil, 1, 3), 2, "too old"))
	for _, tt := range []struct {
		name   string
		answer answer
		check  func(err error) bool
	}{
		{"taken", answer{code: 200}, func(err error) bool { return err == nil }},
		{"taken, nonsense in the answer", answer{code: 202, body: []byte{0xff, 1, 2}}, func(err error) bool {
			return err == nil
		}},
		{"a warning", answer{code: 200, body: raw(nil, 1, text(nil, 2, "slow down"))}, func(err error) bool {
			return err == nil
		}},
		{"some are rejected", answer{code: 200, body: rejected}, func(err error) bool {
			return errors.Is(err, ErrRejected) && strings.Contains(err.Error(), "3, too old")
		}},
		{"bad request", answer{code: 400}, func(err error) bool { return errors.Is(err, ErrRejected) }},
		{"redirected nowhere", answer{code: 304}, func(err error) bool { return errors.Is(err, ErrRejected) }},
		{"too many", answer{code: 429, after: "7"}, wants(7 * time.Second)},
		{"far too many", answer{code: 503, after: "999999"}, wants(maxWait)},
		{"a date", answer{code: 502, after: "Fri, 17 May 2024 12:00:00 GMT"}, wants(0)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var body []byte
			var header http.Header
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ = io.ReadAll(r.Body)
				header = r.Header
				if tt.answer.after != "" {
					w.Header().Set("Retry-After", tt.answer.after)
				}
				w.WriteHeader(tt.answer.code)
				_, _ = w.Write(tt.answer.body)
			}))
			defer server.Close()
			c := &Collector{URL: server.URL + "/v1/traces", Headers: http.Header{"X-Scope": {"a"}},
				HTTP: server.Client()}
			if err := c.Post(context.Background(), []byte("spans")); !tt.check(err) {
				t.Errorf("got %v", err)
			}
			if !bytes.Equal(body, []byte("spans")) || header.Get("Content-Type") != "application/x-protobuf" ||
				header.Get("X-Scope") != "a" {
				t.Errorf("got %q with %v", body, header)
			}
		})
	}
}

func wants(d time.Duration) func(error) bool {
	return func(err error) bool {
		var retry *RetryError
		return errors.As(err, &retry) && retry.After == d
	}
}

func TestPostToNobody(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c := &Collector{URL: server.URL, HTTP: server.Client()}
	if err := c.Post(context.Background(), nil); !wants(0)(err) {
		t.Errorf("got %v", err)
	}
	c.URL = "::"
	if err := c.Post(context.Background(), nil); err == nil || wants(0)(err) {
		t.Errorf("a URL that is none: got %v", err)
	}
}

func FuzzPartial(f *testing.F) {
	f.Add(raw(nil, 1, text(number(nil, 1, 3), 2, "too old")))
	f.Add([]byte{0x0a})
	seed, _ := hex.DecodeString("0d000000000a0208")
	f.Add(seed)
	f.Fuzz(func(_ *testing.T, reply []byte) { _ = partial(reply) })
}

func BenchmarkMarshal(b *testing.B) {
	r := sample()
	b.ReportAllocs()
	for b.Loop() {
		Marshal("brine", "1", r)
	}
}
