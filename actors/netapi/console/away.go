package console

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// ErrNobody means that there is no session.
var ErrNobody = &problem{http.StatusUnauthorized, "nobody is logged in"}

// These are the errors while the console cannot find out whether a session is still valid. It answers no
// request then.
var (
	errAway = &problem{http.StatusServiceUnavailable, "The master is away: it does not run, or nobody answers at " +
		"its sockets."}
	errMute = &problem{http.StatusServiceUnavailable, "The master does not answer: it is stopped, or overloaded."}
)

// These are the limits of the question whether a session is still valid.
const (
	sessionWithin = 3 * time.Second  // first question: after that the page learns that the master does not answer
	heldWithin    = 10 * time.Second // later questions
	holdEvery     = 500 * time.Millisecond
	tableMaster   = "master" // name of the note about the master
)

// away tells whether an error leaves the user's identity unknown.
func away(err error) bool { return err != nil && !errors.Is(err, ErrNobody) }

// sessionOf finds the session of an id, or says why it is not known. If the session may still be valid, the
// result contains the id beside the error.
func (c *console) sessionOf(ctx context.Context, id string, within time.Duration) (Session, error) {
	patience, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	who, err := c.Front.Session(patience, id)
	var known *problem
	switch {
	case err == nil:
		return who, nil
	case errors.Is(err, ErrNobody):
		return Session{}, ErrNobody
	case !errors.As(err, &known):
		err = errMute
	}
	return Session{ID: id}, err
}

// hold keeps a stream open without data until the master answers and names the owner of the session. The page
// learns why it has to wait. The errors are ErrNobody and those of the stream.
func (c *console) hold(ctx context.Context, o *output, id string) (Session, error) {
	why := c.Front.MasterHere()
	if why == nil {
		why = errMute
	}
	for {
		if err := o.held(why); err != nil {
			return Session{}, err
		}
		select {
		case <-ctx.Done():
			return Session{}, context.Cause(ctx)
		case <-time.After(holdEvery):
		}
		who, err := c.sessionOf(ctx, id, heldWithin)
		if !away(err) {
			if err == nil {
				err = o.held(nil)
			}
			return who, err
		}
		why = err
	}
}

// held tells the page why it gets no data, or that it gets data again. If the page knows that already, held
// sends beats.
func (o *output) held(why error) error {
	text := ""
	if why != nil {
		text = why.Error()
	}
	if o.said[tableMaster] == text {
		if time.Since(o.beaten) < beatEvery {
			return nil
		}
		o.beaten = time.Now()
		return o.write("beat", Beat{At: time.Now().UnixMicro()})
	}
	o.said[tableMaster], o.beaten = text, time.Now()
	return o.write("note", Note{tableMaster, text})
}

// pulse is the time and the result of the last check for the master.
type pulse struct {
	at  time.Time
	err error
}

// masterHere is Front.MasterHere, shared by all streams, because each of them asks every second.
func (c *console) masterHere() error {
	p := <-c.pulse
	if time.Since(p.at) > pulseEvery/2 {
		p = pulse{time.Now(), c.Front.MasterHere()}
	}
	c.pulse <- p
	return p.err
}

// stands checks that the master is reachable. If check is set, or if it had to wait for the master, it also
// checks that the session still exists with the same rights. An error ends the stream.
func (c *console) stands(ctx context.Context, q request, o *output, check bool) error {
	why := c.masterHere()
	who := q.who
	if why == nil && check {
		who, why = c.sessionOf(ctx, q.who.ID, sessionWithin)
	}
	if away(why) {
		who, why = c.hold(ctx, o, q.who.ID)
	}
	if why == nil && sameRights(who, q.who) {
		return nil
	}
	if err := o.bye(); err != nil {
		return err
	}
	return ErrNobody
}

// repeat calls look at once and then at regular times, and sends beats in between. It ends with an error of
// look or of the stream, or with the context or the session. It does not call look while the master is away.
func (c *console) repeat(ctx context.Context, q request, o *output, every time.Duration,
	look func(context.Context) error) error {
	tick, beat, check, pulse := time.NewTicker(every), time.NewTicker(beatEvery), time.NewTicker(checkEvery),
		time.NewTicker(pulseEvery)
	for _, t := range []*time.Ticker{tick, beat, check, pulse} {
		defer t.Stop()
	}
	if err := o.begin(); err != nil {
		return err
	}
	for {
		if err := look(ctx); err != nil {
			return err
		}
		for waiting := true; waiting; {
			var err error
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-tick.C:
				waiting = false
			case <-beat.C:
				err = o.send("beat", Beat{time.Now().UnixMicro(), o.brine()})
			case <-check.C:
				err = c.stands(ctx, q, o, true)
			case <-pulse.C:
				err = c.stands(ctx, q, o, false)
			}
			if err != nil {
				return err
			}
		}
	}
}
