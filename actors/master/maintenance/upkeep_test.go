package maintenance

import (
	"errors"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/wire/event"
	"brine/wire/payload"
)

// TestPresence: who came and who went is told, and who is there each time.
func TestPresence(t *testing.T) {
	connected := map[string]string{}
	var fails error
	type fired struct {
		tag  string
		data *payload.Map
	}
	var events []fired
	u := New(Options{CacheDir: t.TempDir()}, Parts{
		Connected: func() (map[string]string, error) { return connected, fails },
		Fire:      func(tag string, data *payload.Map) { events = append(events, fired{tag, data}) },
	}, actortest.Discard())
	past := &remembered{}
	look := func(ids ...string) {
		t.Helper()
		clear(connected)
		for _, id := range ids {
			connected[id] = "10.0.0.1"
		}
		if err := u.firePresence(past, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	next := func(tag string, want *payload.Map) {
		t.Helper()
		if len(events) == 0 || events[0].tag != tag || !payload.Equal(events[0].data, want) {
			t.Fatalf("got %v, want %s %v", events, tag, want)
		}
		events = events[1:]
	}
	change := func(come, gone []any) {
		t.Helper()
		next(event.TagPresenceChange, payload.M("new", come, "lost", gone))
	}
	present := func(ids ...any) {
		t.Helper()
		next(event.TagPresent, payload.M("present", append([]any{}, ids...)))
	}
	look("m2", "m1")
	change([]any{"m1", "m2"}, []any{})
	present("m1", "m2")
	look("m2", "m1")
	present("m1", "m2")
	look("m2")
	change([]any{}, []any{"m1"})
	present("m2")
	if fails = errors.New("no table"); u.firePresence(past, time.Now()) == nil {
		t.Error("no error")
	}
}
