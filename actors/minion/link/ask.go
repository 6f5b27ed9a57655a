package link

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"brine/actors/daemon"
	"brine/supervisor"
	"brine/wire/payload"
)

// Request asks the master something once; Done gets the answer. Nothing is kept. Functions and tools ask so,
// too: Done runs in the goroutine of the request, or in that of who finds the message lost.
type Request struct {
	Load    *payload.Map
	Timeout time.Duration // 0: request_channel_timeout
	Tries   int           // 0: request_channel_tries
	Done    func(v any, err error)
	place   daemon.Place
}

// Lost tells the requester that no answer will come.
func (m *Request) Lost(why error) {
	m.place.Leave()
	if m.Done != nil {
		m.Done(nil, why)
	}
}

// ErrTooMuch is the reason why something was refused.
var ErrTooMuch = errors.New("refused: too much waits already")

// Post hands a request of somebody else to the ReturnSender. Its Done is told at once when too many are under way.
func (l *Link) Post(m *Request) {
	if !l.opt.Asking.Has() {
		l.opt.Asking.Refused()
		m.Lost(ErrTooMuch)
		return
	}
	m.place.Enter(l.opt.Asking, 0)
	l.sender.Send(m)
}

// Carry carries out a request for the ReturnSender, which it does not hold up.
func (l *Link) Carry(ctx supervisor.Context, m *Request) {
	if m.Timeout == 0 {
		m.Timeout = l.times.Load().RequestChannelTimeout
	}
	if m.Tries == 0 {
		m.Tries = l.times.Load().RequestChannelTries
	}
	supervisor.Go(ctx, "request", func(ctx context.Context) error {
		defer m.place.Leave()
		v, err := l.Ask(ctx, m.Load, m.Timeout, m.Tries)
		if m.Done != nil {
			m.Done(v, err)
		}
		return nil
	})
}

// EventLoad is the request by which a minion puts an event on the master's bus.
func EventLoad(id, tag string, data any) *payload.Map {
	return payload.M("id", id, "cmd", payload.CmdMinionEvent, "pretag", nil, "tag", tag, "data", data)
}

// LogFailure says in the log that a request came to nothing, for a Request of which nobody wants the answer.
func LogFailure(log *slog.Logger, what string) func(any, error) {
	return func(v any, err error) {
		if err == nil {
			err = payload.Taken(v)
		}
		if err != nil {
			log.Error("request to the master failed", "cmd", what, "err", err)
		}
	}
}
