package minion

import (
	"context"
	"flag"
	"log/slog"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/link"
	"brine/supervisor/stats"
	"brine/wire/event"
	"brine/wire/payload"
)

var month = flag.Duration("month", 0, "how long the month of TestMonth takes; 0: as short as it can")

const (
	monthDays = 30
	dayJobs   = 110 // of a day: what is kept of the last 1,000 jobs is full long before the half of the month
	dayTurns  = 144 // of the timers
)

// wait waits for what must come.
func (r *rig) wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !ok(); {
		if time.Now().After(limit) {
			t.Fatalf("no %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

// jobsOfDay publishes jobs and waits for their returns; some of them fail.
func (r *rig) jobsOfDay(t *testing.T, n int) (jids []string) {
	t.Helper()
	f, text := r.master(), strings.Repeat("x", 10_000)
	for i := range n {
		r.clock.Advance(time.Microsecond)
		jid := payload.NewJID(r.clock.Now())
		jids = append(jids, jid)
		switch i % 20 {
		case 3:
			f.publish(jid, "t.panic")
		case 7:
			f.publish(jid, "t.nothing")
		default:
			f.publish(jid, "t.echo", text)
		}
	}
	return jids
}

// away lets the master be away while jobs end, and come back as a new process.
func (r *rig) away(t *testing.T) {
	t.Helper()
	f := r.master()
	f.set(func() { f.down = true })
	jids := r.jobsOfDay(t, 10)
	r.wait(t, "returns on disk", func() bool { return r.m.waits[r.m.links[0]].Returns.Load() == int64(len(jids)) })
	f.mu.Lock()
	to := f.to
	f.mu.Unlock()
	to.Link(false)
	f.restart(nil)
	f.set(func() { f.down = false })
	to.Link(true)
	for _, jid := range jids {
		r.until(t, "return of "+jid, func() bool { return f.has(jid) }, 10*time.Millisecond)
	}
}

// asked is what local tools and functions ask of a minion now and then.
func (r *rig) asked(t *testing.T) {
	t.Helper()
	for _, tag := range []string{event.TagModuleRefresh, event.TagPillarRefresh, event.TagGrainsRefresh} {
		r.m.fire(tag, payload.M("force_refresh", true, "notify", true))
	}
	r.m.fire(event.TagFireMaster, payload.M("tag", "custom/tag", "data", payload.M("x", 1)))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, ok := (host{r.m, r.m.links[0]}).AwaitLocal(ctx, event.TagPillarRefresh, payload.M("x", 1),
		event.TagMinionComplete("pillar_refresh")); !ok {
		t.Fatal("the pillar was not refreshed")
	}
	r.m.links[0].Subscriber().Send(&link.Reconnect{})
}

// dies ends an actor and waits for its next incarnation.
func (r *rig) dies(t *testing.T, path string) {
	t.Helper()
	tree := r.m.top
	before, err := tree.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Restart(path); err != nil {
		t.Fatal(err)
	}
	r.wait(t, "next "+path, func() bool {
		now, err := tree.Look(path)
		return err == nil && now.Incarnation > before.Incarnation && now.State == stats.StateRunning
	})
}

// day is what a minion does in a day, as far as it leaves something behind.
func (r *rig) day(t *testing.T, n int) {
	t.Helper()
	f := r.master()
	for _, jid := range r.jobsOfDay(t, dayJobs) {
		f.awaitReturn(t, jid)
	}
	r.away(t)
	r.asked(t)
	const link = "Master-master.test_4506/"
	mortal := []string{"EventBus", "Journal", "Refresher", "FileClient", "Dispatcher", "Teller", "MineTimer",
		link + "ReturnSender", link + "Subscriber", link + "Authenticator", link + "Pinger"}
	if n < len(mortal) {
		// each of them once, and not after that: a death would end what gathers with the life of an actor
		r.dies(t, mortal[n])
	}
	for range dayTurns {
		r.wait(t, "timers", func() bool { return len(r.clock.Timers()) >= 3 }) // grains, pings, mine
		r.clock.Advance(24 * time.Hour / dayTurns)
	}
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	r.wait(t, "rest", func() bool { return r.m.waits[r.m.links[0]].Returns.Load() == 0 })
	f.set(func() { clear(f.returns); f.requests = nil })
	r.fun.mu.Lock()
	clear(r.fun.runs)
	r.fun.mu.Unlock()
}

// TestMonth lets a minion live through a month of jobs, returns, masters that go and come, refreshes, timers and deaths
// of actors, and weighs it every evening: what it holds does not grow from one part of the month to the next.
func TestMonth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	r := newRig(t, "grains_refresh_every: 10\nping_interval: 10\nminion_jid_queue_age: 86400\n")
	r.cfg.MineEnabled, r.cfg.MineInterval = true, 10*time.Minute
	r.opt.Logger = slog.New(slog.DiscardHandler)
	r.up()
	var days []actortest.Burden
	for n := range monthDays {
		began := time.Now()
		r.day(t, n)
		evening := actortest.Weigh(t, r.dir) // the minion and its master
		evening.Timers = int64(len(r.clock.Timers()))
		days = append(days, evening)
		if testing.Verbose() {
			t.Logf("day %d, %v: %v", n, time.Since(began).Round(time.Millisecond), days[n])
		}
		if left := *month/monthDays - time.Since(began); left > 0 {
			<-time.After(left)
		}
	}
	actortest.Steady(t, days,
		actortest.May{What: "heap", Of: func(w actortest.Burden) int64 { return w.Heap }, Grow: 1 << 20},
		actortest.May{What: "disk", Of: func(w actortest.Burden) int64 { return w.Disk }, Grow: 2 << 20},
		actortest.May{What: "goroutines", Of: func(w actortest.Burden) int64 { return w.Goroutines }, Grow: 5},
		actortest.May{What: "timers", Of: func(w actortest.Burden) int64 { return w.Timers }, Grow: 5},
		actortest.May{What: "descriptors", Of: func(w actortest.Burden) int64 { return w.Descriptors }, Grow: 5})
}
