package netapi

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestTheirs: one question finds out that a Salt master lacks a function, however many requests name it. A new
// function is found after a while. A master that does not list its functions counts as having all.
func TestTheirs(t *testing.T) {
	now, asked := time.Unix(0, 0), 0
	list, why := payload.M("jobs.list_jobs", "doc", "site.own", ""), error(nil)
	names := &theirs{turn: make(chan struct{}, 1), now: func() time.Time {
		return now
	}, beside: func(f func(context.Context)) error { go f(t.Context()); return nil }}
	names.ask = func(context.Context) (*payload.Map, error) { asked++; return list, why }
	if names.surelyLack("no.such") || asked != 0 {
		t.Error("it is asked for what is only looked at")
	}
	var crowd sync.WaitGroup
	for range 20 {
		crowd.Go(func() {
			if !names.lack(t.Context(), "no.such") || names.lack(t.Context(), "site.own") {
				t.Error("no.such is there, or site.own is not")
			}
		})
	}
	if crowd.Wait(); asked != 1 || !names.surelyLack("no.such") {
		t.Errorf("%d questions", asked)
	}
	list = payload.M("site.new", "")
	if !names.lack(t.Context(), "site.new") {
		t.Error("a list holds no time at all")
	}
	if now = now.Add(listedFor + 1); names.surelyLack("site.new") || names.lack(t.Context(), "site.new") || asked != 2 {
		t.Errorf("a new function is not found (%d questions)", asked)
	}
	now, list, why = now.Add(listedFor+1), nil, errors.New("no answer")
	for range 2 {
		if names.lack(t.Context(), "no.such") || asked != 3 {
			t.Errorf("a master that does not tell lacks functions (%d questions)", asked)
		}
	}
	now = now.Add(listedFor + 1)
	names.beside = func(func(context.Context)) error { return errors.New("no room") }
	if names.lack(t.Context(), "no.such") || names.asking != nil {
		t.Error("without room for the question there is a lack")
	}
}

// TestTheirsGo: a client that goes away while the master is asked does not delay anything. The next request
// uses the answer.
func TestTheirsGo(t *testing.T) {
	asked, answer := make(chan bool, 2), make(chan bool)
	names := &theirs{turn: make(chan struct{}, 1), now: time.Now, beside: func(f func(context.Context)) error {
		go f(t.Context())
		return nil
	}}
	names.ask = func(context.Context) (*payload.Map, error) {
		asked <- true
		<-answer
		return payload.M("site.own", ""), nil
	}
	gone, cancel := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() { ended <- names.lack(gone, "no.such") }()
	<-asked
	if names.surelyLack("no.such") {
		t.Error("it is known before it is answered")
	}
	cancel()
	if <-ended {
		t.Error("who has gone is told something")
	}
	next := make(chan bool)
	go func() { next <- names.lack(t.Context(), "no.such") }()
	close(answer)
	if !<-next || len(asked) != 0 {
		t.Errorf("the next one is not told, or there were %d more questions", len(asked))
	}
}
