package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"brine/wire/payload"
)

// logstash posts the data of events to a URL, as JSON (salt/engines/http_logstash.py of 3006 and 3007; 3008 has it no
// more).
type logstash struct {
	url  string
	tags []string // globs; nil: all
	funs []string // of events that have a fun; nil: all
}

// postTimeout bounds one request. While it takes, events wait in the queue.
const postTimeout = 30 * time.Second

func newLogstash(f *fields) Engine {
	l := &logstash{url: f.need("url"), tags: f.texts("tags"), funs: f.texts("funs")}
	if u, err := url.Parse(l.url); l.url != "" && (err != nil || u.Host == "" || u.Scheme != "http" &&
		u.Scheme != "https") {
		f.fault("url", l.url, "URL of http or https")
	}
	return l
}

// Run posts one event after the other. One that is not taken is logged and lost, as in Salt.
func (l *logstash) Run(ctx context.Context, s Surroundings) error {
	q := newQueue(l.tags)
	stop, err := s.Daemon.Listen(ctx, q.put)
	if err != nil {
		return err
	}
	defer stop()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	client := &http.Client{Timeout: postTimeout, Transport: transport}
	defer transport.CloseIdleConnections()
	failed := 0
	for {
		tag, data, lost, err := q.next(ctx)
		if err != nil {
			return err
		}
		if lost > 0 {
			s.Log.Warn("events were not sent: they came faster than they are taken", "count", lost)
		}
		if fun, has := data.Get("fun"); has && l.funs != nil && !slices.Contains(l.funs, text(fun)) {
			continue
		}
		if err := l.post(ctx, client, data); err != nil && ctx.Err() == nil {
			if failed++; failed&(failed-1) == 0 {
				s.Log.Error("an event was not taken", "tag", payload.Show(tag), "err", err, "failed", failed)
			}
		}
	}
}

func (l *logstash) post(ctx context.Context, client *http.Client, data *payload.Map) error {
	body, err := jsonLine(data)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body[:len(body)-1]))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer func() { _ = resp.Body.Close() }()                       // nothing of it is wanted
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxLine)) // so that the connection can serve again
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the server answers %s", resp.Status)
	}
	return nil
}

// withoutURL leaves the URL out of an error: it may hold a token.
func withoutURL(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		return whole.Err
	}
	return err
}
