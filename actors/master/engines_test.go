package master

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/supervisor/stats"
	"brine/wire/loopback"
	"brine/wire/payload"
	"brine/wire/python"
)

// engineRig is a master with engines; DIR in them is a directory of programs, given by name.
func engineRig(t *testing.T, conf string, programs map[string]string) *rig {
	t.Helper()
	r := newSite(t)
	for name, text := range programs {
		r.write("srv/"+name, "#!/bin/sh\n"+text, 0o755)
	}
	r.write("etc/master.d/engines.conf", strings.ReplaceAll(conf, "DIR", filepath.Join(r.dir, "srv")), 0o644)
	r.faulty = true
	r.reread()
	r.start()
	return r
}

// look finds an actor.
func (r *rig) look(path string) (found stats.Child, ok bool) {
	r.tree(func(c stats.Child) {
		if c.Path == "master/"+path {
			found, ok = c, true
		}
	})
	return found, ok
}

// awaits waits for an event.
func (e *busEar) awaits(want string) *payload.Map {
	for {
		if tag, data := e.next(); tag == want {
			return data
		}
	}
}

// TestEngines: engines are children, what they fire is on the bus, one that dies is started anew and one that cannot
// start keeps nobody from starting.
func TestEngines(t *testing.T) {
	port, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = port.Release() }()
	r := engineRig(t, fmt.Sprintf(`
engines:
  - test
  - script: {cmd: DIR/script, interval: 0.05}
  - hooks: {engine_module: webhook, address: 127.0.0.1, port: %d}
  - dying: {program: DIR/dying}
  - missing: {program: DIR/missing}
  - talker: {program: DIR/talker, events: [ask/*]}
ext_processes:
  - a.python.Class
  - beside: {program: DIR/beside}
`, port.Number), map[string]string{
		"script": "echo '{\"tag\": \"from/script\", \"data\": {\"n\": 1}}'\n", "dying": "exit 3\n",
		"beside": "while read line; do :; done\n",
		"talker": `while read line; do case "$line" in
*ask/runner*) echo '{"kind": "call", "id": 1, "client": "runner", "fun": "test.arg", "args": [1], "kwargs": {"k": "v"}}';;
*ask/execution*) echo '{"kind": "call", "id": 2, "fun": "test.echo", "args": ["text"]}';;
*ask/nobody*) echo '{"kind": "call", "id": 3, "client": "nobody", "fun": "test.echo", "args": ["text"]}';;
*result*) echo "{\"tag\": \"result\", \"data\": $line}";;
esac; done
`})
	ear := r.hear()
	if got := ear.awaits("from/script"); got.Value("n") != int64(1) || got.Str("id") != r.cfg.ID {
		t.Errorf("the script fired %v", got)
	}
	r.eventually("the webhook listens", func() error {
		resp, err := http.Post("http://"+net.JoinHostPort("127.0.0.1", fmt.Sprint(port.Number))+"/x/y", "a/b",
			strings.NewReader("body"))
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
	if got := ear.awaits("salt/engines/hook/x/y"); string(got.Value("body").([]byte)) != "body" {
		t.Errorf("the webhook fired %v", got)
	}
	for _, tt := range []struct{ ask, field, want string }{
		{"ask/runner", "return", "{'args': [1], 'kwargs': {'k': 'v'}}"}, {"ask/execution", "return", "text"},
		{"ask/nobody", "error", "there is no client nobody: there are execution, runner and wheel"},
	} {
		r.eventually("the talker listens", func() error { // it may not yet
			r.m.Fire(tt.ask, payload.NewMap(0))
			tag, data := ear.next()
			for tag != "result" {
				if tag == "from/script" {
					return errors.New("no result yet")
				}
				tag, data = ear.next()
			}
			if got := python.Str(data.Value(tt.field)); got != tt.want {
				return fmt.Errorf("%s: got %v", tt.ask, data)
			}
			return nil
		})
	}
	for _, name := range []string{"Engine-test", "Engine-script", "Engine-hooks", "Engine-talker",
		"ExtProcess-beside"} {
		if c, ok := r.look(name); !ok || c.State != stats.StateRunning {
			t.Errorf("%s: %v %v", name, c.State, ok)
		}
	}
	for name, why := range map[string]string{"Engine-dying": "has ended with exit code 3",
		"Engine-missing": "no such file"} {
		r.eventually(name+" dies and is started anew", func() error {
			c, ok := r.look(name)
			if !ok || c.Restarts < 4 || !strings.Contains(c.Deaths[len(c.Deaths)-1].Reason, why) {
				return fmt.Errorf("%d restarts: %v", c.Restarts, c.Deaths)
			}
			return nil
		})
	}
	r.log.Await(t, "Error creating ext_processes process: a.python.Class")
	began := time.Now()
	if err := r.m.Supervisor().Restart("Engine-script"); err != nil {
		t.Fatal(err)
	}
	r.eventually("a killed engine comes back", func() error {
		if c, _ := r.look("Engine-script"); c.Restarts < 1 {
			return fmt.Errorf("%d restarts after %v", c.Restarts, time.Since(began))
		}
		return nil
	})
	ear.awaits("from/script")
}

// TestReactorEngine: an engine reactor tunes the Reactor, and makes one where there are no rules.
func TestReactorEngine(t *testing.T) {
	r := engineRig(t, "engines: [{reactor: {worker_threads: 3}}]\n", nil)
	n := 0
	r.tree(func(c stats.Child) {
		if strings.HasPrefix(c.Path, "master/Reactor/Reaction-") {
			n++
		}
	})
	if _, ok := r.look("Engine-reactor"); ok || n != 3 {
		t.Errorf("%d reactions, Engine-reactor %v", n, ok)
	}
}
