package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/fleet/jobstore"
	"brine/supervisor"
	"brine/wire/payload"
)

// fullStore takes nothing while it is full, and some returns never.
type fullStore struct {
	one     chan struct{} // a place for who looks at the rest
	full    bool
	never   string // id whose returns fail alone
	loads   []string
	returns []string
}

func (f *fullStore) set(full bool) {
	f.one <- struct{}{}
	defer func() { <-f.one }()
	f.full = full
}

func (f *fullStore) Commit(loads []jobstore.Load, rets []jobstore.Return) (res jobstore.Result, err error) {
	f.one <- struct{}{}
	defer func() { <-f.one }()
	if f.full {
		return res, errors.New("no space left on device")
	}
	for _, l := range loads {
		f.loads = append(f.loads, l.JID)
	}
	for i, r := range rets {
		if r.ID == f.never {
			res.Failed = append(res.Failed, jobstore.Failure{Index: i, Err: errors.New("it cannot be packed")})
			continue
		}
		f.returns = append(f.returns, r.JID+" "+r.ID)
	}
	return res, nil
}

func (f *fullStore) Clean(time.Time) (int, error)                  { return 0, nil }
func (f *fullStore) Compact(context.Context) (int64, int64, error) { return 0, 0, nil }

func (f *fullStore) has(kind func(*fullStore) []string, want ...string) error {
	f.one <- struct{}{}
	defer func() { <-f.one }()
	for _, w := range want {
		if !slices.Contains(kind(f), w) {
			return fmt.Errorf("%q is not among %q", w, kind(f))
		}
	}
	return nil
}

func startStore(t *testing.T, store jobWriter, o *owed) (*supervisor.Ref, *actortest.Log, *supervisor.Supervisor) {
	t.Helper()
	log := actortest.NewLog()
	if o == nil {
		o = &owed{}
	}
	o.log = log.Logger()
	s := actortest.Start(t, supervisor.Options{})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "JobStore", New: func() supervisor.Actor {
		return &jobStore{opt: WriterOptions{store: store, Log: log.Logger(), owed: o}}
	}})
	return ref, log, s
}

func jidOf(i int) string { return fmt.Sprintf("2026010100000000%04d", i) }

func storedLoads(f *fullStore) []string   { return f.loads }
func storedReturns(f *fullStore) []string { return f.returns }

// TestOwed: what could not be stored and nobody sends again gets to the disk when there is room.
func TestOwed(t *testing.T) {
	f := &fullStore{one: make(chan struct{}, 1), full: true}
	ref, log, _ := startStore(t, f, nil)
	answers := make(chan error, 10)
	stored := func(err error) { answers <- err }
	for i := range 3 {
		ref.Send(&SaveLoad{JID: jidOf(i), Load: payload.M("fun", "test.ping")})
	}
	ref.Send(&SaveLoad{JID: jidOf(8), Load: payload.M("fun", "test.ping"), Again: true})
	ref.Send(&StoreReturn{JID: jidOf(1), ID: "m1", Load: aReturn("m1", jidOf(1)), Stored: stored})
	ref.Send(&StoreReturn{JID: jidOf(2), ID: "master", Load: aReturn("master", jidOf(2)), Keep: true, Stored: stored})
	for range 2 {
		if err := actortest.Wait(t, "answer", answers); err == nil {
			t.Error("a return is acknowledged that is not stored")
		}
	}
	f.set(false)
	actortest.Eventually(t, "loads", func() error { return f.has(storedLoads, jidOf(0), jidOf(1), jidOf(2)) })
	actortest.Eventually(t, "returns", func() error { return f.has(storedReturns, jidOf(2)+" master") })
	log.Await(t, "jobs can be stored again")
	if f.has(storedLoads, jidOf(8)) == nil || f.has(storedReturns, jidOf(1)+" m1") == nil {
		t.Errorf("what comes again was kept: %q, %q", f.loads, f.returns)
	}
	select {
	case err := <-answers:
		t.Errorf("answered twice: %v", err)
	default:
	}
}

// TestOwedOutlives the actor that owes.
func TestOwedOutlives(t *testing.T) {
	f, o := &fullStore{one: make(chan struct{}, 1), full: true}, &owed{}
	ref, log, s := startStore(t, f, o)
	ref.Send(&SaveLoad{JID: jidOf(1), Load: payload.M("fun", "test.ping")})
	log.Await(t, "jobs cannot be stored")
	s.Stop(time.Minute)
	f.set(false)
	ref, _, _ = startStore(t, f, o)
	ref.Send(&SaveFacts{})
	ref.Send(&SaveLoad{JID: jidOf(2)})
	actortest.Eventually(t, "loads", func() error { return f.has(storedLoads, jidOf(1), jidOf(2)) })
}

// TestOwedMost: the oldest goes when too much is owed, which is said once.
func TestOwedMost(t *testing.T) {
	log := actortest.NewLog()
	o := &owed{log: log.Logger()}
	big := payload.M("arg", strings.Repeat("x", 10<<20))
	for i := range 20 {
		o.add(&group{loads: []*SaveLoad{{JID: jidOf(i), Load: big}}})
	}
	if len(o.loads) != 3 || o.loads[2].JID != jidOf(19) || o.size > owedBytes {
		t.Errorf("%d loads, %d bytes", len(o.loads), o.size)
	}
	if said := len(log.Lines()); said != 1 {
		t.Errorf("said %d times", said)
	}
}

// TestReturnFailsAlone: one return that cannot be stored is told so, and no other.
func TestReturnFailsAlone(t *testing.T) {
	f := &fullStore{one: make(chan struct{}, 1), never: "bad"}
	ref, log, _ := startStore(t, f, nil)
	answers := map[string]chan error{}
	for _, id := range []string{"m1", "bad", "m2"} {
		done := make(chan error, 1)
		answers[id] = done
		ref.Send(&StoreReturn{JID: theJID, ID: id, Load: aReturn(id, theJID), Stored: func(err error) { done <- err }})
	}
	for id, done := range answers {
		if err := actortest.Wait(t, "answer", done); (err != nil) != (id == "bad") {
			t.Errorf("%s: %v", id, err)
		}
	}
	log.Await(t, "a return cannot be stored")
}
