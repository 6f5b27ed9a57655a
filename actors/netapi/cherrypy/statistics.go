package cherrypy

import (
	"net/http"
	"sync/atomic"
	"time"

	"brine/wire/payload"
)

// recorder notes the status and size of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader notes the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap serves http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// statistics counts requests if collect_stats is set.
type statistics struct {
	since                                   time.Time
	on                                      bool
	total, now, read, bytes, failed, tookUS atomic.Int64
}

func newStatistics(on bool) *statistics { return &statistics{since: time.Now(), on: on} }

func (s *statistics) begin() time.Time {
	if s.on {
		s.total.Add(1)
		s.now.Add(1)
	}
	return time.Now()
}

func (s *statistics) end(began time.Time, r *http.Request, rec *recorder) {
	if !s.on {
		return
	}
	s.now.Add(-1)
	s.read.Add(max(r.ContentLength, 0))
	s.bytes.Add(rec.bytes)
	s.tookUS.Add(time.Since(began).Microseconds())
	if rec.status >= http.StatusInternalServerError {
		s.failed.Add(1)
	}
}

// shown returns the content of /stats, with both kinds of keys of Salt's server. Without collect_stats the
// counts are 0. Unlike Salt: there is no list of single requests with the addresses of their clients.
func (s *statistics) shown() *payload.Map {
	up, total, read, written := max(time.Since(s.since).Seconds(), 1e-3), s.total.Load(), s.read.Load(), s.bytes.Load()
	each := float64(max(total, 1))
	return payload.M(
		"CherryPy Applications", payload.M("Enabled", true, "Bytes Read/Request", float64(read)/each,
			"Bytes Read/Second", float64(read)/up, "Bytes Written/Request", float64(written)/each,
			"Bytes Written/Second", float64(written)/up, "Current Time", float64(time.Now().UnixMicro())/1e6,
			"Current Requests", s.now.Load(), "Requests/Second", float64(total)/up, "Server Version", "brine",
			"Start Time", float64(s.since.UnixMicro())/1e6, "Total Bytes Read", read, "Total Bytes Written", written,
			"Total Requests", total, "Total Time", float64(s.tookUS.Load())/1e6, "Uptime", up),
		"Cheroot HTTPServer 1", payload.M("Enabled", s.on, "Requests", total, "Server Errors", s.failed.Load(),
			"Run time", up))
}
