package admin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a daemon with a worker and an admin actor.
type rig struct {
	tree   *supervisor.Supervisor
	worker *supervisor.Ref
	client *ipc.ControlClient
	log    *actortest.Log
}

func newRig(t *testing.T, chaos bool) *rig {
	t.Helper()
	r := &rig{log: actortest.NewLog()}
	r.tree = actortest.Start(t, supervisor.Options{Name: "master", Chaos: chaos, Logger: r.log.Logger()})
	r.worker = actortest.Add(t, r.tree, supervisor.Spec{Name: "MWorker-0", New: actortest.NewProbe().New})
	path := filepath.Join(t.TempDir(), "admin.ipc")
	opt := Options{
		Path: path, Tree: r.tree,
		Queries: control.Handlers{
			"jobs": func(_ context.Context, request *payload.Map) (any, error) {
				return payload.M("asked", request.Str("jid")), nil
			},
			"fail": func(context.Context, *payload.Map) (any, error) { return nil, errors.New("no job store") },
		},
		Commands: control.Handlers{"rotate": func(context.Context, *payload.Map) (any, error) { return true, nil }},
	}
	actortest.Add(t, r.tree, Spec(opt))
	r.client = ipc.NewControlClient(path)
	return r
}

func (r *rig) ask(t *testing.T, kv ...any) (any, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reply, err := r.client.Do(ctx, payload.M(kv...).Set("v", control.Version))
	return reply.Value("result"), err
}

func (r *rig) must(t *testing.T, kv ...any) any {
	t.Helper()
	v, err := r.ask(t, kv...)
	if err != nil {
		t.Fatalf("%v: %v", kv, err)
	}
	return v
}

func TestTree(t *testing.T) {
	r := newRig(t, false)
	root, ok := r.must(t, "cmd", "tree").(*payload.Map)
	if !ok || root.Str("name") != "master" || root.Str("state") != stats.StateRunning {
		t.Fatalf("got %v", root)
	}
	children := root.List("children")
	if len(children) != 2 {
		t.Fatalf("got %d children, want 2", len(children))
	}
	worker, _ := children[0].(*payload.Map)
	if worker.Str("path") != "master/MWorker-0" || worker.Str("state") != "running" ||
		worker.Value("last_death") != nil {
		t.Errorf("got %v", worker)
	}
	if _, err := time.Parse(time.RFC3339Nano, worker.Str("since")); err != nil {
		t.Errorf("since: %v", err)
	}
	for _, name := range []string{"MWorker-0", "master/MWorker-0"} {
		if one, _ := r.must(t, "cmd", "tree", "name", name).(*payload.Map); one.Str("name") != "MWorker-0" {
			t.Errorf("tree of %s: got %v", name, one)
		}
	}
	if _, err := r.ask(t, "cmd", "tree", "name", "nobody"); err == nil || !strings.Contains(err.Error(),
		"no such actor") {
		t.Errorf("got %v", err)
	}
}

// TestTooLate: after the deadline of its sender, a command that changes something is refused. A query is still
// answered.
func TestTooLate(t *testing.T) {
	r := newRig(t, true)
	for cmd, want := range map[string]error{"restart": ErrTooLate, "crash": ErrTooLate, "tree": nil} {
		_, err := r.ask(t, "cmd", cmd, "name", "MWorker-0", "how", "exit", "until",
			time.Now().Add(-time.Second).UnixMicro())
		if (err == nil) != (want == nil) || err != nil && !strings.Contains(err.Error(), want.Error()) {
			t.Errorf("%s: got %v, want %v", cmd, err, want)
		}
	}
	if list, _ := r.must(t, "cmd", "history").([]any); len(list) != 0 {
		t.Errorf("deaths: %v", list)
	}
	r.must(t, "cmd", "restart", "name", "MWorker-0", "until", time.Now().Add(time.Hour).UnixMicro())
}

func TestRestart(t *testing.T) {
	r := newRig(t, false)
	r.must(t, "cmd", "restart", "name", "MWorker-0")
	r.log.Await(t, "with pid MWorker-0#2")
	r.log.Await(t, "INFO operator asked")
	deaths, _ := r.must(t, "cmd", "history").([]any)
	if len(deaths) != 1 {
		t.Fatalf("got %v", deaths)
	}
	if d, _ := deaths[0].(*payload.Map); d.Str("reason") != "restart" || d.Str("path") != "master/MWorker-0" {
		t.Errorf("got %v", d)
	}
	if _, err := r.ask(t, "cmd", "restart", "name", "nobody"); err == nil {
		t.Error("restarted nobody")
	}
	if _, err := r.ask(t, "cmd", "restart"); err == nil {
		t.Error("restarted the daemon")
	}
}

func TestRestartOfItself(t *testing.T) {
	r := newRig(t, false)
	r.must(t, "cmd", "restart", "name", "Admin")
	r.log.Await(t, "with pid Admin#2")
	ref, _ := r.tree.Lookup("Admin")
	if !ref.Send(&Answered{Command: "x"}) {
		t.Error("the admin actor is gone")
	}
	for {
		if _, err := r.ask(t, "cmd", "help"); err == nil {
			break // the socket is open again
		}
	}
}

func TestCrash(t *testing.T) {
	r := newRig(t, false)
	if _, err := r.ask(t, "cmd", "crash", "name", "MWorker-0", "how", "panic"); err == nil ||
		!strings.Contains(err.Error(), "chaos: True") {
		t.Errorf("got %v", err)
	}
	r = newRig(t, true)
	if _, err := r.ask(t, "cmd", "crash", "name", "MWorker-0", "how", "burn"); err == nil {
		t.Error("burnt")
	}
	r.must(t, "cmd", "crash", "name", "MWorker-0", "how", "panic")
	r.log.Await(t, "died with exit status 1, restarting...")
	worker, _ := r.must(t, "cmd", "tree", "name", "MWorker-0").(*payload.Map)
	if d := worker.Map("last_death"); !strings.Contains(d.Str("reason"), "injected") || d.Str("stack") == "" {
		t.Errorf("got %v", d)
	}
}

func TestQueriesOfTheDaemon(t *testing.T) {
	r := newRig(t, false)
	if got, _ := r.must(t, "cmd", "jobs", "jid", "123").(*payload.Map); got.Str("asked") != "123" {
		t.Errorf("got %v", got)
	}
	if _, err := r.ask(t, "cmd", "fail"); err == nil || err.Error() != "no job store" {
		t.Errorf("got %v", err)
	}
	if got := r.must(t, "cmd", "rotate"); got != true {
		t.Errorf("got %v", got)
	}
	if _, err := r.ask(t, "cmd", "nonsense"); err == nil || !strings.Contains(err.Error(),
		`no such command: "nonsense"`) {
		t.Errorf("got %v", err)
	}
	help, _ := r.must(t, "cmd", "help").(*payload.Map)
	if help.Map("rotate").Value("changes") != true || help.Map("tree").Value("changes") != false ||
		help.Map("bundle").Value("private") != true || help.Len() != 11 {
		t.Errorf("got %v", help.Keys())
	}
	process, _ := r.must(t, "cmd", "process").(*payload.Map)
	if n, _ := process.Int("goroutines"); n < 1 {
		t.Errorf("got %v", process)
	}
}

// TestOthersMayOnlyRead: any peer that can open the socket may read. Changes are for root and the daemon's
// user.
func TestOthersMayOnlyRead(t *testing.T) {
	tree := actortest.Start(t, supervisor.Options{Chaos: true})
	changed := false
	commands := newTable(Options{Tree: tree, Private: control.Handlers{
		"jobs.load": func(context.Context, *payload.Map) (any, error) { return "secret", nil },
	}, Commands: control.Handlers{
		"rotate": func(context.Context, *payload.Map) (any, error) { changed = true; return nil, nil },
	}})
	other := ipc.Peer{UID: 54321, GID: 54321, PID: 1}
	for name, want := range map[string]error{
		"tree": nil, "history": nil, "help": nil, "process": nil, "restart": ErrNotAllowed, "crash": ErrNotAllowed,
		"rotate": ErrNotAllowed, "jobs.load": ErrNotAllowed,
	} {
		reply, done := commands.handle(context.Background(), other, payload.M("cmd", name, "v", control.Version, "name",
			"x", "how", "panic"))
		if name == "tree" { // there is no actor x, but the command ran
			want = ErrUnknownActor
		}
		if !errors.Is(done.Err, want) || (done.Err == nil) != (reply != nil) {
			t.Errorf("%s: got %v, want %v", name, done.Err, want)
		}
	}
	if changed {
		t.Error("a stranger changed something")
	}
	for _, peer := range []ipc.Peer{{UID: 0}, {UID: os.Geteuid()}} {
		changed = false
		if _, done := commands.handle(context.Background(), peer, payload.M("cmd", "rotate", "v",
			control.Version)); done.Err != nil || !changed {
			t.Errorf("%+v: got %v", peer, done.Err)
		}
		if reply, done := commands.handle(context.Background(), peer, payload.M("cmd", "jobs.load", "v",
			control.Version)); done.Err != nil || reply.Str("result") != "secret" {
			t.Errorf("%+v: got %v, %v", peer, reply, done.Err)
		}
	}
}

// TestOtherVersions: a request of another version is refused. The answer contains the version of this side.
func TestOtherVersions(t *testing.T) {
	tree := actortest.Start(t, supervisor.Options{Chaos: true})
	changed := false
	commands := newTable(Options{Tree: tree, Commands: control.Handlers{
		"rotate": func(context.Context, *payload.Map) (any, error) { changed = true; return nil, nil },
	}})
	for _, v := range []any{nil, control.Version - 1, control.Version + 1} {
		reply, done := commands.handle(context.Background(), ipc.Peer{}, payload.M("cmd", "rotate", "v", v))
		var version *control.VersionError
		if !errors.As(done.Err, &version) || changed || reply.Has("result") ||
			reply.Value("v") != int64(control.Version) {
			t.Errorf("version %v: got %v, %v", v, reply, done.Err)
		}
	}
	r := newRig(t, false)
	reply, err := r.client.Do(t.Context(), payload.M("cmd", "help"))
	if n, _ := reply.Int("v"); err != nil || n != control.Version || reply.Has("result") {
		t.Errorf("over the socket: %v, %v", reply, err)
	}
}

type stranger struct{}

func TestUnknownMessageIsCounted(t *testing.T) {
	r := newRig(t, false)
	ref, _ := r.tree.Lookup("Admin")
	ref.Send(&stranger{})
	r.log.Await(t, "unhandled message")
}
