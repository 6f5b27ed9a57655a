package engines

import (
	"context"
	"sync"

	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// Bounds of the events that wait for an engine. When more come the oldest are dropped, and counted.
const (
	queueMost  = 4096
	queueBytes = 8 << 20
)

// queue holds events for an engine that takes them at its own pace. Any number of goroutines may use it.
type queue struct {
	want []*fnmatch.Pattern // nil: all

	mu     sync.Mutex
	events []raw
	bytes  int
	lost   int           // since somebody was told last
	wake   chan struct{} // of room one
}

type raw struct {
	tag  string
	body []byte
}

// newQueue is a queue for tags of which one of the globs is true; nil: for all.
func newQueue(globs []string) *queue {
	q := &queue{wake: make(chan struct{}, 1)}
	for _, g := range globs {
		q.want = append(q.want, fnmatch.Compile(g))
	}
	return q
}

// put is a sink of the bus: it never blocks.
func (q *queue) put(tag string, body []byte) {
	if !q.wants(tag) {
		return
	}
	q.mu.Lock()
	q.events = append(q.events, raw{tag, body})
	q.bytes += len(body)
	for len(q.events) > queueMost || q.bytes > queueBytes && len(q.events) > 1 {
		q.bytes -= len(q.events[0].body)
		q.events[0] = raw{}
		q.events = q.events[1:]
		q.lost++
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) wants(tag string) bool {
	if q.want == nil {
		return true
	}
	for _, g := range q.want {
		if g.Match(tag) {
			return true
		}
	}
	return false
}

// next waits for an event. lost is how many were dropped before it.
func (q *queue) next(ctx context.Context) (tag string, data *payload.Map, lost int, err error) {
	for {
		one, more, ok := q.first()
		lost += more
		if ok {
			if tag, data, err := event.Unpack(one.body); err == nil { // what others push may be no event
				return tag, data, lost, nil
			}
			continue
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return "", nil, 0, context.Cause(ctx)
		}
	}
}

func (q *queue) first() (one raw, lost int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == 0 {
		q.events = nil // its memory has served
		return raw{}, 0, false
	}
	one, lost = q.events[0], q.lost
	q.events[0] = raw{}
	q.events, q.lost = q.events[1:], 0
	q.bytes -= len(one.body)
	return one, lost, true
}
