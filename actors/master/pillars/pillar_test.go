package pillars

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/pillar"
	"brine/supervisor"
	"brine/wire/payload"
)

// maker is a Pillar over a function in place of a compiler.
func maker(t *testing.T, most int, compile func(context.Context, pillar.Question) (*payload.Map, error)) *Pillars {
	t.Helper()
	return &Pillars{ref: actortest.Add(t, actortest.Start(t, supervisor.Options{}), supervisor.Spec{Name: "TestPillar",
		New: pillarOf(pillarOptions{compile: compile, most: most, within: time.Minute}, newPillarWork())})}
}

// TestSamePillarOnce: the same question at the same time is compiled once, another one by itself, and one minion's in
// turn.
func TestSamePillarOnce(t *testing.T) {
	begun, release := make(chan string, 64), make(chan bool)
	p := maker(t, 4, func(_ context.Context, q pillar.Question) (*payload.Map, error) {
		begun <- q.ID + q.Grains.Str("g")
		<-release
		return payload.M("id", q.ID, "g", q.Grains.Str("g")), nil
	})
	var done sync.WaitGroup
	ask := func(id, g string) {
		done.Go(func() {
			out, err := p.Compile(t.Context(), pillar.Question{ID: id, Grains: payload.M("g", g)})
			if err != nil || out.Str("id") != id || out.Str("g") != g {
				t.Errorf("%s %s: got %v, %v", id, g, out, err)
			}
		})
	}
	before := p.ref.Snapshot().Received
	for range 8 {
		ask("m1", "a")
	}
	ask("m2", "a")
	ask("m3", "a")
	for limit := time.Now().Add(time.Minute); p.ref.Snapshot().Received < before+10; <-time.After(time.Millisecond) {
		// who comes later asks anew
		if time.Now().After(limit) {
			t.Fatal("not all have asked")
		}
	}
	first := map[string]bool{<-begun: true, <-begun: true, <-begun: true}
	if !first["m1a"] || !first["m2a"] || !first["m3a"] {
		t.Errorf("begun are %v", first)
	}
	ask("m1", "b") // waits for m1a
	close(release)
	done.Wait()
	if close(begun); len(begun) != 1 || <-begun != "m1b" {
		t.Errorf("%d more were begun", len(begun))
	}
}

// TestManyPillars: a minion that floods is refused, a compilation that panics is an error of its own only.
func TestManyPillars(t *testing.T) {
	release, begun := make(chan bool), make(chan bool, 1)
	p := maker(t, 2, func(_ context.Context, q pillar.Question) (*payload.Map, error) {
		if q.ID == "flood" {
			select {
			case begun <- true:
			default:
			}
			<-release
		}
		if q.ID == "bad" {
			panic("boom")
		}
		return payload.M("id", q.ID), nil
	})
	results := make(chan error, 64)
	for i := range 2 * pillarsOfOne {
		go func() {
			_, err := p.Compile(t.Context(), pillar.Question{ID: "flood", Grains: payload.M("i", i)})
			results <- err
		}()
	}
	<-begun
	for range pillarsOfOne {
		if err := <-results; !errors.Is(err, errManyPillars) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := p.Compile(t.Context(), pillar.Question{ID: "bad"}); err == nil || !strings.Contains(err.Error(),
		"boom") {
		t.Errorf("panic: got %v", err)
	}
	out, err := p.Compile(t.Context(), pillar.Question{ID: "well"})
	if err != nil || !payload.Equal(out, payload.M("id", "well")) {
		t.Errorf("well: got %v, %v", out, err)
	}
	close(release)
	for range pillarsOfOne {
		if err := <-results; err != nil {
			t.Errorf("got %v", err)
		}
	}
}
