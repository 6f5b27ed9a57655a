package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/client"
	"brine/wire/control"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// netSite is a master with two minions whose network can be broken. It also counts the events on the master's
// bus.
type netSite struct {
	s   *silentSite
	ids []string
	job int // number of the last job

	calm atomic.Bool // jobs are published slowly

	mu      sync.Mutex
	returns map[string]int // events of returns, by tag

	before map[string]usage // of each daemon, before the faults
}

// netJob is one published job. A minion that runs it writes the job's number as a line into a file.
type netJob struct {
	number int
	jid    string
}

// newNet makes a site whose minions reach the master through proxies.
func newNet(t *testing.T) *netSite {
	t.Helper()
	n := &netSite{s: newSilentSite(t), ids: []string{"n1", "n2"}, returns: map[string]int{}, before: map[string]usage{}}
	n.s.config()
	for _, id := range n.ids {
		n.s.minion(id, true)
	}
	n.start(t)
	return n
}

func (n *netSite) start(t *testing.T) {
	t.Helper()
	n.s.start("master", "salt-master")
	for _, id := range n.ids {
		n.s.start(id, "salt-minion")
	}
	n.s.connected(t, "yes", n.ids...)
	n.listen(t)
	for _, id := range n.ids {
		n.s.alive(t, id)
	}
	for _, name := range append([]string{"master"}, n.ids...) {
		n.before[name] = n.usage(t, name)
	}
}

// listen counts the events of returns until the test ends.
func (n *netSite) listen(t *testing.T) {
	t.Helper()
	sub, err := ipc.Subscribe(t.Context(), filepath.Join(n.s.path("m/var/run/salt/master"), event.MasterPubSocket),
		ipc.FramingDetect)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			body, err := sub.NextBody(context.Background())
			if err != nil {
				return // closed
			}
			if tag := event.Tag(body); strings.Contains(tag, "/ret/") {
				n.mu.Lock()
				n.returns[tag]++
				n.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		_ = sub.Close()
		<-done
	})
}

// calmness is the factor by which jobs become slower when the network works again. The waiting jobs must be
// able to get fewer, even on a slow machine.
const calmness = 10

// publishing publishes jobs for all minions, one after another, until the returned function is called. That
// function returns the published jobs. The command line has its own, intact way to the master's ports.
func (n *netSite) publishing(t *testing.T) func() []netJob {
	t.Helper()
	n.calm.Store(false)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan []netJob, 1)
	go func() {
		c := n.s.client()
		defer c.Close()
		var jobs []netJob
		tick := time.NewTicker(30 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			n.job++
			pub, err := c.Publish(t.Context(), client.Job{Tgt: []any{n.ids[0], n.ids[1]}, TgtType: "list",
				Fun: "cmd.run",
				Arg: []any{fmt.Sprintf(`echo %d >> "$HOME/$DAEMON.ran"`, n.job), payload.M("__kwarg__", true,
					"python_shell", true)}})
			if err != nil || pub.JID == "" {
				t.Errorf("publish: %+v, %v", pub, err)
				break
			}
			jobs = append(jobs, netJob{n.job, pub.JID})
			<-tick.C
			for i := 1; i < calmness && n.calm.Load() && ctx.Err() == nil; i++ {
				<-tick.C
			}
		}
		result <- jobs
	}()
	return func() []netJob {
		cancel()
		return <-result
	}
}

// ran counts how often a minion began each job, by the job's number.
func (n *netSite) ran(t *testing.T, id string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(n.s.path(id + ".ran"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, number := range strings.Fields(string(text)) {
		times[number]++
	}
	return times
}

// check waits until each job has its return from each minion, or a permitted reason why the minion never
// received it. Then it compares that with the jobs that the minions did.
func (n *netSite) check(t *testing.T, jobs []netJob, may func(ledger.Code) bool) {
	t.Helper()
	codes := map[ledger.Code]int{}
	lost := map[string]bool{}
	for _, j := range jobs {
		for id, code := range n.settled(t, j, may) {
			codes[code]++
			lost[id+" "+j.jid] = true
		}
	}
	t.Logf("%d jobs, not received: %v", len(jobs), codes)
	again := 0
	for _, j := range jobs {
		stored := n.stored(t, j.jid)
		for _, id := range n.ids {
			times, has := n.ran(t, id)[fmt.Sprint(j.number)], stored.Has(id)
			switch silent := lost[id+" "+j.jid]; {
			case silent && (times > 0 || has):
				t.Errorf("job %s of %s was not received, it is said; it ran %d times, a return is stored: %t", j.jid,
					id, times, has)
			case !silent && (times != 1 || !has):
				t.Errorf("job %s of %s ran %d times, a return is stored: %t", j.jid, id, times, has)
			case !silent:
				again += n.events(t, j.jid, id) - 1
			}
		}
	}
	t.Logf("%d returns were announced more than once: the answer to them was lost", again)
}

// stored returns the returns of a job in the job store, by minion.
func (n *netSite) stored(t *testing.T, jid string) *payload.Map {
	t.Helper()
	got, err := n.s.ask(control.Pack(control.GetJobReturns{JID: jid}))
	if err != nil {
		t.Fatal(err)
	}
	for id, v := range got.All() {
		if ret, _ := v.(*payload.Map); ret.Value("return") != "" {
			t.Errorf("return of %s by %v: %v", jid, id, v)
		}
	}
	return got
}

// events waits for the event of a return and counts such events.
func (n *netSite) events(t *testing.T, jid, id string) (times int) {
	t.Helper()
	n.s.until(t, "event of the return of "+jid+" by "+id, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		times = n.returns[event.TagJobReturn(jid, id)]
		return times > 0
	})
	return times
}

// settled waits until the silence of every minion about a job has a final reason.
func (n *netSite) settled(t *testing.T, j netJob, may func(ledger.Code) bool) map[string]ledger.Code {
	t.Helper()
	var silent map[string]ledger.Code
	var said string
	limit := time.Now().Add(silentPatience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; time.Now().Before(limit); <-tick.C {
		reply, err := n.s.ask(control.Pack(control.GetWhy{JID: j.jid}))
		if err != nil {
			said = err.Error()
			continue
		}
		silent, said = map[string]ledger.Code{}, ""
		for _, v := range reply.List("reasons") {
			one, _ := v.(*payload.Map)
			code := ledger.Code(one.Str("code"))
			if silent[one.Str("minion")] = code; !may(code) {
				said += fmt.Sprintf("%s [%s] %s\n", one.Str("minion"), code, one.Str("text"))
			}
		}
		if said == "" {
			return silent
		}
	}
	t.Fatalf("job %s stays unexplained: %s\n%s", j.jid, said, n.s.logs())
	return nil
}

// usage counts the resources of a daemon.
type usage struct{ goroutines, files int64 }

func (n *netSite) usage(t *testing.T, name string) usage {
	t.Helper()
	dir := n.s.path("m/var/run/salt/master")
	if name != "master" {
		dir = n.s.path(name + "/var/run/salt/minion")
	}
	got, err := n.s.askAt(dir, control.Pack(control.GetProcess{}))
	if err != nil {
		t.Fatal(err)
	}
	var u usage
	u.goroutines, _ = got.Int("goroutines")
	u.files, _ = got.Int("open_files")
	return u
}

// busySockets is the number of a minion's request sockets that may be open after many simultaneous requests.
// The minion closes a socket that is unused for half a minute. Until then each holds three descriptors in the
// minion and one in the master.
const busySockets = 36

// nothingLeft waits until the daemons hold no more than at the start. Unless patient is set, open request
// sockets are permitted.
func (n *netSite) nothingLeft(t *testing.T, patient bool) {
	for name, before := range n.before {
		spare := int64(3 * busySockets)
		if name == "master" {
			spare = busySockets * int64(len(n.ids))
		}
		if patient {
			spare = 3 // a socket may be in use at that moment
		}
		var now usage
		n.s.until(t, name+" holds what it held before", func() bool {
			now = n.usage(t, name)
			return now.goroutines <= before.goroutines+2 && now.files <= before.files+spare
		})
		t.Logf("%s: %+v, before %+v", name, now, before)
	}
}
