package jobs

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/jobfiles"
	"brine/modules/loader"
	"brine/wire/payload"
)

// machine is a machine whose descriptors and memory a test sets.
type machine struct{ open, limit, memory atomic.Int64 }

func (f *machine) sources() Machine {
	return Machine{
		Descriptors: func() (int, int) { return int(f.open.Load()), int(f.limit.Load()) },
		Memory:      func() float64 { return float64(f.memory.Load()) },
	}
}

func TestRoomForJobs(t *testing.T) {
	for _, tt := range []struct {
		max   int
		own   bool
		limit int64
		want  int
	}{
		{8, false, 1024, 8}, {-1, false, 1024, 61}, {0, true, 1024, 184}, {-1, false, 110, 1}, {-1, true, 90, 1},
		{-1, true, 0, 1000},
	} {
		var f machine
		f.limit.Store(tt.limit)
		if got := newRoom(tt.max, tt.own, f.sources()).most; got != tt.want {
			t.Errorf("process_count_max %d, own processes %v, %d descriptors: %d jobs, want %d", tt.max, tt.own,
				tt.limit, got, tt.want)
		}
	}
}

func TestRoomLacks(t *testing.T) {
	var f machine
	f.limit.Store(1000)
	now := time.Unix(1000, 0)
	for _, tt := range []struct {
		own          bool
		open, memory int64
		want         string
	}{
		{false, 799, 95, ""}, {false, 800, 0, "Insufficient FD headroom (Open: 800, Limit: 1000)"}, {true, 899, 0, ""},
		{true, 900, 0, "Insufficient FD headroom (Open: 900, Limit: 1000)"},
		{true, 0, 96, "Insufficient memory headroom"},
	} {
		f.open.Store(tt.open)
		f.memory.Store(tt.memory)
		r := newRoom(1, tt.own, f.sources())
		if got := r.lacks(now); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
		f.open.Store(0)
		f.memory.Store(0)
		if got := r.lacks(now.Add(queueEvery - 1)); got != tt.want {
			t.Errorf("%+v: %q within one look", tt, got)
		}
		if got := r.lacks(now.Add(queueEvery)); got != "" {
			t.Errorf("%+v: %q with room again", tt, got)
		}
		r.refused(now)
		if r.lacks(now.Add(pauseAfterRefuse-1)) == "" || r.lacks(now.Add(pauseAfterRefuse)) != "" {
			t.Error("the pause after a process that could not be started")
		}
	}
	if open, limit := openDescriptors(); open < 3 || limit < open {
		t.Errorf("%d descriptors of %d", open, limit)
	}
	if got := inUse([]byte("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\nodd\nHuge: x kB\n")); got != 75 {
		t.Errorf("%v percent in use", got)
	}
	if got := inUse([]byte("MemTotal: 1000 kB\n")); got != 0 {
		t.Errorf("%v percent in use of a machine that does not say", got)
	}
}

// TestNoOvertaking: when the machine has room again, a new job still waits behind those that came before it.
func TestNoOvertaking(t *testing.T) {
	var f machine
	d := &dispatcher{reg: &registry{}, opt: dispatcherOptions{room: newRoom(8, false, f.sources()),
		clock: actortest.NewClock()}}
	if why := d.full(testJID(1)); why != "" {
		t.Errorf("nothing waits, and there is room: %s", why)
	}
	d.reg.waiting = append(d.reg.waiting, &queuedJob{jid: testJID(1)})
	if d.full(testJID(2)) == "" {
		t.Error("it overtakes")
	}
}

// TestLiveNeighbour leaves the entries of another minion's process alone, as long as that lives.
func TestLiveNeighbour(t *testing.T) {
	dir := procDir(t.TempDir())
	for name, pid := range map[string]int64{"mine": int64(os.Getpid()), "alive": 77, "dead": 78} {
		b, err := payload.MarshalBin(payload.M("jid", name, "pid", pid))
		if err != nil {
			t.Fatal(err)
		}
		if err := dir.write(name, b); err != nil {
			t.Fatal(err)
		}
	}
	lost, err := dir.orphans(func(_ string, pid int) bool {
		return pid == 77
	}, jobfiles.TellDamage(actortest.NewLog().Logger()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range lost {
		names = append(names, o.name)
		if o.job.Map().Has("pid") {
			t.Errorf("%s: %v", o.name, o.job.Map())
		}
	}
	if got := strings.Join(names, " "); got != "dead mine" {
		t.Errorf("orphans %q", got)
	}
	if alive(0) || alive(-1) {
		t.Error("nobody lives")
	}
}

// What a return names as not called: what the minion does not have, and what it has and may not call.
func TestUncalledReturners(t *testing.T) {
	m := &Jobs{opt: Options{Disabled: []string{"good"}, Returns: []string{"slow", "etcd"}}}
	m.opt.Returners = loader.NewRegistry()
	job := payload.NewJob(payload.M("jid", "1", "ret", "good, bad,good"))
	if got, want := m.uncalled(job), []string{"good", "bad", "slow", "etcd"}; !slices.Equal(got, want) {
		t.Errorf("without any: got %v, want %v", got, want)
	}
	for _, name := range []string{"good", "bad", "slow"} {
		if err := m.opt.Returners.Register(loader.Func{Name: name + ".returner",
			Run: func(*loader.Call, loader.Args) (any, error) { return nil, nil }}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := m.uncalled(job), []string{"good", "etcd"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	scheduled := payload.NewJob(payload.M("jid", "1", "schedule", "x", "ret", "bad"))
	if got := m.uncalled(scheduled); len(got) != 0 {
		t.Errorf("of a schedule: %v", got)
	}
}

func testJID(n int) string { return fmt.Sprintf("20260102030405%06d", n) }
