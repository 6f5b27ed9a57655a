package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Message is one message of a stream. Its name tells which field is set. The message bye comes last, when the
// session has ended.
type Message struct {
	Hello *Hello     `json:"hello,omitempty"`
	Rows  *Patch     `json:"rows,omitempty"`
	Note  *Note      `json:"note,omitempty"`
	Event *EventList `json:"event,omitempty"`
	Beat  *Beat      `json:"beat,omitempty"`
	Bye   *Problem   `json:"bye,omitempty"`
}

// Hello begins a stream.
type Hello struct {
	View  string `json:"view"`
	At    int64  `json:"at" doc:"now, in microseconds since 1970"`
	Brine bool   `json:"brine" doc:"as of the session: a master that has just begun may have its control socket a moment later"`
}

// Note says in words why a table gets no data. An empty text ends the note. A note about the table master
// concerns all tables: the master is away, and the page keeps the last known data. It may come before hello.
type Note struct {
	Table string `json:"table"`
	Text  string `json:"text"`
}

// Beat says every five seconds that the stream works.
type Beat struct {
	At    int64 `json:"at"`
	Brine bool  `json:"brine" doc:"as of hello, now"`
}

func streamParams() []param {
	return []param{
		inQuery("view", "fleet, actors, jobs, job or events"),
		inQuery("tgt", "of fleet: a target, all without"), inQuery("tgt_type", "its type, compound without"),
		inQuery("of", "of actors: the id of a minion, the master without"),
		inQuery("jid", "of job: which"),
		inQuery("tag", "of events: a pattern with * and ?, or what the tag begins with"),
		inQuery("text", "of events: what the event holds"),
	}
}

// streamTables maps the names of all tables to an example of their rows.
func streamTables() map[string]any {
	return map[string]any{"fleet": Minion{}, "actors": Node{}, "jobs": JobRow{}, "job": JobHead{}, "ways": Way{},
		"why": Silence{}, "output": Fold{}}
}

// These are the times of a stream.
const (
	beatEvery    = 5 * time.Second
	checkEvery   = 15 * time.Second // between checks of the session
	pulseEvery   = time.Second      // between checks for the master
	writeWithin  = 20 * time.Second // limit of a write; then the stream ends
	masterEvery  = 500 * time.Millisecond
	fleetEvery   = time.Second
	keysEvery    = time.Minute // beside a Salt master, if there are no events
	minionEvery  = 3 * time.Second
	jobsEvery    = 250 * time.Millisecond
	eventsEvery  = 100 * time.Millisecond
	askWithin    = 5 * time.Second
	streamOfDays = 25 * time.Hour // then the page reconnects
)

// output is the connection to one page. Only the goroutine of the stream writes to it.
type output struct {
	view   string
	begun  bool // hello has been sent
	w      http.ResponseWriter
	ctl    *http.ResponseController
	said   map[string]string // sent notes by table
	away   func() bool       // tells whether the master is away: then no table has its own note
	brine  func() bool       // tells whether the master has a control socket
	beaten time.Time         // last message while the stream is held
}

// begin sends hello once. By then the view listens to its sources.
func (o *output) begin() error {
	if o.begun {
		return nil
	}
	o.begun = true
	return o.write("hello", Hello{o.view, time.Now().UnixMicro(), o.brine()})
}

// send writes one message under its name.
func (o *output) send(name string, v any) error {
	if err := o.begin(); err != nil {
		return err
	}
	return o.write(name, v)
}

func (o *output) write(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("pack message: %w", err)
	}
	if err := o.ctl.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("set deadline of stream: %w", err)
	}
	if _, err := fmt.Fprintf(o.w, "event: %s\ndata: %s\n\n", name, text); err != nil {
		return fmt.Errorf("write to stream: %w", err)
	}
	if err := o.ctl.Flush(); err != nil {
		return fmt.Errorf("write to stream: %w", err)
	}
	return nil
}

// rows sends the changes of a table, or the reason why there is no data.
func (o *output) rows(d *differ, now rows, trouble error) error {
	if err := o.note(d.table, trouble); err != nil || trouble != nil {
		return err
	}
	if p, ok := d.next(now); ok {
		return o.send("rows", p)
	}
	return nil
}

// note sends a note once.
func (o *output) note(table string, trouble error) error {
	text := ""
	if trouble != nil {
		text = trouble.Error()
	}
	if o.said[table] == text || text != "" && o.away() {
		return nil
	}
	o.said[table] = text
	return o.send("note", Note{table, text})
}

// bye ends a stream whose session has ended, or whose user may not see it any more.
func (o *output) bye() error { return o.write("bye", Problem{"the session has ended"}) }

// view is a view of a stream: the necessary rights, and the function that makes it.
type view struct {
	rights []string // one of them is necessary
	run    func(c *console, ctx context.Context, q request, o *output) error
}

// allowed tells whether a user may see the view.
func (v view) allowed(who Session) bool {
	return slices.ContainsFunc(v.rights, func(name string) bool { return may(who.Rules, name) })
}

func viewOf(name string) (view, bool) {
	v, ok := map[string]view{
		"fleet":  {[]string{rightFleet}, (*console).showFleet},
		"actors": {[]string{rightActors}, (*console).showActors},
		"jobs":   {[]string{rightJobs, rightRun}, (*console).showJobs}, // without rightJobs the user sees only own jobs
		"job":    {[]string{rightJobs, rightRun}, (*console).showJob},
		"events": {[]string{rightEvents}, (*console).showEvents},
	}[name]
	return v, ok
}

// serveStream shows a view until the page goes away, the session ends, or a write fails.
func (c *console) serveStream(w http.ResponseWriter, q request) {
	name := q.query("view")
	v, ok := viewOf(name)
	if !ok {
		fail(w, http.StatusBadRequest, "there is no such view")
		return
	}
	if !q.held && !v.allowed(q.who) {
		fail(w, http.StatusForbidden, "no rule of external_auth allows this")
		return
	}
	leave, ok := c.enter(q.who.ID)
	if !ok {
		fail(w, http.StatusTooManyRequests, "too many pages are open")
		return
	}
	defer leave()
	ctx, cancel := context.WithTimeout(q.http.Context(), streamOfDays)
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	o := &output{view: name, w: w, ctl: http.NewResponseController(w), said: map[string]string{}, brine: c.brine,
		away: func() bool { return c.Front.MasterHere() != nil }}
	if q.held {
		who, err := c.hold(ctx, o, q.who.ID)
		if err != nil || !v.allowed(who) {
			_ = o.bye() // the page may be gone
			return
		}
		q.who = who
	}
	_ = v.run(c, ctx, q, o) // it ends with the page, as above
}
