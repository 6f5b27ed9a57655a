package reqserver

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"brine/modules/fleet/door"
	"brine/wire/auth"
	"brine/wire/payload"
)

// load is what one socket of the request port has in its hands, counted where requests come in and are answered.
type load struct {
	bytes atomic.Int64
	crowd door.Crowd   // small requests on connections that have shown nothing
	large atomic.Int64 // bytes of large requests of whom nobody knows yet who sends them
	shed  atomic.Uint64

	open   sync.Map    // the *HandleRequest in clear that are not answered, and those that nobody has looked at
	closed atomic.Bool // nothing more is taken
}

const (
	bigRequest    = 64 << 10 // bytes from which on a request is large
	guestPart     = 2        // one in so many of the requests that may wait, and
	guestBytes    = 4        // of their bytes, is for small ones on connections that have shown nothing
	strangerShare = 4        // a part of so many is for large requests of whom nobody knows yet who sends them
)

// room counts a large request until its sender is known or it is answered, and tells whether there is room for it. One
// alone may be as long as any: it is the first of its connection as a rule.
func (l *load) room(size, most int64) bool {
	if size <= bigRequest {
		return true
	}
	all := l.large.Add(size)
	return all <= most/strangerShare || all == size
}

// leave is told when the sender of a request is known, and when it is answered.
func (l *load) leave(m *HandleRequest, size int64) {
	if m.big && !m.known.Swap(true) {
		l.large.Add(-size)
	}
}

// shows is told when a connection has shown whose it is, and when its request is answered.
func (l *load) shows(m *HandleRequest, size int64) {
	if m.guest && !m.shown.Swap(true) {
		l.crowd.Leave(m.From, size)
	}
}

// begin enters a request; false: nothing more is taken.
func (l *load) begin(m *HandleRequest) bool {
	l.open.Store(m, nil)
	if !l.closed.Load() {
		return true
	}
	_, left := l.open.LoadAndDelete(m)
	return !left // refuse has seen it
}

// pass forgets a request that is not to be refused when the socket ends.
func (l *load) pass(m *HandleRequest) { l.open.Delete(m) }

// end is true for the first answer to a request.
func (l *load) end(m *HandleRequest) bool {
	if m.over.Swap(true) {
		return false
	}
	l.pass(m)
	return true
}

// refuse takes nothing more and refuses what clients wait for: the answers could not reach them after the socket has
// gone, and what has not begun will not. It returns how many there were.
func (l *load) refuse() (n int) {
	l.closed.Store(true)
	l.open.Range(func(key, _ any) bool {
		l.open.Delete(key)
		if m, ok := key.(*HandleRequest); ok && turnAway(m) {
			n++
		}
		return true
	})
	return n
}

// turnAway refuses a request, if a client waits for it. A minion gets no answer: it asks again, of the next socket,
// while it would take a refusal for the answer to its return, which would be lost, and a sign-in for failed.
func turnAway(m *HandleRequest) bool {
	env, err := payload.DecodeRequest(m.Frame)
	if err != nil || env.Enc != payload.EncClear || auth.IsSignIn(env) {
		return false
	}
	if m.begun.Load() {
		m.Reply(msgCutOff)
	} else {
		m.Reply(msgNotBegun)
	}
	return true
}

// Refusals of requests that go with their socket, in a form that Salt's tools show.
var (
	msgNotBegun = mustPack(ErrorReply("SaltClientError", "The master's request server ended before it came to this "+
		"request. Nothing was done."))
	msgCutOff = mustPack(ErrorReply("SaltClientError", "The master's request server ended during this request. "+
		"Whether it was carried out is not known."))
)

// refused counts a request that was refused because there are too many, and says so the 1st, 2nd, 4th, 8th ... time.
func (l *load) refused(log *slog.Logger, where string) {
	if n := l.shed.Add(1); n&(n-1) == 0 {
		log.Error("requests are refused: too many wait", "where", where, "bytes", l.bytes.Load(), "refused", n)
	}
}
