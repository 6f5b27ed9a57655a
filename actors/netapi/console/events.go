package console

import "encoding/json"

// Event is one event of the bus.
type Event struct {
	N    int64           `json:"n" doc:"counts the events that this stream has seen"`
	Tag  string          `json:"tag"`
	Size int             `json:"size" doc:"of the data as JSON, in bytes"`
	Data json.RawMessage `json:"data" doc:"null when it is too large to be sent"`
}

// EventList are events that came together.
type EventList struct {
	Events []Event `json:"events"`
	Missed int64   `json:"missed" doc:"events that came too quickly to be sent, since the list before"`
}
