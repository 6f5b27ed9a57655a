package netapi

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestTheirs: a function that a master of Salt does not have is found out with one question, however many want it; a new one is found
// after a while, and a master that does not tell its functions has all.
func TestTheirs(t *testing.T) {
	now, asked := time.Unix(0, 0), 0
	list, why := payload.M("jobs.list_jobs", "doc", "site.own", ""), error(nil)
	names := newTheirs(nil)
	names.now = func() time.Time { return now }
	names.ask = func(context.Context) (*payload.Map, error) { asked++; return list, why }
	var crowd sync.WaitGroup
	for range 20 {
		crowd.Go(func() {
			if !names.lack(t.Context(), "no.such") || names.lack(t.Context(), "site.own") {
				t.Error("no.such is there, or site.own is not")
			}
		})
	}
	if crowd.Wait(); asked != 1 {
		t.Errorf("%d questions", asked)
	}
	list = payload.M("site.new", "")
	if !names.lack(t.Context(), "site.new") {
		t.Error("a list holds no time at all")
	}
	if now = now.Add(listedFor + 1); names.lack(t.Context(), "site.new") || asked != 2 {
		t.Errorf("a new function is not found (%d questions)", asked)
	}
	now, list, why = now.Add(listedFor+1), nil, errors.New("no answer")
	for range 2 {
		if names.lack(t.Context(), "no.such") || asked != 3 {
			t.Errorf("a master that does not tell lacks functions (%d questions)", asked)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	now, names.ask = now.Add(listedFor+1), func(context.Context) (*payload.Map, error) { cancel(); return nil, why }
	if before := names.at; names.lack(gone, "no.such") || names.at != before {
		t.Error("a client that goes away decides for the next one")
	}
	names.turn <- struct{}{}
	if names.lack(gone, "no.such") {
		t.Error("who has gone is told something")
	}
}
