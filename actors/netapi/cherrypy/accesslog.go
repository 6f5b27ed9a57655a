package cherrypy

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"brine/modules/fleet/door"
	"brine/modules/netapi"
)

// These limits apply to lines in log_access_file that strangers cause.
const (
	strangersBytes = 1 << 20 // of all lines per minute
	strangersLines = 600     // of an address per minute
	shownBytes     = 512     // of a path, of a program's name, of an address
)

// accessLog writes a line for each request, in the combined form of web servers. It omits queries, and text
// that looks like a session, because they may be secret. Requests of users who have not logged in are limited
// in rate. The daemon's log says when lines are omitted.
type accessLog struct {
	f         *os.File // nil: no log. Each line is one write at the end of the file.
	strangers door.Budget
	lines     door.Lines
	log       *slog.Logger
}

func openAccessLog(path string, log *slog.Logger) (*accessLog, error) {
	l := &accessLog{strangers: door.Budget{Bytes: strangersBytes, Lines: strangersLines}, log: log}
	if path == "" {
		return l, nil
	}
	var err error
	if l.f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640); err != nil {
		return nil, fmt.Errorf("log_access_file: %w", err)
	}
	return l, nil
}

// write writes the line for a request. known means that the user has logged in.
func (l *accessLog) write(r *http.Request, rec *recorder, known bool) {
	if l.f == nil {
		return
	}
	referer, _, _ := strings.Cut(r.Referer(), "?")
	line := fmt.Sprintf("%s - - [%s] \"%s %s %s\" %d %d %s %s\n", hostOf(r),
		time.Now().Format("02/Jan/2006:15:04:05 -0700"), begin(r.Method), begin(netapi.LogPath(r.URL.Path)), r.Proto,
		rec.status, rec.bytes, quoted(referer), quoted(r.UserAgent()))
	if !known && !l.room(hostOf(r), len(line)) {
		return
	}
	_, _ = l.f.WriteString(line) // a full disk must not end the service
}

// room tells whether a line for a stranger may be written.
func (l *accessLog) room(from string, bytes int) bool {
	from = door.Network(from)
	if _, ok := l.strangers.Spend(from, bytes); ok {
		return true
	}
	if more, due := l.lines.Due("access", from); due {
		l.log.Warn("requests of a client without a log-in are too fast for log_access_file: some are left out",
			"from", from, "more", more)
	}
	return false
}

// begin returns the beginning of a text.
func begin(text string) string { return text[:min(len(text), shownBytes)] }

// quoted returns the beginning of a text in quotation marks.
func quoted(text string) string { return strconv.Quote(begin(text)) }
