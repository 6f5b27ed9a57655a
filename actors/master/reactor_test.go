package master

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/config"
	"brine/wire/control"
	"brine/wire/payload"
)

// reactorRig is a master whose Reactor has some rules; %s in them is the directory of the files.
func reactorRig(t *testing.T, rules string, files map[string]string, conf ...string) *rig {
	t.Helper()
	r := newSite(t, conf...)
	for name, text := range files {
		r.write("srv/"+name, text, 0o644)
	}
	dir := filepath.Join(r.dir, "srv")
	r.write("etc/master.d/reactor.conf", fmt.Sprintf("file_roots: {base: [%s]}\nreactor: %s\n", dir,
		strings.ReplaceAll(rules, "DIR", dir)), 0o644)
	r.reread()
	r.start()
	return r
}

func (r *rig) reread() *config.Master {
	r.t.Helper()
	cfg, err := config.LoadMaster(filepath.Join(r.dir, "etc/master"), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.m == nil {
		r.cfg = cfg
	}
	return cfg
}

// TestReactor: the four kinds of reactions happen in a master, files come from directories and from the file server,
// and the Reactor's own runs set nothing off.
func TestReactor(t *testing.T) {
	r := reactorRig(t, "[{'my/*': [DIR/a.sls, 'salt://b.sls']}, {'salt/run/*': [DIR/loop.sls]}]", map[string]string{
		"a.sls": "run:\n  runner.test.arg:\n    - args: {x: {{ data.x | json }}}\nwheel:\n  " +
			"wheel.minions.connected: []\n",
		"c.jinja": "{% set who = 'web1' %}", "loop.sls": "loop: {runner.test.arg: [arg: [], kwarg: {}]}\n"})
	r.accept("web1", "minion")
	ear := r.hear()
	r.write("srv/b.sls", strings.ReplaceAll("{% from 'c.jinja' import who %}\nping:\n  local.test.ping:\n    - tgt: "+
		"{{ who }}\n    - metadata: {a: 1}\nfile:\n  caller.cmd.run:\n    - args: [\"touch DIR/{{ tag | "+
		"replace('/', '-') }}\"]\n", "DIR", r.dir), 0o644)
	r.m.Fire("my/event", payload.M("x", "{{ 1 }}"))
	seen := map[string]*payload.Map{}
	for len(seen) < 3 {
		tag, data := ear.next()
		switch {
		case strings.HasPrefix(tag, "salt/run/") && strings.HasSuffix(tag, "/ret"),
			strings.HasPrefix(tag, "salt/wheel/") && strings.HasSuffix(tag, "/ret"):
			seen[data.Str("fun")] = data
		case strings.HasSuffix(tag, "/publish"):
			seen["publish"] = data
		}
	}
	if got := seen["runner.test.arg"]; got.Str("user") != "Reactor" ||
		payload.Show(fmt.Sprint(got.Map("return").Map("kwargs").Value("x"))) != "{{ 1 }}" {
		t.Errorf("runner: got %v", got)
	}
	if got := seen["wheel.minions.connected"]; got.Str("user") != "Reactor" || !got.Bool("success") {
		t.Errorf("wheel: got %v", got)
	}
	if got := seen["publish"]; got.Str("fun") != "test.ping" || got.Str("tgt") != "web1" ||
		got.Map("metadata") == nil || got.Has("__id__") {
		t.Errorf("publish: got %v", got)
	}
	var s control.Reactor
	r.eventually("the end", func() error {
		if s = r.m.Reactor(); s.Waiting > 0 || s.Calls < 4 {
			return fmt.Errorf("got %+v", s)
		}
		return nil
	})
	if s.Failures != 0 || s.Calls != 4 {
		t.Errorf("got %+v", s)
	}
	if r.read(filepath.Join(r.dir, "my-event")) != "" {
		t.Error("the file is not empty")
	}
}

// TestReactorLive: rules come, change and go while the master runs, and runner functions manage them.
func TestReactorLive(t *testing.T) {
	r := reactorRig(t, "[]", map[string]string{"a.sls": "run: {runner.test.arg: [args: {x: 1}]}\n"})
	if r.m.Reactor().Running {
		t.Fatal("a Reactor without rules")
	}
	if got, err := r.m.ManageReactor(control.ManageReactor{Do: "list"}); err != nil || got.Running {
		t.Fatal(got, err)
	}
	ear := r.hear()
	took := func(tag string) {
		t.Helper()
		before := r.m.Reactor().Calls
		r.m.Fire(tag, payload.M())
		r.eventually("a reaction to "+tag, func() error {
			if s := r.m.Reactor(); s.Calls != before+1 || s.Waiting > 0 {
				return fmt.Errorf("got %+v", s)
			}
			return nil
		})
	}
	r.write("etc/master.d/reactor.conf", fmt.Sprintf("reactor: [{one: [%s/srv/a.sls]}]\n", r.dir), 0o644)
	r.m.Reload(r.reread())
	took("one")
	r.write("etc/master.d/reactor.conf", fmt.Sprintf("reactor: [{two: [%s/srv/a.sls]}]\n", r.dir), 0o644)
	r.m.Reload(r.reread())
	took("two")
	r.write("srv/map", fmt.Sprintf("- of/*: %s/srv/a.sls\n- two: [%s/srv/a.sls]\n", r.dir, r.dir), 0o644)
	r.write("etc/master.d/reactor.conf", fmt.Sprintf("reactor: %s/srv/map\n", r.dir), 0o644)
	r.m.Reload(r.reread())
	took("of/a/file")
	r.write("etc/master.d/reactor.conf", fmt.Sprintf("reactor: [{two: [%s/srv/a.sls]}]\n", r.dir), 0o644)
	r.m.Reload(r.reread())
	if got, err := r.m.ManageReactor(control.ManageReactor{Do: "add", Event: "three",
		Files: []any{r.dir + "/srv/a.sls"}}); err != nil || got.Result.Str("comment") != "Reactor added." ||
		len(got.Reactors) != 2 {
		t.Fatal(got, err)
	}
	took("three")
	key := r.m.core.rules.Load().Eauth.Keys()[r.cfg.User]
	r.m.Fire("salt/reactors/manage/set_leader", payload.M("id", r.cfg.ID, "value", false, "key", key))
	if got := ear.await("salt/reactors/manage/leader/value"); got.Bool("result") {
		t.Errorf("got %v", got)
	}
	if got, err := r.m.TryReactor(context.Background(), "two", payload.M()); err != nil || len(got.Calls) != 1 ||
		got.Leader {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestReactorStorm: an event that fires itself twice over fills the backlog, and no more: the master answers all the
// while.
func TestReactorStorm(t *testing.T) {
	r := reactorRig(t, "[{storm: [DIR/a.sls]}]", map[string]string{"a.sls": "{% for i in range(20) %}s{{ i }}: " +
		"{runner.event.send: [args: {tag: storm}]}\n{% endfor %}"}, "reactor_worker_hwm: 20")
	r.m.Fire("storm", payload.M())
	least := time.Now().Add(time.Second)
	r.eventually("a storm", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience/2)
		defer cancel()
		if err := r.m.AwaitJobs(ctx); err != nil {
			t.Fatalf("the master does not answer: %v", err)
		}
		s := r.m.Reactor()
		if s.WaitingBytes > 64<<20 {
			t.Fatalf("got %+v", s)
		}
		if s.Calls < 20 || time.Now().Before(least) {
			return fmt.Errorf("got %+v", s)
		}
		return nil
	})
	if _, err := r.m.ManageReactor(control.ManageReactor{Do: "delete", Event: "storm"}); err != nil {
		t.Fatal(err)
	}
	r.eventually("the storm is over", func() error {
		if s := r.m.Reactor(); s.Waiting > 0 {
			return fmt.Errorf("got %+v", s)
		}
		return nil
	})
}
