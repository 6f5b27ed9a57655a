package feed

import (
	"sync"
	"time"

	"brine/modules/outputters"
	"brine/wire/event"
	"brine/wire/payload"
)

// Event is one event of the bus. All readers share it, and none changes it.
type Event struct {
	Tag  string
	came time.Time
	body []byte

	once sync.Once // makes json
	json string

	dataOnce sync.Once // makes data
	data     *payload.Map

	forms [2]form // as servers send it
}

// form is an event as some readers get it, made once.
type form struct {
	once sync.Once
	made any
}

// overhead is what an event takes in the ring beside its bytes; each of these is kept up to four times: packed, as
// JSON, as values, in a form.
const (
	overhead = 512
	copies   = 4
)

func newEvent(body []byte, now time.Time) *Event {
	return &Event{Tag: event.Tag(body), came: now, body: body}
}

func (e *Event) size() int { return overhead + copies*len(e.body) }

// JSON is the event in one line, {"data": {...}, "tag": "..."}, in the form of Python's json.dumps, with bytes as
// text or base64. It is "" for what is no event.
func (e *Event) JSON() string {
	e.once.Do(func() {
		_, data, err := event.Unpack(e.body)
		if err != nil {
			return
		}
		e.json = outputters.JSON(payload.M("data", data, "tag", e.Tag))
	})
	return e.json
}

// Form is the event in one of two forms, as build made it for the first reader. All readers share it.
func (e *Event) Form(n int, build func() any) any {
	f := &e.forms[n]
	f.once.Do(func() { f.made = build() })
	return f.made
}

// Data is what the event tells; nil for what is no event. Nobody may change it.
func (e *Event) Data() *payload.Map {
	e.dataOnce.Do(func() { _, e.data, _ = event.Unpack(e.body) })
	return e.data
}
