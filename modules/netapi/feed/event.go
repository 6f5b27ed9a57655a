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
}

// overhead is what an event takes in the ring beside its bytes; each of these is kept up to three times: packed, as JSON, as values.
const (
	overhead = 256
	copies   = 3
)

func newEvent(body []byte, now time.Time) *Event {
	return &Event{Tag: event.Tag(body), came: now, body: body}
}

func (e *Event) size() int { return overhead + copies*len(e.body) }

// JSON is the event in one line, {"data": {...}, "tag": "..."}, in the form of Python's json.dumps. It is "" for what is no event.
func (e *Event) JSON() string {
	e.once.Do(func() {
		_, data, err := event.Unpack(e.body)
		if err != nil {
			return
		}
		e.json, _ = outputters.DumpJSON(payload.M("data", data, "tag", e.Tag), outputters.JSONOptions{Indent: -1})
	})
	return e.json
}

// Data is what the event tells; nil for what is no event. Nobody may change it.
func (e *Event) Data() *payload.Map {
	e.dataOnce.Do(func() { _, e.data, _ = event.Unpack(e.body) })
	return e.data
}
