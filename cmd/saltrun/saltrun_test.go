package saltrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/cmd/masterlink"
	"brine/cmd/tool"
	"brine/cmd/tooltest"
	"brine/modules/fleet/datacache"
	"brine/modules/runners"
	"brine/wire/control"
	"brine/wire/control/controltest"
	"brine/wire/event"
	"brine/wire/ipc"
	"brine/wire/payload"
)

const someJID = "20261121120000000001"

// openRun returns salt-run with its parts made.
func openRun(t *testing.T, conf string, argv ...string) (*runTool, *tooltest.Client) {
	t.Helper()
	c := tooltest.MustOpen(t, runParser, conf, argv...)
	r := &runTool{Session: c.Session, jid: someJID, fun: c.Opt.Args[0]}
	for _, w := range c.Opt.Args[1:] {
		r.words = append(r.words, w)
	}
	r.build()
	return r, c
}

func TestCheckRunWords(t *testing.T) {
	for _, tt := range []struct {
		argv []string
		want string
	}{
		{[]string{"manage.up"}, ""}, {[]string{"-d", "manage"}, ""}, {[]string{"--jid=" + someJID, "manage.up"}, ""},
		{[]string{"--jid=x", "manage.up"}, "'x' is not a valid JID"},
		{[]string{"-d", "a", "b"}, "You can only get documentation for one method at one time"},
	} {
		err := checkRunWords(tooltest.MustOpen(t, runParser, "", tt.argv...).Session)
		if err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
			t.Errorf("%q: got %v, want %q", tt.argv, err, tt.want)
		}
	}
}

// TestRunHere: without a master, a function runs, its result is shown and stored, and its note is removed.
func TestRunHere(t *testing.T) {
	r, c := openRun(t, "", "test.arg", "a", "k=v")
	if err := os.MkdirAll(filepath.Join(r.Master.CacheDir, "proc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := "args:\n    - a\nkwargs:\n    ----------\n    k:\n        v\n"; c.Out.String() != want {
		t.Errorf("got %q, want %q", c.Out, want)
	}
	load, err := r.jobs.Load(someJID)
	if err != nil || load.Str("fun") != "runner.test.arg" {
		t.Errorf("load %v, %v", load, err)
	}
	returns, err := r.jobs.Returns(someJID)
	if stored := returns.Map(r.Master.ID).Map("return"); err != nil || !stored.Bool("success") ||
		stored.Str("jid") != someJID {
		t.Errorf("returns %v, %v", returns, err)
	}
	if left := r.running(); len(left) > 0 {
		t.Errorf("still noted: %v", left)
	}
}

// TestRunRefuses: a call that cannot be made gets the help or the reason as its answer, and the tool ends with
// code 0.
func TestRunRefuses(t *testing.T) {
	for _, tt := range []struct {
		argv []string
		want string // beginning of stdout
	}{
		{[]string{"nope.nope"}, "'nope.nope' is not available.\n"},
		{[]string{"event.send", "nope=1"}, "event.send:\n"},
		{[]string{"manage.u"}, "manage.up:\n"},
		{[]string{"manage.up", "1", "2", "3", "4", "5"}, "\nPassed invalid arguments: up() takes from 0 to 4 " +
			"positional arguments but 5 were given\n\nUsage:\n"},
	} {
		r, c := openRun(t, "runner_returns: false\n", tt.argv...)
		if err := r.run(t.Context()); err != nil || len(c.Out.String()) < len(tt.want) ||
			c.Out.String()[:len(tt.want)] != tt.want {
			t.Errorf("%q: %v, got %q, want %q...", tt.argv, err, c.Out, tt.want)
		}
	}
}

// TestRunWithoutMaster: a function that needs minions fails with a traceback and code 1.
func TestRunWithoutMaster(t *testing.T) {
	r, c := openRun(t, "job_cache: false\n", "manage.up")
	if code := c.Finish(r.run(t.Context())); code != tool.ExitGeneric {
		t.Errorf("exit %d", code)
	}
	want := "Exception occurred in runner manage.up: Traceback (most recent call last):\n  in " +
		"manage.up\nsalt.exceptions.SaltClientError: " + masterlink.TextMasterDown + "\n"
	if c.Out.String() != want {
		t.Errorf("got %q, want %q", c.Out, want)
	}
}

// TestRunEvents: a run fires its two events. Events that it fires below its tag are shown.
func TestRunEvents(t *testing.T) {
	r, c := openRun(t, "", "test.arg")
	path := filepath.Join(r.Master.SockDir, event.MasterPullSocket)
	if err := os.MkdirAll(r.Master.SockDir, 0o755); err != nil {
		t.Fatal(err)
	}
	pull := ipc.NewPullServer(ipc.PullOptions{Path: path})
	if err := pull.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	tags := make(chan string, 10)
	go func() { served <- pull.Serve(ctx, func(body []byte) { tags <- event.Tag(body) }) }()
	if err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	bus := &runBus{Bus: r.bus, tool: r}
	if err := bus.Fire(t.Context(), runners.Tag(runners.KindRunner, someJID)+"/progress",
		payload.M("message", "half")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"new", "ret", "progress"} {
		select {
		case got := <-tags:
			if got != "salt/run/"+someJID+"/"+want {
				t.Errorf("got %s, want %s", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no event %s", want)
		}
	}
	cancel()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	want := "args:\nkwargs:\n    ----------\nevent:\n    ----------\n    message:\n        half\nsuffix:\n    " +
		"progress\n"
	if c.Out.String() != want {
		t.Errorf("got %q, want %q", c.Out, want)
	}
}

// TestAskedJobs: where a brine master runs, salt-run asks for its jobs over the control socket.
func TestAskedJobs(t *testing.T) {
	r, _ := openRun(t, "", "test.arg")
	asked := make(chan string, 10)
	h := control.Handlers{}
	control.On(h, func(_ context.Context, q control.GetJobLoad) (*payload.Map, error) {
		asked <- q.Command() + " " + q.JID
		return nil, nil
	})
	control.On(h, func(_ context.Context, q control.GetJobReturns) (*payload.Map, error) {
		asked <- q.Command() + " " + q.JID
		return payload.M("web1", payload.M("return", true)), nil
	})
	control.On(h, func(_ context.Context, q control.GetJobLoads) (*payload.Map, error) {
		asked <- q.Command() + " "
		return payload.M(), nil
	})
	control.On(h, func(_ context.Context, q control.GetJobEnd) (string, error) {
		asked <- q.Command() + " " + q.JID
		return "now", nil
	})
	control.On(h, func(_ context.Context, q control.KeepJob) (control.Done, error) {
		asked <- q.Command() + " " + q.JID
		return false, errors.New("no room")
	})
	controltest.Serve(t, r.Master.SockDir, h)
	jobs := newJobCache(r.Session)
	if load, err := jobs.Load("1"); load != nil || err != nil {
		t.Errorf("load of an unknown job: %v, %v", load, err)
	}
	if m, err := jobs.Returns("2"); err != nil || !m.Map("web1").Bool("return") {
		t.Errorf("returns %v, %v", m, err)
	}
	if _, err := jobs.Loads(); err != nil {
		t.Error(err)
	}
	if at := jobs.EndTime("3"); at != "now" {
		t.Errorf("end time %q", at)
	}
	if err := jobs.keep(t.Context(), "4", "m", payload.M()); err == nil {
		t.Error("a store that is full was not noticed")
	}
	for _, want := range []string{"jobs.load 1", "jobs.returns 2", "jobs.loads ", "jobs.end_time 3", "jobs.store 4"} {
		if got := <-asked; got != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
}

// TestLargeRun: if the result of a run is larger than the master takes in one message, the run is stored
// without the result, and keep returns an error that says so.
func TestLargeRun(t *testing.T) {
	r, _ := openRun(t, "", "test.arg")
	var kept *payload.Map
	h := control.Handlers{}
	control.On(h, func(_ context.Context, q control.KeepJob) (control.Done, error) {
		kept = q.Load
		return true, nil
	})
	controltest.Serve(t, r.Master.SockDir, h)
	load := payload.M("fun", "runner.test.arg", "return", payload.M("fun", "runner.test.arg", "success", true, "return",
		strings.Repeat("x", 30<<20)))
	err := newJobCache(r.Session).keep(t.Context(), someJID, "m", load)
	var large *tooLargeToKeep
	if !errors.As(err, &large) || large.size < 30<<20 {
		t.Errorf("got %v", err)
	}
	if got := kept.Map("return"); !got.Bool("success") || got.Str("return") != large.Error() {
		t.Errorf("kept is %v", got)
	}
	if len(load.Map("return").Str("return")) != 30<<20 {
		t.Error("what the tool is to show has changed")
	}
}

// TestMineGet: one function gives values by minion, several functions give values by function. A rule for other
// minions excludes the master, as it does with Salt's runner.
func TestMineGet(t *testing.T) {
	c := tooltest.MustOpen(t, runParser, "", "mine.get")
	banks, err := datacache.OpenBanks(c.Master.CacheDir)
	if err != nil {
		t.Fatal(err)
	}
	mines := payload.M("web1", payload.M("a", 1, "b", payload.M("__saltmine_acl__", 1, "__data__", "hidden",
		"allow_tgt", "web1")), "web2", payload.M("a", 2), "db1", payload.M("a", 3))
	for id, mine := range mines.All() {
		tooltest.WriteIn(t, filepath.Join(c.Master.PKIDir, "minions", id.(string)), "key")
		if err := errors.Join(banks.StoreMine(id.(string), mine.(*payload.Map)), banks.StoreGrains(id.(string),
			payload.M("id", id))); err != nil {
			t.Fatal(err)
		}
	}
	r := newMines(c.Session, masterlink.Expander(c.Session), masterlink.Cache(c.Session))
	for _, tt := range []struct {
		tgt, fun, tgtType any
		want              *payload.Map
	}{
		{"web*", "a", "glob", payload.M("web1", 1, "web2", 2)},
		{"web*", "b", "glob", payload.M()},
		{"web*", "b,a", "glob", payload.M("a", payload.M("web1", 1, "web2", 2))},
		{"*", []any{"b"}, "glob", payload.M()},
		{"db1 or web2", "a", "compound", payload.M("db1", 3, "web2", 2)},
		{"nope", "a", "glob", payload.M()},
	} {
		got, err := r.MineGet(t.Context(), tt.tgt, tt.fun, tt.tgtType.(string))
		m, _ := got.(*payload.Map)
		if err != nil || tooltest.Packed(t, m) != tooltest.Packed(t, tt.want) {
			t.Errorf("%v of %v: got %v, %v, want %v", tt.fun, tt.tgt, m, err, tt.want)
		}
	}
}

// TestSaltCmd: an execution function runs on the master, with its options.
func TestSaltCmd(t *testing.T) {
	r, _ := openRun(t, "", "salt.cmd")
	res := runners.Run(t.Context(), r.env, runners.Request{Kind: runners.KindRunner, Fun: "salt.cmd",
		Args: []any{"test.echo", "hi"}, JID: someJID}, nil)
	if res.Return != "hi" {
		t.Errorf("got %v", res.Return)
	}
}
