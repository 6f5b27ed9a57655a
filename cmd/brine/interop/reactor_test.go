//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// reactions are the rules of a Reactor and its files. DIR is their directory.
var reactions = map[string]string{
	"all.sls": `job:
  local.test.arg:
    - tgt: {{ data['id'] }}
    - args:
      - x: {{ data['data']['x'] | json }}
run:
  runner.event.send:
    - args:
      - tag: seen/run
      - data: {{ data['data'] | json }}
wheel:
  wheel.minions.connected: []
`,
	"file.sls": "{% from 'name.jinja' import name %}\nfile:\n  caller.cmd.run:\n    - args: ['touch DIR/{{ name " +
		"}}']\n",
	"name.jinja": "{% set name = 'made-by-caller' %}",
	"old.sls": "old:\n  cmd.test.arg:\n    - tgt: {{ data.id }}\n    - arg: [old]\n    - kwarg: {y: 2}\nnew:\n  " +
		"runner.test.arg:\n    - x: 1\n",
}

// TestReactor: a Salt 3008 minion fires events at a brine master. Jobs, runner and wheel functions and calls on
// the master follow, in both syntaxes. Salt's own tools manage the rules. Then the master is killed while it
// handles events.
func TestReactor(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	f := newFleet(t, brine, brine, map[string]string{"m1": reference}, plain)
	dir := f.masterPath("srv")
	for name, text := range reactions {
		f.write(filepath.Join(dir, name), strings.ReplaceAll(text, "DIR", dir))
	}
	f.configMaster(plain.master + fmt.Sprintf("reactor_worker_threads: 1\nreactor_worker_hwm: 1\nfile_roots: {base: "+
		"[%s]}\nreactor:\n  - 'my/*': [%s/all.sls, 'salt://file.sls']\n  - old: %s/old.sls\n", dir, dir, dir))
	f.startMaster(brine)
	f.startMinions()
	f.acceptAll()
	f.reactsTo()
	f.managedBySalt(dir)
	f.takesUp(dir)
}

// fires lets the minion fire an event.
func (f *fleet) fires(tag, data string) {
	f.t.Helper()
	f.eventually(patience, "event of the minion", func() error {
		got := f.runIn(f.minionDir("m1"), reference, "salt-call", "--out=json", "event.send", tag, data)
		return contains(got.stdout, "true")
	})
}

func (f *fleet) reactsTo() {
	f.t.Helper()
	w := f.watch(brine, func() { f.mustRun(brine, "salt-run", "test.arg", "x") })
	nasty := `{{ 7 * 7 }}"'`
	text, err := json.Marshal(map[string]string{"x": nasty})
	if err != nil {
		f.t.Fatal(err)
	}
	f.fires("my/event", string(text))
	f.fires("old", "{}")
	f.eventually(patience, "reactions", func() error {
		var missing []string
		for name, is := range map[string]func(tag string, data map[string]any) bool{
			"job": func(_ string, d map[string]any) bool { return isReturn(d, "test.arg", `"x":`+quoted(nasty)) },
			"run": func(tag string, d map[string]any) bool { return tag == "seen/run" && d["x"] == nasty },
			"runner": func(tag string, d map[string]any) bool {
				return d["fun"] == "runner.event.send" && d["user"] == "Reactor" && d["success"] == true
			},
			"wheel": func(tag string, d map[string]any) bool {
				return d["fun"] == "wheel.minions.connected" && d["user"] == "Reactor" && d["success"] == true
			},
			"old": func(_ string, d map[string]any) bool {
				return isReturn(d, "test.arg", `"y":2`) && strings.Contains(quoted(d), `"old"`)
			},
			"new": func(_ string, d map[string]any) bool {
				return d["fun"] == "runner.test.arg" && d["user"] == "Reactor" && strings.Contains(quoted(d["return"]),
					`"x":1`)
			},
		} {
			if !w.heard(is) {
				missing = append(missing, name)
			}
		}
		if _, err := os.Stat(f.masterPath("srv/made-by-caller")); err != nil {
			missing = append(missing, "caller")
		}
		if len(missing) > 0 {
			return fmt.Errorf("no %v", missing)
		}
		return nil
	})
}

// isReturn tells whether an event is the return of a job and contains a text.
func isReturn(d map[string]any, fun, part string) bool {
	return d["cmd"] == "_return" && d["fun"] == fun && strings.Contains(quoted(d["return"]), part)
}

func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// heard tells whether any event has a property.
func (w *watcher) heard(is func(tag string, data map[string]any) bool) bool {
	for line := range strings.Lines(w.output()) {
		tag, text, _ := strings.Cut(line, "\t")
		var data map[string]any
		if json.Unmarshal([]byte(text), &data) == nil && is(tag, data) {
			return true
		}
	}
	return false
}

// managedBySalt: Salt's salt-run and brine's manage the rules, and added rules take effect.
func (f *fleet) managedBySalt(dir string) {
	f.t.Helper()
	got := f.mustRun(reference, "salt-run", "--out=json", "reactor.add", "added", dir+"/all.sls")
	if err := contains(got.stdout, "Reactor added."); err != nil {
		f.t.Error(err)
	}
	if err := contains(f.mustRun(reference, "salt-run", "--out=json", "reactor.list").stdout,
		dir+"/all.sls"); err != nil {
		f.t.Error(err)
	}
	list := f.mustRun(brine, "salt-run", "--out=json", "reactor.list").stdout
	for _, tag := range []string{"my/*", "added"} {
		if err := contains(list, tag); err != nil {
			f.t.Error(err)
		}
	}
	w := f.watch(brine, func() { f.mustRun(brine, "salt-run", "test.arg", "x") })
	f.fires("added", `{"x": "added"}`)
	f.eventually(patience, "a reaction of what was added", func() error {
		if !w.heard(func(tag string, d map[string]any) bool { return tag == "seen/run" && d["x"] == "added" }) {
			return fmt.Errorf("none")
		}
		return nil
	})
	for _, step := range []struct{ kind, want string }{{reference, "false"}, {brine, "true"}} {
		f.mustRun(step.kind, "salt-run", "--out=json", "reactor.set_leader", map[string]string{"false": "False",
			"true": "True"}[step.want])
		if err := contains(f.mustRun(brine, "salt-run", "--out=json", "reactor.is_leader").stdout,
			step.want); err != nil {
			f.t.Error(err)
		}
	}
	if err := contains(f.mustRun(brine, "salt-run", "--out=json", "reactor.delete", "added").stdout,
		"Reactor deleted."); err != nil {
		f.t.Error(err)
	}
	if err := contains(f.operator("reactor"), "my/*"); err != nil {
		f.t.Error(err)
	}
	file := filepath.Join(dir, "event.json")
	f.write(file, `{"tag": "my/event", "data": {"id": "m1", "data": {"x": "y"}}}`)
	if err := contains(f.operator("reactor", "test", file), "call runner event.send of run"); err != nil {
		f.t.Error(err)
	}
}

// operator returns the output of one of brine's own commands.
func (f *fleet) operator(word string, args ...string) string {
	f.t.Helper()
	cmd := exec.Command(brineBin, append([]string{word, "-c", f.masterDir()}, args...)...)
	cmd.Env = f.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Errorf("brine %s %q: %v\n%s", word, args, err, out)
	}
	return string(out)
}

// takesUp: the next master handles the events that waited at a kill -9, each job once. A function that was
// running is not run again, and the log says so.
func (f *fleet) takesUp(dir string) {
	f.t.Helper()
	f.write(filepath.Join(dir, "all.sls"), "job{{ data.data.n }}:\n  local.test.arg:\n    - tgt: {{ data.id }}\n    "+
		"- arg: [\"job {{ data.data.n }}\"]\n"+
		"slow:\n  runner.test.sleep:\n    - args: {s_time: 2}\n")
	const events = 6
	w := f.watch(brine, func() { f.mustRun(brine, "salt-run", "test.arg", "x") })
	for n := range events {
		f.fires("my/event", fmt.Sprintf(`{"n": %d}`, n))
	}
	f.eventually(patience, "a job", func() error {
		if !w.heard(func(_ string, d map[string]any) bool { return isReturn(d, "test.arg", `"job 1"`) }) {
			return fmt.Errorf("none")
		}
		return nil
	})
	w.stop()
	f.site.master.kill()
	f.startMaster(brine)
	var jobs string
	f.eventually(patience, "all reactions", func() error {
		var got struct{ Waiting, Doubtful, Dropped int }
		if err := json.Unmarshal([]byte(f.operator("reactor", "--json")), &got); err != nil {
			return err
		}
		if got.Waiting > 0 || got.Doubtful > 1 || got.Dropped > 0 {
			return fmt.Errorf("got %+v", got)
		}
		jobs = f.mustRun(brine, "salt-run", "--out=json", "jobs.list_jobs", "search_function=test.arg").stdout
		return nil
	})
	for n := range events {
		if got := strings.Count(jobs, fmt.Sprintf("\"job %d\"", n)); got != 1 {
			f.t.Errorf("event %d: %d jobs\n%s", n, got, jobs)
		}
	}
}

// TestReactorOfSalt lets brine's salt-run manage the Reactor of a real master.
func TestReactorOfSalt(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	f := newFleet(t, reference, brine, nil, plain)
	f.configMaster(plain.master + "reactor: [{one: [/none.sls]}]\n")
	f.startMaster(reference)
	for _, step := range []struct {
		words []string
		want  string
	}{
		{[]string{"reactor.list"}, "/none.sls"}, {[]string{"reactor.add", "two", "/other.sls"}, "Reactor added."},
		{[]string{"reactor.list"}, "/other.sls"}, {[]string{"reactor.add", "two", "/other.sls"},
			"Reactor already exists."}, {[]string{"reactor.delete", "two"}, "Reactor deleted."},
		{[]string{"reactor.is_leader"}, "true"}, {[]string{"reactor.set_leader", "False"}, "false"},
		{[]string{"reactor.is_leader"}, "false"},
	} {
		f.eventually(patience, strings.Join(step.words, " "), func() error {
			got := f.run(brine, "salt-run", append([]string{"--out=json"}, step.words...)...)
			return contains(got.stdout, step.want)
		})
	}
}
