package chaos

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// This is the load of a round: the number of publishers, and the least pause of each between two jobs.
const (
	publishers = 6
	pause      = 20 * time.Millisecond
)

// TestChaos harms a fleet and checks that nothing is lost.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a fleet")
	}
	if *flagSeed == 0 {
		*flagSeed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d; the same plan again: -chaos.seed=%[1]d -chaos.rounds=%d -chaos.kills=%d -chaos.duration=%v "+
		"-chaos.minions=%d",
		*flagSeed, *flagRounds, *flagKills, *flagDuration, *flagMinions)
	ctx := t.Context()
	f := newFleet(t, *flagMinions)
	f.invite()
	f.start(ctx)
	began := time.Now()
	defer func() {
		f.report.took = time.Since(began)
		t.Logf("seed %d\n%s", *flagSeed, f.report)
	}()
	f.round(ctx, 0, nil) // without a fault: the checks must succeed, and the caches fill
	before, err := f.levels(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= *flagRounds && !t.Failed(); n++ {
		f.round(ctx, n, plan(*flagSeed, n, *flagKills, *flagDuration, faults()))
		for _, text := range f.leaks(ctx, before) {
			t.Errorf("seed %d, round %d: %s", *flagSeed, n, text)
		}
		f.report.rounds++
	}
}

// round carries out a plan under load, and checks the jobs.
func (f *fleet) round(ctx context.Context, n int, steps []step) {
	f.t.Helper()
	fail := func(err error) {
		if err != nil {
			f.t.Errorf("seed %d, round %d: %v", *flagSeed, n, err)
		}
	}
	load := f.begin(ctx, n, publishers, pause)
	last := "none"
	if n == 0 {
		<-time.After(time.Second) // of load
	} else {
		var err error
		last, err = f.harmAll(ctx, n, steps)
		fail(err)
	}
	load.halt()
	took, err := f.back(ctx)
	fail(err)
	jobs := load.end()
	_, err = f.back(ctx) // answers to these pings show that all earlier publications have arrived
	fail(err)
	if n > 0 {
		f.report.returned(last, took)
		f.note("round %d, after the last fault (%s): the minions are back: %v", n, last, took)
	}
	fail(f.backOfGuests(ctx))
	fail(f.rest(ctx))
	fail(f.restOfGuests(ctx))
	for _, text := range f.checkJobs(ctx, jobs) {
		f.t.Errorf("seed %d, round %d: %s", *flagSeed, n, text)
	}
}

// harmAll carries out a plan and undoes its faults. It returns the name of the last fault.
func (f *fleet) harmAll(ctx context.Context, round int, steps []step) (last string, err error) {
	table := map[string]*fault{}
	for _, ft := range faults() {
		table[ft.name] = &ft
	}
	began := time.Now()
	var undoing sync.WaitGroup
	defer undoing.Wait()
	for _, s := range steps {
		wait := time.NewTimer(time.Until(began.Add(s.At)))
		select {
		case <-wait.C:
		case <-ctx.Done():
			return last, ctx.Err()
		}
		ft, within := table[s.Fault], context.WithoutCancel(ctx)
		within, cancel := context.WithTimeout(within, patience)
		d, err := ft.do(within, f, s.draw())
		cancel()
		if err != nil {
			return last, fmt.Errorf("%s, %v after the beginning: %w", ft.name, s.At, err)
		}
		f.report.fault(ft, d)
		if d.what != "" {
			f.harm()
			last = ft.name
		}
		f.note("round %d, %v after the beginning: %s: %s", round, time.Since(began).Round(time.Millisecond), ft.name,
			d.what)
		if d.undo != nil {
			undoing.Go(func() { f.undo(d) })
		}
	}
	return last, nil
}

// undo undoes a fault when its time is over.
func (f *fleet) undo(d done) {
	<-time.After(d.hold)
	if err := d.undo(); err != nil {
		f.t.Errorf("seed %d: undo %s: %v", *flagSeed, d.what, err)
	}
	f.harm()
}
