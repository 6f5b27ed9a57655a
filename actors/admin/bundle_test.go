package admin

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// TestDocsNameTheProcess: docs/admin.md names all fields about a process.
func TestDocsNameTheProcess(t *testing.T) {
	doc, err := os.ReadFile("../../docs/admin.md")
	if err != nil {
		t.Fatal(err)
	}
	told, _ := newRig(t, false).must(t, "cmd", "process").(*payload.Map)
	for _, k := range told.Keys() {
		if !regexp.MustCompile(`\b` + k.(string) + `\b`).Match(doc) {
			t.Errorf("docs/admin.md does not name %s", k)
		}
	}
	if told.Len() == 0 {
		t.Error("nothing is told")
	}
}

func TestBundle(t *testing.T) {
	tree := actortest.Start(t, supervisor.Options{Name: "master", Chaos: true})
	worker := actortest.Add(t, tree, supervisor.Spec{Name: "MWorker-0", New: actortest.NewProbe().New})
	if err := tree.Inject("MWorker-0", supervisor.FaultPanic); err != nil {
		t.Fatal(err)
	}
	for worker.Snapshot().Restarts == 0 {
	}
	commands := newTable(Options{Tree: tree, Version: "9.9", Config: func() *payload.Map {
		return payload.M("user", "root")
	},
		Bundle: map[string]Aside{
			"jobs": func(context.Context) (any, error) { return payload.M("jobs", []any{}), nil },
			"none": func(context.Context) (any, error) { return nil, errors.New("no store") },
		}})
	ask := func(uid int) (*payload.Map, error) {
		reply, done := commands.handle(context.Background(), ipc.Peer{UID: uid}, payload.M("cmd", "bundle", "v",
			control.Version, "seconds", 0))
		return reply.Map("result"), done.Err
	}
	if _, err := ask(54321); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("a stranger got %v", err)
	}
	files, err := ask(os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	if len(files.List("errors")) != 1 || files.List("errors")[0] != "none: no store" {
		t.Errorf("errors: %v", files.List("errors"))
	}
	if files.Map("tree").Str("name") != "master" || files.Map("config").Str("user") != "root" ||
		files.Map("process").Str("version") != "9.9" || !files.Map("jobs").Has("jobs") {
		t.Errorf("got %v", files)
	}
	if n := len(files.List("history")); n != 1 {
		t.Errorf("%d deaths", n)
	}
	look, _ := files.List("tops")[0].(*payload.Map)
	child, _ := look.Map("tree").List("children")[0].(*payload.Map)
	if len(files.List("tops")) != 1 || child.Str("name") != "MWorker-0" || child.Value("last_death") != nil {
		t.Errorf("looks: %v", files.List("tops"))
	}
	for _, name := range []string{"goroutine.pprof", "heap.pprof"} {
		if b := files.Bytes(name); len(b) < 100 || b[0] != 0x1f {
			t.Errorf("%s: %d bytes", name, len(b))
		}
	}
	if !strings.Contains(string(files.Bytes("goroutines.txt")), "goroutine ") {
		t.Error("no stacks")
	}
	if b, err := payload.MarshalBin(files); err != nil || len(b) == 0 {
		t.Errorf("the bundle cannot travel: %v", err)
	}
}

// TestBundleIsBrokenOff: a bundle ends if its client is gone.
func TestBundleIsBrokenOff(t *testing.T) {
	tree := actortest.Start(t, supervisor.Options{Name: "master"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, done := newTable(Options{Tree: tree}).handle(ctx, ipc.Peer{}, payload.M("cmd", "bundle", "v", control.Version,
		"seconds", 60))
	if !errors.Is(done.Err, context.Canceled) {
		t.Errorf("got %v", done.Err)
	}
}

func TestFieldOf(t *testing.T) {
	text := []byte("Name:\tx\nThreads:\t12\nVmRSS:\t  2048 kB\nMax open files            1024                 " +
		"524288               files\nMax x   unlimited\n")
	for name, want := range map[string]int64{"Threads:": 12, "VmRSS:": 2048, "Max open files": 1024, "Max x": 0,
		"none": 0, "Name:": 0} {
		if got := fieldOf(text, name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}
