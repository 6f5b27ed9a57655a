package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// DefaultURL is the collector on this machine.
const DefaultURL = "http://localhost:4318/v1/traces"

// ErrRejected means that the collector has refused some spans for good.
var ErrRejected = errors.New("otlp: the collector has rejected spans")

// RetryError means that the collector may accept the same spans later.
type RetryError struct {
	After time.Duration // the pause that the collector asks for; 0: none
	Err   error
}

func (e *RetryError) Error() string { return "otlp: " + e.Err.Error() }
func (e *RetryError) Unwrap() error { return e.Err }

// Collector accepts spans at a URL.
type Collector struct {
	URL     string
	Headers http.Header
	HTTP    *http.Client
}

// maxReply is how much of an answer is read, in bytes.
const maxReply = 64 << 10

// Post delivers the output of Marshal. Errors: *RetryError if the caller may try again; ErrRejected and all others are
// final.
func (c *Collector) Post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("otlp: %w", err)
	}
	for name, values := range c.Headers {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	res, err := c.HTTP.Do(req)
	if err != nil {
		return &RetryError{Err: err}
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	switch {
	case res.StatusCode/100 == 2 && err == nil:
		return partial(reply)
	case res.StatusCode/100 == 2:
		return nil // the collector has the spans; only its remarks about them are lost
	case retryable(res.StatusCode):
		return &RetryError{After: retryAfter(res.Header.Get("Retry-After")), Err: errors.New(res.Status)}
	}
	return fmt.Errorf("%w: %s", ErrRejected, res.Status)
}

// retryable tells whether OTLP wants the same request again after an answer.
func retryable(code int) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// maxWait bounds the pause that a collector can ask for.
const maxWait = 5 * time.Minute

func retryAfter(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(n)*time.Second, maxWait)
}

// partial reads an ExportTraceServiceResponse: {partial_success: {rejected_spans, error_message}}. Any other reply
// counts as a success, because the collector has accepted the spans.
func partial(reply []byte) error {
	inner, _ := field(reply, 1)
	_, n := field(inner, 1)
	if n == 0 {
		return nil
	}
	why, _ := field(inner, 2)
	return fmt.Errorf("%w: %d, %s", ErrRejected, int64(n), why)
}

// field finds a field of a message: its bytes, or its number.
func field(b []byte, want protowire.Number) (v []byte, n uint64) {
	for len(b) > 0 {
		num, typ, size := protowire.ConsumeTag(b)
		if size < 0 {
			return nil, 0
		}
		b = b[size:]
		if num != want || typ != protowire.BytesType && typ != protowire.VarintType {
			if size = protowire.ConsumeFieldValue(num, typ, b); size < 0 {
				return nil, 0
			}
			b = b[size:]
			continue
		}
		if typ == protowire.VarintType {
			if n, size = protowire.ConsumeVarint(b); size < 0 {
				return nil, 0
			}
			return nil, n
		}
		if v, size = protowire.ConsumeBytes(b); size < 0 {
			return nil, 0
		}
		return v, 0
	}
	return nil, 0
}
