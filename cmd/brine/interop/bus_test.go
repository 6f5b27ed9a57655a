//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrineToolsFire fires events with brine's tools on the buses of brine's own daemons.
// TestBrineToolsDriveSalt does so with Salt's daemons.
func TestBrineToolsFire(t *testing.T) {
	t.Parallel()
	f := newFleet(t, brine, brine, map[string]string{"m1": brine, "m2": brine}, plain)
	f.startAll()
	f.acceptAll()
	f.fire()
}

// fire fires events with brine's tools on the buses of all daemons. Each event arrives once, and no daemon
// reports an error.
func (f *fleet) fire() {
	f.fireAtMaster()
	for _, id := range f.ids {
		f.fireAtMinion(id)
	}
	for _, d := range f.daemons() {
		if d.says("while handling stream") == nil { // Salt's words for an event that it cannot read
			f.t.Errorf("%s was sent what it does not understand", d.name)
		}
	}
}

// fireAtMaster runs each tool that fires events on the master's bus. The master's own salt-run listens.
func (f *fleet) fireAtMaster() {
	w := f.watch(f.master, func() { f.mustRun(brine, "salt-run", "test.arg", "x") })
	for _, end := range []string{"/new", "/ret"} {
		w.sees("salt/run/", end, nil, func() { f.mustRun(brine, "salt-run", "test.arg", "x") })
	}
	for _, end := range []string{"/new", "/progress", "/complete"} {
		w.sees("salt/batch/", end, nil, func() { f.mustRun(brine, "salt", "-b", "1", "*", "test.ping") })
	}
	key, err := os.ReadFile(f.masterPath("etc/salt/pki/master/master.pub"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, tt := range [][2]string{{"-r", "rejected"}, {"-d", "delete"}, {"-a", "accepted"}, {"-d", "delete"}} {
		if tt[0] != "-d" {
			f.write(f.keyFile("minions_pre", "m3"), string(key))
		}
		w.sees("salt/key", "", map[string]any{"id": "m3", "act": tt[1], "result": true}, func() {
			f.mustRun(brine, "salt-key", "-y", tt[0], "m3")
		})
	}
	w.sawOnce()
}

// fireAtMinion fires events on a minion's own bus. brine's salt-run can listen there, Salt's cannot.
func (f *fleet) fireAtMinion(id string) {
	fire := func(tag string) {
		f.runIn(f.minionDir(id), brine, "salt-call", "event.fire", `{"n": 1}`, tag)
	}
	w := f.watch(brine, func() {
		fire("bus/ready")
	}, "node=minion", "sock_dir="+filepath.Join(f.minionRoot(id), "var/run/salt/minion"))
	for n := range 5 {
		w.sees("bus/test", fmt.Sprint(n), map[string]any{"n": 1.0}, func() { fire(fmt.Sprint("bus/test", n)) })
	}
	w.sawOnce()
}

// watcher is a salt-run that prints the events of a bus.
type watcher struct {
	*fleet
	*daemon
}

// watch starts a watcher and fires events until the watcher prints one.
func (f *fleet) watch(kind string, fire func(), args ...string) *watcher {
	f.t.Helper()
	args = append([]string{"-c", f.masterDir(), "state.event"}, args...)
	w := &watcher{fleet: f, daemon: f.start(kind+"-watch", toolPath(f.t, kind, "salt-run"), args...)}
	f.t.Cleanup(w.stop)
	f.eventually(patience, "a first event", func() error {
		fire()
		return w.says("\t{")
	})
	return w
}

// sees waits for an event that the action fires. Its tag has the given beginning and end, and its data has at
// least the given fields.
func (w *watcher) sees(begin, end string, fields map[string]any, action func()) {
	w.t.Helper()
	before := len(w.output())
	action()
	w.eventually(patience, begin+"..."+end+" on the bus", func() error {
		for line := range strings.Lines(w.output()[before:]) {
			tag, text, _ := strings.Cut(line, "\t")
			var data map[string]any
			if strings.HasPrefix(tag, begin) && strings.HasSuffix(tag, end) && json.Unmarshal([]byte(text),
				&data) == nil && holds(data, fields) {
				return nil
			}
		}
		return fmt.Errorf("it saw:\n%s", w.output()[before:])
	})
}

func holds(data, fields map[string]any) bool {
	for k, v := range fields {
		if data[k] != v {
			return false
		}
	}
	return true
}

// sawOnce checks that no event arrived twice. Each event contains its time. Only nudges of brine's bus may
// repeat.
func (w *watcher) sawOnce() {
	w.t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(w.output()) {
		if strings.Contains(line, "_stamp") && seen[line] && !strings.HasPrefix(line, "brine/bus/nudge\t") {
			w.t.Errorf("came twice: %s", line)
		}
		seen[line] = true
	}
}
