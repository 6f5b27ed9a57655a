package master

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/master/maintenance"
	"brine/actors/master/reqserver"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/supervisor/stats"
	"brine/wire/payload"
	"brine/wire/zmq"
)

var month = flag.Duration("month", 0, "how long the month of TestMonth takes; 0: as short as it can")

const (
	monthDays = 30
	dayJobs   = 60 // of a day
)

// day is what a fleet does in a day, as far as it leaves something behind.
func (r *rig) day(n int, minions []*testMinion, user *zmq.Req, passing string) {
	r.t.Helper()
	ask := func(load *payload.Map) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := user.Do(ctx, packed(r.t, clearEnvelope(load))); err != nil {
			r.t.Fatal(err)
		}
	}
	for i := range dayJobs {
		jid := payload.NewJID(time.Now())
		ask(r.publishLoad(payload.M("tgt", "m*", "fun", "test.echo", "arg", []any{strings.Repeat("x", 500)}, "jid",
			jid)))
		for _, m := range minions {
			m.giveBack(jid, "test.echo", strings.Repeat("y", 500))
		}
		if i%6 == 0 {
			m := minions[0]
			own := fmt.Sprintf("2020%016d", n*1000+i)
			m.giveBack(own, "state.apply", payload.M("n", n))
			m.ask(cmd("_minion_event", "id", m.id, "tag", fmt.Sprintf("custom/%d/%d", n, i), "data", payload.M("n", n)))
			m.ask(cmd("_mine", "data", payload.M("n", n, "i", i), "clear", i%12 == 0))
		}
	}
	ask(cmd("mk_token", "username", "tester", "password", "x", "eauth", "auto"))
	minions[0].ask(cmd("minion_pub", "fun", "test.ping", "arg", []any{}, "tgt", "m2", "tgt_type", "glob", "ret", "",
		"tmo", 5, "form", "clean"))
	guest := r.minion(passing)
	guest.giveBack(fmt.Sprintf("2021%016d", n), "test.ping", true)
	if err := guest.q.Close(); err != nil {
		r.t.Error(err)
	}
	if _, err := keyManagerOf(r.cfg, r.m.stores)(false).Delete(keys.Groups{{Status: keys.Accepted,
		IDs: []string{passing}}}); err != nil {
		r.t.Fatal(err)
	}
	top := r.m.Supervisor()
	ref, _ := top.Lookup(nameMaintenance)
	ref.Send(&maintenance.RotateKey{})
	names := []string{nameEventPublisher, "Publisher", "JobStore", nameReqServer}
	r.restart(names[n%len(names)])
	ref, _ = top.Lookup(nameMaintenance)
	ref.Send(&maintenance.Maintain{Now: time.Now().Add(time.Duration(n+2) * 25 * time.Hour)})
	for _, m := range minions {
		r.eventually("sign-in of "+m.id, func() error {
			if _, err := m.try(cmd("_mine", "data", payload.M("day", n), "clear", false)); err == nil {
				return nil
			}
			m.signIn()
			return fmt.Errorf("%s is not signed in", m.id)
		})
	}
}

// restart ends an actor and waits for its next incarnation: a request in between would be repeated by a real minion.
func (r *rig) restart(name string) {
	r.t.Helper()
	top := r.m.Supervisor()
	incarnation := func() (n int, state string) {
		for _, c := range top.Snapshot() {
			if c.Name == name {
				n, state = c.Incarnation, c.State
			}
		}
		return n, state
	}
	before, _ := incarnation()
	if err := top.Restart(name); err != nil {
		r.t.Fatal(err)
	}
	r.eventually("next "+name, func() error {
		if n, state := incarnation(); n <= before || state != stats.StateRunning {
			return fmt.Errorf("incarnation %d is %s", n, state)
		}
		return nil
	})
}

// TestMonth lets a master live through a month of jobs, returns, events, mines, tokens, keys that come and go,
// rotations of keys and deaths of actors, and weighs it every evening: what it holds does not grow from one half of the
// month to the next.
func TestMonth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	r := newSite(t, "peer: {m1: ['test.*']}", "external_auth: {auto: {tester: ['test.*']}}",
		"job_store_compact_min_bytes: 1000000", "keep_jobs_seconds: 86400", "restart_delay_max: 1", "token_expire: 1",
		"minion_quota_jobs: 0", "minion_quota_events: 0")
	// full after a few days
	r.faulty, r.silent, r.book = true, true, ledger.Limits{Jobs: 4 * dayJobs, Rows: 12 * dayJobs}
	r.start()
	minions := []*testMinion{r.minion("m1"), r.minion("m2"), r.minion("m3")}
	user := r.connect()
	var days []actortest.Burden
	for n := range monthDays {
		began := time.Now()
		r.day(n, minions, user, fmt.Sprintf("guest%04d", n))
		server, _ := r.m.Supervisor().Lookup(nameReqServer)
		server.Send(&reqserver.CheckDeadlines{}) // it holds what was answered until its next look, which is once in a second
		r.eventually("rest", func() error {
			if n := server.Depth() + r.m.core.jobs.Writer.Depth() + r.m.core.events.Way.Ref().Depth(); n > 0 {
				return fmt.Errorf("%d messages wait", n)
			}
			return nil
		})
		days = append(days, actortest.Weigh(t, r.dir)) // the master and its minions
		if testing.Verbose() {
			t.Logf("day %d, %v: %v", n, time.Since(began).Round(time.Millisecond), days[n])
		}
		if left := *month/monthDays - time.Since(began); left > 0 {
			<-time.After(left)
		}
	}
	actortest.Steady(t, days,
		actortest.May{What: "heap", Of: func(w actortest.Burden) int64 { return w.Heap }, Grow: 512 << 10},
		actortest.May{What: "resident memory", Of: func(w actortest.Burden) int64 {
			return w.Resident
		}, Grow: 16 << 20},
		actortest.May{What: "disk", Of: func(w actortest.Burden) int64 { return w.Disk }, Grow: 512 << 10, Peak: true},
		actortest.May{What: "goroutines", Of: func(w actortest.Burden) int64 { return w.Goroutines }, Grow: 3},
		actortest.May{What: "descriptors", Of: func(w actortest.Burden) int64 { return w.Descriptors }, Grow: 3})
}
