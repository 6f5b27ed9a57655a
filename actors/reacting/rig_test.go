package reacting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/loader"
	"brine/modules/reactor"
	"brine/modules/renderers"
	"brine/modules/renderers/jinja"
	"brine/supervisor"
	"brine/wire/bus"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

const patience = time.Minute

// doer stands for the master: it remembers which calls were made.
type doer struct {
	made      sync.Map    // "KIND FUN ARGS" → *atomic.Int64: how often
	order     chan string // the same, in their order
	jids      atomic.Int64
	published sync.Map      // jid → true
	hold      chan struct{} // functions end when it is closed; nil: at once
	fail      error
	refuse    atomic.Bool // jobs
}

func newDoer() *doer { return &doer{order: make(chan string, 10000)} }

func (d *doer) NextJID() string { return fmt.Sprintf("jid%d", d.jids.Add(1)) }

func (d *doer) note(c reactor.Call) error {
	name := fmt.Sprintf("%s %s %v %v", c.Kind, c.Fun, c.Args(), c.KW().Keys())
	n, _ := d.made.LoadOrStore(name, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	d.order <- name
	return d.fail
}

func (d *doer) Publish(_ context.Context, jid string, c reactor.Call) error {
	if d.refuse.Load() {
		return errors.New("the master stops")
	}
	err := d.note(c)
	d.published.Store(jid, true)
	return err
}

func (d *doer) Published(jid string) bool {
	_, ok := d.published.Load(jid)
	return ok
}

func (d *doer) Run(_ string, c reactor.Call, done func(error)) error {
	err := d.note(c)
	hold := d.hold
	go func() {
		if hold != nil {
			<-hold
		}
		done(err)
	}()
	return nil
}

func (d *doer) Execute(_ context.Context, c reactor.Call) error { return d.note(c) }

// count is how often a call was made.
func (d *doer) count(name string) int {
	n, ok := d.made.Load(name)
	if !ok {
		return 0
	}
	return int(n.(*atomic.Int64).Load())
}

func (d *doer) total() int { return len(d.order) }

// all are the calls in their order. They are taken out.
func (d *doer) all() (out []string) {
	for len(d.order) > 0 {
		out = append(out, <-d.order)
	}
	return out
}

// rig is a Reactor whose bus is the test.
type rig struct {
	testing.TB
	*Part
	do    *doer
	dir   string
	log   *actortest.Log
	fired chan string
	sup   *supervisor.Supervisor
	crash map[string]*actortest.Crasher
}

type lookup struct{}

func (lookup) Lookup(_, fun string) (*loader.Func, bool) {
	f := &loader.Func{Name: fun, VarArgs: true, KWArgs: true}
	return f, !strings.HasPrefix(fun, "no.")
}

// options are those of a Reactor with some rules and files.
func (r *rig) options(rules any, files map[string]string) Options {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			r.Fatal(err)
		}
	}
	engine := func(dry bool, log func(slog.Level, string, error)) *reactor.Reactor {
		call := func(ctx context.Context, fun string, _ []any, _ *payload.Map) (any, error) {
			switch {
			case dry:
				return nil, errors.New("dry")
			case fun == "wait.ever":
				r.do.order <- fun
				<-ctx.Done()
			case fun == "wait.halt":
				r.do.order <- fun
				for !r.halted.Load() {
					<-time.After(time.Millisecond)
				}
				return "", nil
			}
			return "called", nil
		}
		set := renderers.New(renderers.Options{Jinja: renderers.Jinja{Opts: payload.NewMap(0), Call: call,
			Has: func(string) bool {
				return true
			}, Limits: jinja.Limits{Steps: 1000000}}})
		return reactor.New(reactor.Options{Renderers: set, Pipe: "jinja|yaml", Functions: lookup{}, Log: log})
	}
	return Options{Rules: rules, Threads: 3, Queue: 100, Path: filepath.Join(r.dir, "backlog"), ID: "m", Engine: engine,
		Do:        r.do,
		Fire:      func(tag string, data *payload.Map) { r.fired <- tag + " " + python.Str(data.Value("result")) },
		Subscribe: func(string, bus.Sink) {}, MasterKey: func(key string) bool {
			return key == "secret"
		}, Log: r.log.Logger()}
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return &rig{TB: t, do: newDoer(), dir: t.TempDir(), log: actortest.NewLog(), fired: make(chan string, 100),
		crash: map[string]*actortest.Crasher{}}
}

// start starts the actors.
func (r *rig) start(opt Options) {
	r.Helper()
	part, err := New(opt)
	if err != nil {
		r.Fatal(err)
	}
	r.Part = part
	r.sup = supervisor.Start(supervisor.NewSystem(slog.New(slog.DiscardHandler)), supervisor.Options{Name: "master",
		Chaos: true, RestartDelayMax: 5 * time.Millisecond})
	for _, spec := range []supervisor.Spec{part.Keeper(), part.Child()} {
		c := actortest.NewCrasher(spec.New)
		spec.New = c.New
		r.crash[spec.Name] = c
		actortest.Add(r, r.sup, spec)
	}
}

// stop ends the actors, as a stop of the master does.
func (r *rig) stop() {
	r.Helper()
	r.Halt()
	if rep := r.sup.Stop(patience); len(rep.Abandoned) > 0 {
		r.Errorf("abandoned: %v", rep.Abandoned)
	}
	if err := r.Close(); err != nil {
		r.Error(err)
	}
}

// event fires an event.
func (r *rig) event(tag string, kv ...any) {
	r.Helper()
	body, err := event.Pack(tag, payload.M(kv...), 0)
	if err != nil {
		r.Fatal(err)
	}
	r.sink(tag, body)
}

// eventually waits until something is so.
func (r *rig) eventually(what string, so func() bool) {
	r.Helper()
	end := time.After(patience)
	for !so() {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-end:
			r.Fatalf("never: %s; %d calls, %+v\n%s", what, r.do.total(), r.Show(), strings.Join(r.log.Lines(), "\n"))
		}
	}
}

// settled waits until nothing waits.
func (r *rig) settled() {
	r.Helper()
	r.eventually("nothing waits", func() bool {
		if r.mailed.Load() != 0 { // looked at first: what is mailed no more may wait by now
			return false
		}
		n, _ := r.back.Waiting()
		return n == 0
	})
}

func oneRule(dir string) []any { return []any{payload.M("ev/*", dir+"/a.sls")} }

const both = "j{{ data.n }}:\n  local.test.arg:\n    - tgt: t\n    - arg: [{{ data.n }}]\nr{{ data.n }}:\n  " +
	"runner.test.arg:\n    - arg: [{{ data.n }}]\n    - kwarg: {}\n"

func pack(t testing.TB, tag string, kv ...any) []byte {
	t.Helper()
	body, err := event.Pack(tag, payload.M(kv...), 0)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
