package meter

import (
	"strings"
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/payload"
)

// fun is the label of a function, or of the list of several.
func (m *Meter) fun(v any) string {
	if name, ok := v.(string); ok && m.functions[name] {
		return name
	}
	return other
}

// Job counts a job that is sent to minions.
func (m *Meter) Job(fun any) {
	if m != nil {
		m.published.WithLabelValues(m.fun(fun)).Inc()
	}
}

// Ret counts a return. began is when its job was announced; 0: it is not known.
func (m *Meter) Ret(ret *payload.Return, began, now ledger.Stamp) {
	if m == nil {
		return
	}
	fun, success := m.fun(ret.Fun()), "true"
	if good, said := ret.Success(); said && !good {
		success = "false"
	}
	m.completed.WithLabelValues(fun, success).Inc()
	if began != 0 {
		m.jobSeconds.WithLabelValues(fun).Observe(max(now.Sub(began), 0).Seconds())
	}
}

// signInResults are Salt's words for the outcomes of a sign-in, and two of ours: Salt counts a key that is pending as
// a success, and one that is denied as rejected.
var signInResults = map[string]string{
	auth.ActAccept: "success", auth.ActFull: "max_minions", auth.ActReject: "rejected", auth.ActPend: "pending",
	auth.ActDenied: "denied",
}

// SignIn counts a sign-in by what came of it.
func (m *Meter) SignIn(act string) {
	if m == nil {
		return
	}
	result, known := signInResults[act]
	if !known {
		result = resultError
	}
	m.signIns.WithLabelValues(result).Inc()
}

// Event counts a packed event by the first word of its tag that is not "salt".
func (m *Meter) Event(body []byte) {
	if m != nil {
		m.events.WithLabelValues(tagPrefix(event.Tag(body))).Inc()
	}
}

// tagPrefixes are those of events that master, minions and tools fire themselves.
var tagPrefixes = map[string]bool{
	"auth": true, "batch": true, "beacon": true, "brine": true, "cloud": true, "engine": true, "job": true, "key": true,
	"minion": true, "presence": true, "reactor": true, "run": true, "stats": true, "syndic": true, "wheel": true,
}

func tagPrefix(tag string) string {
	first, rest, _ := strings.Cut(tag, "/")
	if first == "salt" {
		first, _, _ = strings.Cut(rest, "/")
	}
	switch {
	case tagPrefixes[first]:
		return first
	case payload.IsJID(first): // the short event of a new job
		return "job"
	}
	return other
}

// Request counts a request that a worker has had in hand since start.
func (m *Meter) Request(cmd, pool string, start, now time.Time) {
	if m == nil {
		return
	}
	if cmd != payload.CmdAuth && !m.command(cmd) {
		cmd = other
	}
	m.handled.WithLabelValues(cmd, pool).Inc()
	m.requestSeconds.WithLabelValues(cmd).Observe(now.Sub(start).Seconds())
}

// Taken counts the wait of a request that came at at.
func (m *Meter) Taken(pool string, at, now time.Time) {
	if m != nil {
		m.waitSeconds.WithLabelValues(pool).Observe(now.Sub(at).Seconds())
	}
}

// Fail counts a request that was not answered as its sender hoped.
func (m *Meter) Fail(reason string) {
	if m != nil {
		m.failed.WithLabelValues(reason).Inc()
	}
}

// Answered counts the answer to a request that came at at.
func (m *Meter) Answered(at time.Time) {
	if m != nil {
		m.answerSeconds.Observe(time.Since(at).Seconds())
	}
}

// Waiting notes how many requests wait for a worker of a pool.
func (m *Meter) Waiting(pool, n int) {
	if m != nil {
		m.queued[pool].Store(int64(n))
	}
}

// Committed counts a commit of the job store that began at began.
func (m *Meter) Committed(entries int, began time.Time, err error) {
	if m == nil {
		return
	}
	result := resultOK
	if err != nil {
		result = resultError
	}
	m.commits.WithLabelValues(result).Inc()
	m.commitSeconds.Observe(time.Since(began).Seconds())
	m.commitEntries.Observe(float64(entries))
}

// Opened says which bus is open.
func (m *Meter) Opened(b *bus.Bus) {
	if m != nil {
		m.bus.Store(b)
	}
}

// Traced counts n spans.
func (m *Meter) Traced(result string, n int) {
	if m != nil {
		m.spans.WithLabelValues(result).Add(float64(n))
	}
}
