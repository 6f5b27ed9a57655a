package returning

import (
	"context"
	"fmt"
	"slices"

	"brine/modules/returners"
	"brine/modules/returners/queue"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// Events is what the configuration says of event_return.
type Events struct {
	Allow, Deny []*fnmatch.Pattern // event_return_whitelist and event_return_blacklist
	Call        func(ctx context.Context, returner string, events []any) error
}

// Wants tells whether an event of a tag is handed over: it matches the whitelist, if there is one, and not the
// blacklist. Source: salt/utils/event.py, EventReturn._filter.
func (e *Events) Wants(tag string) bool {
	is := func(g *fnmatch.Pattern) bool { return g.Match(tag) }
	return (len(e.Allow) == 0 || slices.ContainsFunc(e.Allow, is)) && !slices.ContainsFunc(e.Deny, is)
}

// Sink takes the events of the bus for a part. It runs in the EventPublisher.
func (e *Events) Sink(p *Part) func(tag string, body []byte) {
	return func(tag string, body []byte) {
		if e.Wants(tag) {
			p.Keep(body)
		}
	}
}

// Hand gives a returner events as Salt does: a list of maps of data, with its _stamp, and tag.
func (e *Events) Hand(ctx context.Context, returner string, items []queue.Item) (int, error) {
	list := make([]any, 0, len(items))
	for _, it := range items {
		tag, data, err := event.Unpack(it.Body)
		if err != nil {
			return 0, &returners.Unusable{Err: fmt.Errorf("the record holds no event: %w", err)}
		}
		list = append(list, payload.M("data", data, "tag", tag))
	}
	if err := e.Call(ctx, returner, list); err != nil {
		return 0, err
	}
	return len(items), nil
}
