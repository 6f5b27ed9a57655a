package workers

import (
	"errors"
	"time"

	"brine/modules/eauth"
	"brine/wire/auth"
	"brine/wire/payload"
)

// identity is who asks, as fields tell. A log-in that was made already is not made again.
func (c *console) identity(r *call, fields *payload.Map) (*eauth.Identity, error) {
	if l := r.req.Login; l != nil {
		return l.ID, l.Err
	}
	return r.rules.Eauth.Check(fields, r.req.From)
}

// refuse answers who could not be authenticated, as late as the failure is to be.
func (c *console) refuse(r *call, err error, v any) (any, error) {
	var denied *eauth.Denied
	if !errors.As(err, &denied) {
		return nil, err
	}
	if denied.Blocked {
		c.complaints.Warn("too many log-ins have failed, the next ones are not tried (login_failures_max)", r.req.From)
	} else {
		c.complaints.Warn("request refused: "+denied.Name, r.req.From, "cmd", r.req.Opened.Load().Cmd,
			"user", payload.Show(r.load.Str(payload.FieldUser)), "err", denied.Error())
	}
	if denied.Cause != nil { // in words of its own: a refusal by wrong words must not keep it out of the log
		c.complaints.Warn("external authentication cannot tell whether a user may come in", r.req.From, "err",
			denied.Cause)
	}
	return c.holdBack(r, denied.Wait, v)
}

// holdBack answers after a time in which no worker waits. The load is let go of at once, and the answer, which is in
// clear, is packed now: when the time has come it is only sent.
func (c *console) holdBack(r *call, wait time.Duration, v any) (any, error) {
	if wait <= 0 {
		return v, nil
	}
	frame, err := payload.Marshal(v)
	if err != nil {
		return nil, err
	}
	req := r.req
	req.Opened.Store(&auth.Opened{Cmd: req.Opened.Load().Cmd, Clear: true})
	req.Frame = nil
	time.AfterFunc(wait, func() { req.Answer(frame) })
	return nil, errLater
}
