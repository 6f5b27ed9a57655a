package console

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/actors/netapi/aside"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

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

// Bounds of what one stream carries: a tenth of a second brings so many events, and one so many bytes.
const (
	maxEvents   = 60
	maxEventLen = 32 << 10
	waiting     = 512 // events that wait for the stream; what comes beyond is counted
)

// nudge is the tag by which tools of brine find out that they hear the bus: it tells an operator nothing.
const nudge = "brine/bus/nudge"

// heard is an event as it came, or the error that ended the stream of them.
type heard struct {
	tag  string
	data *payload.Map
	err  error
}

// joinWithin bounds how long a view waits until the bus is heard, before it is shown without.
const joinWithin = 2 * time.Second

// listen reads the bus into a channel until the context ends, and joins it again when it is lost. It returns when the
// bus is heard, or is known not to be. want says which events are kept; those for which there is no room are dropped,
// and lost is told.
func (c *console) listen(ctx context.Context, want func(tag string) bool, lost func()) <-chan heard {
	out, joined := make(chan heard, waiting), make(chan struct{})
	said := sync.OnceFunc(func() { close(joined) })
	put := func(h heard) {
		select {
		case out <- h:
		default:
			lost()
		}
	}
	aside.Go(c.Logger, "events", func(err error) { put(heard{err: err}); said() }, func() {
		for ctx.Err() == nil {
			err := c.relay(ctx, want, put, said)
			said()
			if ctx.Err() != nil {
				return
			}
			put(heard{err: err})
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
	select {
	case <-joined:
	case <-ctx.Done():
	case <-time.After(joinWithin):
	}
	return out
}

// relay passes events on until the bus is lost; joined is told when it has begun to.
func (c *console) relay(ctx context.Context, want func(string) bool, put func(heard), joined func()) error {
	s, err := c.Front.Events(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	joined()
	for up := false; ; {
		if now := s.Up(); now != up {
			up = now
			put(heard{err: awayUnless(up)})
		}
		patience, cancel := context.WithTimeout(ctx, time.Second)
		tag, data, err := s.Next(patience)
		cancel()
		switch {
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			continue // to see whether the bus is still there
		case err != nil:
			return err
		}
		if want(tag) && tag != nudge {
			put(heard{tag: tag, data: data})
		}
	}
}

// awayUnless is an error when the bus is not there.
func awayUnless(up bool) error {
	if up {
		return nil
	}
	return errors.New("the master does not run, or its socket cannot be opened")
}

// tagWanted is the filter of tags: a pattern where it has * or ?, else what a tag begins with.
func tagWanted(filter string) func(string) bool {
	filter = strings.TrimSpace(filter)
	if !strings.ContainsAny(filter, "*?") {
		return func(tag string) bool { return strings.HasPrefix(tag, filter) }
	}
	return fnmatch.Compile(strings.ReplaceAll(filter, "[", "[[]")).Match // there are no classes
}

// showEvents streams the events whose tag and text are wanted, some together.
func (c *console) showEvents(ctx context.Context, q request, o *output) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var missed atomic.Int64
	bus := c.listen(ctx, tagWanted(q.query("tag")), func() { missed.Add(1) })
	text, n := strings.ToLower(q.query("text")), int64(0)
	return c.repeat(ctx, q, o, eventsEvery, func(context.Context) error {
		var list EventList
		for len(bus) > 0 && len(list.Events) < maxEvents { // the rest of a burst comes next
			h := <-bus
			if h.tag == "" {
				if err := o.note("events", busTrouble(h.err)); err != nil {
					return err
				}
				continue
			}
			if e, ok := shown(h, text); ok {
				n++
				e.N = n
				list.Events = append(list.Events, e)
			}
		}
		list.Missed += missed.Swap(0)
		if len(list.Events) == 0 && list.Missed == 0 {
			return nil
		}
		return o.send("event", list)
	})
}

// busTrouble says that the bus is away; nil when it is there.
func busTrouble(err error) error {
	if err == nil {
		return nil
	}
	return &problem{503, "The event bus of the master cannot be heard: " + err.Error()}
}

// shown is an event for the page, if the text is in its tag or its data.
func shown(h heard, text string) (Event, bool) {
	data := asJSON(h.data)
	if text != "" && !strings.Contains(strings.ToLower(h.tag), text) && !strings.Contains(strings.ToLower(string(data)),
		text) {
		return Event{}, false
	}
	e := Event{Tag: strings.ToValidUTF8(h.tag, "�"), Size: len(data), Data: data}
	if len(data) > maxEventLen {
		e.Data = json.RawMessage("null")
	}
	return e, true
}
