package events

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"brine/actors/netapi/aside"
	"brine/modules/netapi/feed"
)

// retryLine is the first line of each stream. It tells a browser after how many milliseconds it may reconnect.
const retryLine = "retry: 400\n"

// These are the types of the answer. rest_cherrypy's server adds a charset to every text type.
const (
	typeCherryPy = "text/event-stream;charset=utf-8"
	typeTornado  = "text/event-stream"
)

// ServeSSE answers a request with the stream of events, until the client goes away, its token ends or it is too
// slow. It also sends headers that are set already. It returns an error only before the answer has begun.
//
// rest_cherrypy sends each line of an event as a separate chunk, rest_tornado each event as one chunk. If
// ServeSSE can take over the connection, it writes all waiting events at once and keeps no resources of the
// HTTP server.
func (h *Hub) ServeSSE(w http.ResponseWriter, r *http.Request, reader Reader, style Style) error {
	defer reader.close()
	header := w.Header()
	header.Set("Content-Type", typeCherryPy)
	if style == Tornado {
		header.Set("Content-Type", typeTornado)
	}
	header.Set("Cache-Control", "no-cache")
	header.Set("Connection", "keep-alive")
	if !r.ProtoAtLeast(1, 1) || r.ProtoMajor > 1 {
		return h.plainSSE(w, r, reader)
	}
	conn, err := seize(w)
	if errors.Is(err, http.ErrNotSupported) {
		return h.plainSSE(w, r, reader)
	}
	if err != nil {
		return err
	}
	h.chunkedSSE(r.Context(), conn, header, reader, style)
	return nil
}

// chunkedSSE writes to a connection of HTTP/1.1.
func (h *Hub) chunkedSSE(ctx context.Context, conn net.Conn, header http.Header, reader Reader, style Style) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	read := make(chan struct{})
	aside.Go(h.opt.Log, "reader", cancel, func() {
		defer close(read)
		cancel(discard(conn))
	})
	out := &writer{hub: h, conn: conn}
	err := out.flush(appendChunk(appendHead(nil, http.StatusOK, header, "Transfer-Encoding: chunked"), retryLine))
	if err == nil {
		err = pump(ctx, reader, func(got []*feed.Event) error { return out.events(got, style.chunks) })
	}
	if orderly(err) {
		_ = out.flush([]byte("0\r\n\r\n")) // the connection ends in any case
	}
	_ = conn.Close() // the client notices it
	<-read
	h.ended(reader, err)
}

// appendHead appends a status line and headers.
func appendHead(b []byte, status int, header http.Header, more ...string) []byte {
	var text strings.Builder
	text.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	setDate(header)
	_ = header.Write(&text) // a strings.Builder has no errors
	for _, line := range more {
		text.WriteString(line + "\r\n")
	}
	return append(append(b, text.String()...), "\r\n"...)
}

func setDate(header http.Header) {
	if header.Get("Date") == "" {
		header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
}

// chunks appends an event as chunks.
func (s Style) chunks(b []byte, e *feed.Event) []byte {
	json := e.JSON()
	if json == "" {
		return b
	}
	tag := "tag: " + oneLine(e.Tag) + "\n"
	if s == CherryPy {
		return appendChunk(appendChunk(b, tag), "data: ", json, "\n\n")
	}
	return appendChunk(b, tag, "data: ", json, "\n\n")
}

// oneLine keeps a tag on one line, because anyone on the bus may choose it. The data contains the original tag.
func oneLine(tag string) string {
	if !strings.ContainsAny(tag, "\r\n") {
		return tag
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(tag)
}

func appendChunk(b []byte, parts ...string) []byte {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	b = append(strconv.AppendInt(b, int64(n), 16), "\r\n"...)
	for _, p := range parts {
		b = append(b, p...)
	}
	return append(b, "\r\n"...)
}

// plainSSE writes through the HTTP server, for HTTP/1.0, HTTP/2 and wrapped writers.
func (h *Hub) plainSSE(w http.ResponseWriter, r *http.Request, reader Reader) error {
	control := http.NewResponseController(w)
	w.Header().Del("Connection") // here the server sets it
	w.WriteHeader(http.StatusOK)
	write := func(text string) error {
		_ = control.SetWriteDeadline(time.Now().Add(writePatience)) // on an error the server's own timeouts apply
		_, err := w.Write([]byte(text))
		return err
	}
	err := write(retryLine)
	if err == nil {
		err = control.Flush()
	}
	if err == nil {
		err = pump(r.Context(), reader, func(got []*feed.Event) error {
			for _, e := range got {
				if json := e.JSON(); json != "" {
					if err := write("tag: " + oneLine(e.Tag) + "\ndata: " + json + "\n\n"); err != nil {
						return err
					}
				}
			}
			return control.Flush()
		})
	}
	h.ended(reader, err)
	return nil
}
