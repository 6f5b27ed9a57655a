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

// Bounds of log_access_file: what strangers can make it say.
const (
	strangersBytes = 1 << 20 // of all lines in a minute
	strangersLines = 600     // of an address in a minute
	shownBytes     = 512     // of a path, of a name of a program, of an address
)

// accessLog writes a line for each request, in the combined form of web servers. Queries are left out, and what looks
// like a session: they may be secrets. Requests of people who have not logged in have a rate; the log of the daemon
// says when some are left out.
type accessLog struct {
	f         *os.File // nil: there is none. Each line is one write at its end.
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

// write writes the line of a request. known says that somebody has made it who has logged in.
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

// room tells whether a line about a stranger may be written.
func (l *accessLog) room(from string, bytes int) bool {
	from = door.Network(from)
	if _, ok := l.strangers.Spend(from, bytes); ok {
		return true
	}
	if more, due := l.lines.Due("access", from); due {
		l.log.Warn("requests of somebody who has not logged in come too fast for log_access_file: some are left out",
			"from", from, "more", more)
	}
	return false
}

// begin is the beginning of a text.
func begin(text string) string { return text[:min(len(text), shownBytes)] }

// quoted is the beginning of a text in quotation marks.
func quoted(text string) string { return strconv.Quote(begin(text)) }
