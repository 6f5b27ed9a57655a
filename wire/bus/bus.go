// Package bus is one event bus of a daemon: the two sockets of wire/ipc and the subscribers inside the process. All
// subscribers get one stream in one order. A Bus is not safe for concurrent use: an actor owns it. Answers to
// EventPublisher in salt/utils/event.py.
package bus

import (
	"context"
	"errors"
	"slices"
	"time"

	"brine/wire/event"
	"brine/wire/ipc"
)

// Sink gets the events of a subscriber inside the process, in order. It runs in the owner's goroutine and must not
// block. It may keep body but not change it.
type Sink func(tag string, body []byte)

// Subscribers are the subscribers inside the process. They outlive a Bus, so that the owner's restart loses none.
type Subscribers struct{ list []subscriber }

type subscriber struct {
	name string
	sink Sink
}

// Add subscribes to all future events. It replaces a subscriber of the same name.
func (s *Subscribers) Add(name string, sink Sink) {
	s.Remove(name)
	s.list = append(s.list, subscriber{name, sink})
}

// Remove ends a subscription; an unknown name is ignored.
func (s *Subscribers) Remove(name string) {
	s.list = slices.DeleteFunc(s.list, func(sub subscriber) bool { return sub.name == name })
}

// Bus is the two sockets and the subscribers.
type Bus struct {
	pub  *ipc.PubServer
	pull *ipc.PullServer
	subs *Subscribers
}

// New makes a bus that does not listen yet.
func New(pub ipc.PubOptions, pull ipc.PullOptions, subs *Subscribers) *Bus {
	return &Bus{pub: ipc.NewPubServer(pub), pull: ipc.NewPullServer(pull), subs: subs}
}

// Listen binds both sockets, or none.
func (b *Bus) Listen() error {
	if err := b.pub.Listen(); err != nil {
		return err
	}
	if err := b.pull.Listen(); err != nil {
		return errors.Join(err, b.pub.Close())
	}
	return nil
}

// ServePub accepts subscribers until ctx ends.
func (b *Bus) ServePub(ctx context.Context) error { return b.pub.Serve(ctx) }

// ServePull hands the events of local tools to sink until ctx ends. Several goroutines call sink.
func (b *Bus) ServePull(ctx context.Context, sink func(body []byte)) error {
	return b.pull.Serve(ctx, sink)
}

// Nudge sends one packed event to the subscribers outside the process that connected after since, and returns their
// number.
func (b *Bus) Nudge(body []byte, since time.Time) int { return b.pub.PublishYoung(body, since) }

// Listeners returns the number of subscribers outside the process, and the number of events that such subscribers
// missed because they read too slowly.
func (b *Bus) Listeners() (n int, dropped uint64) { return len(b.pub.Subscribers()), b.pub.Dropped() }

// Publish puts one packed event on the bus.
func (b *Bus) Publish(body []byte) {
	b.pub.Publish(body)
	if len(b.subs.list) == 0 {
		return
	}
	tag := event.Tag(body)
	for _, s := range b.subs.list {
		s.sink(tag, body)
	}
}
