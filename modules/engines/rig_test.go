package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/config/yaml"
	"brine/wire/event"
	"brine/wire/payload"
)

// patience is how long a test waits for what is to come.
const patience = 2 * time.Minute

// fired is an event that an engine has fired.
type fired struct {
	tag  string
	data *payload.Map
}

// fakeDaemon is a daemon with a bus of one listener.
type fakeDaemon struct {
	t      *testing.T
	fired  chan fired
	listen chan func(tag string, body []byte) // gets each sink
	refuse error                              // of Fire
	call   func(client, fun string, args []any, kw *payload.Map) (any, error)
}

func newFake(t *testing.T) *fakeDaemon {
	return &fakeDaemon{t: t, fired: make(chan fired, 1000), listen: make(chan func(string, []byte), 10)}
}

func (d *fakeDaemon) Listen(_ context.Context, sink func(tag string, body []byte)) (func(), error) {
	d.listen <- sink
	return func() {}, nil
}

func (d *fakeDaemon) Fire(ctx context.Context, tag string, data *payload.Map) error {
	if d.refuse != nil {
		return d.refuse
	}
	select {
	case d.fired <- fired{tag, data}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *fakeDaemon) Call(_ context.Context, client, fun string, args []any, kw *payload.Map) (any, error) {
	return d.call(client, fun, args, kw)
}

// next is the next event that was fired.
func (d *fakeDaemon) next() fired {
	d.t.Helper()
	select {
	case f := <-d.fired:
		return f
	case <-time.After(patience):
		d.t.Fatal("no event came")
		return fired{}
	}
}

func (f fired) String() string { return f.tag + " " + jsonOf(f.data) }

func jsonOf(m *payload.Map) string {
	line, err := jsonLine(m)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(line))
}

// put puts an event on the fake bus.
func put(t *testing.T, sink func(string, []byte), tag string, data *payload.Map) {
	t.Helper()
	body, err := event.Pack(tag, data, 0)
	if err != nil {
		t.Fatal(err)
	}
	sink(tag, body)
}

// logged is a log that can be read.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// running is an engine under test.
type running struct {
	*fakeDaemon
	log  *logged
	stop context.CancelFunc
	end  chan error
}

// option reads the option engines from YAML.
func option(t *testing.T, text string) any {
	t.Helper()
	v, err := yaml.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// begin starts the one engine of a configuration.
func begin(t *testing.T, d *fakeDaemon, text string) *running {
	t.Helper()
	all, err := Parse(option(t, text), "master")
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: %v, %v", text, all, err)
	}
	r := &running{fakeDaemon: d, log: &logged{}, end: make(chan error, 1)}
	var ctx context.Context
	ctx, r.stop = context.WithCancel(t.Context())
	s := Surroundings{Daemon: d, Role: "master", ID: "m1", MaxEvent: 1 << 20,
		Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	go func() { r.end <- all[0].Engine.Run(ctx, s) }()
	t.Cleanup(func() {
		r.stop()
		r.ended()
	})
	return r
}

// ended waits for the end of the engine.
func (r *running) ended() error {
	r.t.Helper()
	select {
	case err := <-r.end:
		r.end <- err
		return err
	case <-time.After(patience):
		r.t.Fatal("the engine did not end")
		return nil
	}
}

// logs waits for a text in the log.
func (r *running) logs(text string) {
	r.t.Helper()
	r.eventually("the log says "+text, func() error {
		if all := r.log.String(); !strings.Contains(all, text) {
			return fmt.Errorf("the log is %s", all)
		}
		return nil
	})
}

func (d *fakeDaemon) eventually(what string, check func() error) {
	d.t.Helper()
	end := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			d.t.Fatalf("%s: %v", what, err)
		}
		<-time.After(5 * time.Millisecond)
	}
}

var errRefused = errors.New("refused for a test")
