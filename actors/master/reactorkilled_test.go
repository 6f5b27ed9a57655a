package master

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// TestReactorKilled kills masters with a hundred events in the hand of the Reactor. The next ones take them up: there
// is one job for each event, whatever process has published it.
func TestReactorKilled(t *testing.T) {
	r := newSite(t)
	r.write("srv/a.sls", "job:\n  local.test.arg:\n    - tgt: web1\n    - arg: [\"event {{ data.n }}\"]\n", 0o644)
	// other files: it waits for none of the others
	r.write("srv/mark.sls", "job:\n  local.test.arg:\n    - tgt: web1\n    - arg: [mark]\n", 0o644)
	r.write("etc/master.d/reactor.conf",
		fmt.Sprintf("reactor: [{my/event: %s/srv/a.sls}, {my/mark: %s/srv/mark.sls}]\n", r.dir, r.dir), 0o644)
	r.reread()
	r.accept("web1", "minion")
	const rounds, events, least = 4, 100, 20 // jobs that are seen before a master is killed
	for round := range rounds {
		child := r.startChild()
		push := ipc.NewPusher(filepath.Join(r.cfg.SockDir, event.MasterPullSocket), ipc.FramingPlain)
		ear := r.hearBy(func(tag string, data *payload.Map) { r.push(push, tag, data) })
		for n := range events {
			r.push(push, "my/event", payload.M("n", int64(round*events+n)))
		}
		r.push(push, "my/mark", payload.M()) // what comes of it shows that all before it are on disk
		for jobs, marked := 0, false; jobs < least || !marked; {
			tag, data := ear.next()
			if strings.HasPrefix(tag, "salt/job/") && strings.HasSuffix(tag, "/new") {
				jobs++
				marked = marked || fmt.Sprint(data.List("arg")...) == "mark"
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it was killed
		_ = push.Close()
		_ = ear.sub.Close()
	}
	r.start()
	r.eventually("all are reacted to", func() error {
		if s := r.m.Reactor(); s.Waiting > 0 {
			return fmt.Errorf("got %+v", s)
		}
		return nil
	})
	if err := r.m.AwaitJobs(testContext(t)); err != nil {
		t.Fatal(err)
	}
	loads, err := r.m.Jobs().Loads()
	if err != nil {
		t.Fatal(err)
	}
	jobs := map[string]int{}
	for _, load := range loads.All() {
		if load := load.(*payload.Map); load.Str("fun") == "test.arg" {
			jobs[fmt.Sprint(load.List("arg")...)]++
		}
	}
	for n := range rounds * events {
		if got := jobs[fmt.Sprintf("event %d", n)]; got != 1 {
			t.Errorf("event %d: %d jobs", n, got)
		}
	}
}

func (r *rig) push(to *ipc.Pusher, tag string, data *payload.Map) {
	r.t.Helper()
	body, err := event.Pack(tag, data, 0)
	if err == nil {
		err = to.Push(testContext(r.t), body)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
