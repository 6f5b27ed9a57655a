package netapi

import (
	"io"
	"net/http"
	"time"
)

// Bounds of what is taken of a body that nobody wants.
const (
	lingerLeast  = 256 << 10 // what is less net/http reads itself
	lingerMost   = 64 << 20
	lingerWithin = 5 * time.Second
	lingerSilent = time.Second // without a byte
)

// Lingering answers at once when a handler does not want the body of a request, and reads what still comes after the
// answer, within bounds: a client that sends all the same when the connection is closed sees that alone, and not the
// answer.
func Lingering(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < lingerLeast {
			h.ServeHTTP(w, r)
			return
		}
		body := &unread{ReadCloser: r.Body, left: r.ContentLength}
		r = r.WithContext(r.Context()) // the server keeps its own
		r.Body = body
		early := &earlyWriter{ResponseWriter: w, body: body}
		h.ServeHTTP(early, r)
		if early.closes && r.Header.Get("Expect") == "" { // who expects to be asked sends nothing then
			linger(http.NewResponseController(w), body)
		}
	})
}

// unread knows how much of a body has not come yet.
type unread struct {
	io.ReadCloser
	left int64
}

// Read counts.
func (u *unread) Read(b []byte) (int, error) {
	n, err := u.ReadCloser.Read(b)
	u.left -= int64(n)
	return n, err
}

// Close leaves the body to who lingers, or to the server.
func (u *unread) Close() error { return nil }

// earlyWriter closes the connection after an answer that comes before the body.
type earlyWriter struct {
	http.ResponseWriter
	body          *unread
	begun, closes bool
}

// WriteHeader begins the answer.
func (e *earlyWriter) WriteHeader(status int) {
	if !e.begun && status >= http.StatusOK {
		e.begun = true
		if e.body.left >= lingerLeast {
			// else the server would read on before it answers
			e.closes = http.NewResponseController(e.ResponseWriter).EnableFullDuplex() == nil
			e.Header().Set("Connection", "close")
		}
	}
	e.ResponseWriter.WriteHeader(status)
}

// Write begins the answer, too.
func (e *earlyWriter) Write(b []byte) (int, error) {
	if !e.begun {
		e.WriteHeader(http.StatusOK)
	}
	return e.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (e *earlyWriter) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// linger sends the answer and takes what is left of the body.
func linger(ctl *http.ResponseController, body *unread) {
	if ctl.Flush() != nil {
		return
	}
	end := time.Now().Add(lingerWithin)
	buf := make([]byte, 32<<10)
	for taken := 0; taken < lingerMost && body.left > 0; {
		now := time.Now()
		if !now.Before(end) || ctl.SetReadDeadline(minTime(end, now.Add(lingerSilent))) != nil {
			return
		}
		n, err := body.Read(buf)
		if taken += n; err != nil {
			return
		}
	}
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
