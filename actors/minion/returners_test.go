package minion

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/wire/payload"
)

// kept are the returns that test returners took, by their names.
type kept struct {
	mu    lock
	took  map[string][]*payload.Map
	fails map[string]error // by name and ret_config
	holds chan struct{}    // what "slow" waits for
}

func newKept() *kept {
	return &kept{mu: newLock(), took: map[string][]*payload.Map{}, fails: map[string]error{},
		holds: make(chan struct{})}
}

// registry has three returners: good, bad (which fails as long as fails says so) and slow.
func (k *kept) registry(t *testing.T) *loader.Registry {
	t.Helper()
	reg := loader.NewRegistry()
	for _, name := range []string{"good", "bad", "slow"} {
		err := reg.Register(loader.Func{Name: name + ".returner", Params: []loader.Param{loader.Req("ret")},
			Run: func(c *loader.Call, a loader.Args) (any, error) {
				return nil, k.take(c, name, a.Get("ret").(*payload.Map))
			}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return reg
}

func (k *kept) take(c *loader.Call, name string, ret *payload.Map) error {
	if name == "slow" {
		select {
		case <-k.holds:
		case <-c.Ctx.Done():
			return c.Ctx.Err()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.fails[name+ret.Str(payload.FieldRetConfig)]; err != nil {
		return err
	}
	k.took[name] = append(k.took[name], ret)
	return nil
}

func (k *kept) fail(name string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fails[name] = err
}

func (k *kept) of(name string) []*payload.Map {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.took[name])
}

// has waits until a returner has taken so many returns. The clock stands still meanwhile.
func (k *kept) has(t *testing.T, r *rig, name string, n int) {
	t.Helper()
	r.pass(t, fmt.Sprintf("%d returns for %s", n, name), func() bool { return len(k.of(name)) == n }, 0)
}

// job publishes a job that names returners, and waits for its return.
func (r *rig) job(jid, fun, returners string, extra ...any) {
	r.t.Helper()
	l := load(jid, fun).Set("ret", returners)
	l.Update(payload.M(extra...))
	r.master().send(r.master().sealed(l))
	r.master().awaitReturn(r.t, jid)
}

// withReturners is a minion that has these returners.
func withReturners(t *testing.T, k *kept, extra string) *rig {
	r := newRig(t, extra)
	r.opt.Returners = k.registry(t)
	return r.up()
}

// TestReturners: each returner that a job or the option return names gets the return once, with the id and what the job
// says to returners; one that is disabled, or not there, gets none, and the log says so.
func TestReturners(t *testing.T) {
	k := newKept()
	r := withReturners(t, k, "return: [good]\ndisable_returners: [bad]\n")
	r.job("20261123000000000001", "test.ping", "good, bad,nosuch", "ret_config", "alt", "ret_kwargs",
		payload.M("db", int64(1)))
	k.has(t, r, "good", 1)
	ret := k.of("good")[0]
	for field, want := range map[string]any{"id": "m1", "jid": "20261123000000000001", "return": true,
		"ret_config": "alt", "ret_kwargs": payload.M("db", int64(1)), "fun": "test.ping"} {
		if got := ret.Value(field); !payload.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", field, got, want)
		}
	}
	r.log.Await(t, "Returner bad is disabled (disable_returners)")
	r.log.Await(t, "Returner nosuch.returner could not be called")
	if got := k.of("bad"); len(got) != 0 {
		t.Errorf("a disabled returner got %v", got)
	}
	r.stop() // which asks stores to keep what they hold
	for _, line := range r.log.Lines() {
		if strings.Contains(line, "unhandled message") {
			t.Error(line)
		}
	}
}

// TestReturnersLater: what a returner could not take stays on disk over a death of the ReturnerSpool and of the minion,
// and reaches it in its order when it can be called again. What it never can take is given up, and holds up nothing.
func TestReturnersLater(t *testing.T) {
	k := newKept()
	k.fail("bad", errors.New("connection refused"))
	r := withReturners(t, k, "")
	for n := range 3 {
		r.job(fmt.Sprintf("2026112300000000000%d", n), "test.ping", "bad,good")
		k.has(t, r, "good", n+1)
	}
	r.crash("ReturnerSpool")
	r.stop()
	k.fail("bad", &returners.Unusable{Err: errors.New("not this one")})
	r.fun = newFunctions()
	r.opt = r.options()
	r.opt.Returners = k.registry(t)
	r.ready = make(chan struct{}, 8)
	r.opt.Ready = func() { r.ready <- struct{}{} }
	r.up()
	r.log.Await(t, "not given again")
	k.fail("bad", nil)
	r.job("20261123000000000003", "test.ping", "bad")
	r.until(t, "the last return", func() bool {
		got := k.of("bad")
		return len(got) > 0 && got[len(got)-1].Str("jid") == "20261123000000000003"
	}, 100*time.Millisecond)
	if got := k.of("bad"); !slices.IsSortedFunc(got, func(a, b *payload.Map) int {
		return strings.Compare(a.Str("jid"), b.Str("jid"))
	}) {
		t.Errorf("not in their order: %v", got)
	}
	r.until(t, "empty spool", func() bool {
		return len(files(t, filepath.Join(r.cfg.CacheDir, "returners"))) == 0
	}, time.Millisecond)
}

// TestReturnersPause: a returner that fails is called again after pauses that grow, and no other one waits for it.
func TestReturnersPause(t *testing.T) {
	k := newKept()
	k.fail("bad", errors.New("connection refused"))
	r := withReturners(t, k, "")
	r.job("20261123000000000001", "test.ping", "bad,good")
	k.has(t, r, "good", 1)
	r.job("20261123000000000002", "test.ping", "bad", "ret_config", "other") // another place, which works
	k.has(t, r, "bad", 1)
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		r.clock.WaitTimer(t, pause)
		r.clock.Advance(pause)
	}
	r.clock.WaitTimer(t, 8*time.Second)
	k.fail("bad", nil)
	r.clock.Advance(8 * time.Second)
	k.has(t, r, "bad", 2)
}

// TestReturnersDelayNothing: the master has its return, and the job is over, while a returner hangs.
func TestReturnersDelayNothing(t *testing.T) {
	k := newKept()
	r := withReturners(t, k, "")
	r.job("20261123000000000001", "test.ping", "slow")
	r.awaitIdle(t)
	if got := k.of("slow"); len(got) != 0 {
		t.Fatalf("it does not hang: %v", got)
	}
	close(k.holds)
	k.has(t, r, "slow", 1)
}

// TestReturnersWithoutRoom: a return for which the spool has no room goes to its returner all the same, once.
func TestReturnersWithoutRoom(t *testing.T) {
	k := newKept()
	r := withReturners(t, k, "return_spool_max_bytes: 10\n")
	r.job("20261123000000000001", "test.ping", "good")
	k.has(t, r, "good", 1)
	r.log.Await(t, "a returner is tried once only")
}
