package engines

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestLogstash: the data of events that are wanted arrive as JSON; one that is not taken is told, and the next is sent.
func TestLogstash(t *testing.T) {
	got := make(chan string, 100)
	status := http.StatusInternalServerError
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
		status = http.StatusOK
		got <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(b)
	}))
	defer server.Close()
	r := begin(t, newFake(t),
		fmt.Sprintf("[{http_logstash: {url: %q, tags: ['salt/job/*', other], funs: [test.ping]}}]", server.URL+"/in"))
	sink := <-r.listen
	put(t, sink, "salt/job/1/ret/a", payload.M("fun", "test.ping", "n", int64(1), "_stamp", "s"))
	put(t, sink, "salt/job/2/ret/a", payload.M("fun", "cmd.run", "_stamp", "s"))
	put(t, sink, "not/wanted", payload.M("_stamp", "s"))
	put(t, sink, "other", payload.M("text", "é", "bytes", []byte("b"), "_stamp", "s"))
	for _, want := range []string{`{"fun": "test.ping", "n": 1, "_stamp": "s"}`,
		`{"text": "é", "bytes": "b", "_stamp": "s"}`} {
		select {
		case one := <-got:
			if one != "POST /in application/json "+want {
				t.Errorf("got %s, want %s", one, want)
			}
		case <-time.After(patience):
			t.Fatal("no request came")
		}
	}
	r.logs("500 Internal Server Error")
}

// TestTestEngine: events are written to the log at debug.
func TestTestEngine(t *testing.T) {
	r := begin(t, newFake(t), "[test]")
	put(t, <-r.listen, "a/b", payload.M("k", "v", "_stamp", "s"))
	r.logs(`level=DEBUG msg="{\"k\": \"v\", \"_stamp\": \"s\"}"`)
}

// TestQueue: the oldest events go when there are too many, or too large ones, and are counted.
func TestQueue(t *testing.T) {
	q := newQueue([]string{"a/*"})
	for i := range queueMost + 10 {
		put(t, q.put, "a/b", payload.M("n", int64(i)))
	}
	put(t, q.put, "b", payload.M("n", int64(-1)))
	_, data, lost, err := q.next(t.Context())
	if err != nil || lost != 10 || data.Value("n") != int64(10) {
		t.Errorf("got %v, %d lost, %v", data, lost, err)
	}
	large := payload.M("x", make([]byte, queueBytes/2))
	for range 3 {
		q.put("a/none", []byte("no event")) // what was lost before it is told with the next one
		put(t, q.put, "a/large", large)
	}
	if _, _, lost, _ = q.next(t.Context()); lost != queueMost+3 || q.bytes > queueBytes {
		t.Errorf("%d lost, %d bytes", lost, q.bytes)
	}
}

// TestLogstashSecrets: neither a URL that is none nor a server that is not there has what the URL holds told.
func TestLogstashSecrets(t *testing.T) {
	f := &fields{m: payload.M("url", "ftp://me:hunter2@host/")}
	newLogstash(f)
	if err := errors.Join(f.wrong...); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
	l := &logstash{url: "http://me:hunter2@127.0.0.1:1/?token=hunter2"}
	if err := l.post(t.Context(), http.DefaultClient, payload.M("a", "b")); err == nil || strings.Contains(err.Error(),
		"hunter2") {
		t.Errorf("got %v", err)
	}
}
