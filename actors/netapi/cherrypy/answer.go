package cherrypy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"html"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"brine/modules/netapi"
	"brine/wire/payload"
)

// finish writes the answer of a handler: its value in a form that the client accepts, or an error.
func (c *call) finish(err error, v any) error {
	var known *netapi.Error
	switch {
	case err == nil:
	case errors.As(err, &known):
		return known
	case c.ctx.Err() != nil:
		return err
	default:
		c.logFailure(err)
		c.status = http.StatusInternalServerError
		text := "An unexpected error occurred"
		if c.conf.Debug {
			text = err.Error()
		}
		v = payload.M("status", int64(c.status), "return", text)
	}
	kind, err := netapi.Negotiate(c.accept(), netapi.TypeJSON, netapi.TypeYAML)
	if err != nil {
		return err
	}
	out, err := netapi.Write(kind, v)
	if err != nil {
		return err
	}
	c.setCookie()
	c.write(c.status, kind, out)
	return nil
}

// logFailure logs an error that the client does not see. An error that any stranger can cause gets a low level.
func (c *call) logFailure(err error) {
	level := slog.LevelError
	if errors.Is(err, netapi.ErrUnexpected) {
		level = slog.LevelDebug
	}
	c.log.Log(c.ctx, level, "a request failed", "from", c.remote(), "path", netapi.LogPath(c.path), "err", err)
}

// accept returns the whole Accept header.
func (c *call) accept() string { return strings.Join(c.r.Header.Values("Accept"), ", ") }

// fail writes the page of an error.
func (c *call) fail(err error) {
	var known *netapi.Error
	if !errors.As(err, &known) {
		known = &netapi.Error{Status: http.StatusInternalServerError}
		if c.ctx.Err() == nil { // otherwise the client is most probably gone
			c.logFailure(err)
		}
	}
	if c.res != nil {
		c.setCookie()
	}
	page := known.Page()
	if netapi.AcceptsGzip(strings.Join(c.r.Header.Values("Accept-Encoding"), ", ")) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write(page)
		if err = errors.Join(err, z.Close()); err == nil {
			c.head.Set("Content-Encoding", "gzip")
			page = b.Bytes()
		}
	}
	c.write(known.Status, "text/html;charset=utf-8", page)
}

// These limits apply to answers: after a grace time, a client that reads more slowly than the given bytes per
// second is cut.
const (
	writeGrace = 30 * time.Second
	writeSpeed = 16 << 10
)

// write sends an answer.
func (c *call) write(status int, kind string, body []byte) {
	if kind != "" {
		c.head.Set("Content-Type", kind)
	}
	c.head.Set("Content-Length", strconv.Itoa(len(body)))
	limit := time.Now().Add(writeGrace + time.Duration(len(body)/writeSpeed)*time.Second)
	ctl := http.NewResponseController(c.w)
	timed := ctl.SetWriteDeadline(limit) == nil
	c.w.WriteHeader(status)
	if c.r.Method == http.MethodHead {
		return
	}
	if _, err := c.w.Write(body); err == nil && timed {
		if ctl.Flush() == nil {
			_ = ctl.SetWriteDeadline(time.Time{}) // the connection may serve a further request
		}
	}
}

func link(to string) string {
	to = html.EscapeString(to)
	return "<a href=\"" + to + "\">" + to + "</a>"
}
