package client

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/transport"
	"brine/wire/zmq"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = time.Minute

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// fakeMaster answers the request port with a function, and has a bus.
type fakeMaster struct {
	t      *testing.T
	dir    string
	router *zmq.Router
	uri    string
	loads  chan *payload.Map // every load that arrived
	answer func(load *payload.Map) any

	mu   sync.Mutex
	subs []*fakeEvents
}

// silent is the reply of a master that does not answer.
type silent struct{}

func newFakeMaster(t *testing.T, answer func(load *payload.Map) any) *fakeMaster {
	t.Helper()
	m := &fakeMaster{t: t, dir: t.TempDir(), answer: answer, loads: make(chan *payload.Map, 100)}
	m.router = zmq.NewRouter(zmq.RouterOptions{Endpoint: "tcp://127.0.0.1:0"})
	if err := m.router.Listen(); err != nil {
		t.Fatal(err)
	}
	m.uri = m.router.Addr()
	m.touch("publish_pull.ipc", "")
	m.touch(".root_key", "the key")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = m.router.Serve(ctx, m.handle)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return m
}

func (m *fakeMaster) touch(name, content string) {
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(content), 0o600); err != nil {
		m.t.Error(err)
	}
}

func (m *fakeMaster) handle(msg transport.Request) {
	req, err := payload.DecodeRequest(msg.Payload)
	if err != nil {
		m.t.Errorf("request: %v", err)
		return
	}
	if req.Enc != payload.EncClear || req.Version != 3 {
		m.t.Errorf("request: got enc %q, version %d, want clear, 3", req.Enc, req.Version)
	}
	load := req.Load.(*payload.Map)
	if publish := load.Str("cmd") == payload.CmdPublish; req.NoFiles != publish {
		m.t.Errorf("request %s: no files: %v", load.Str("cmd"), req.NoFiles)
	}
	m.loads <- load
	value := m.answer(load)
	if _, ok := value.(silent); ok {
		return
	}
	reply, err := payload.Marshal(value)
	if err != nil {
		m.t.Errorf("reply: %v", err)
	}
	if err := msg.Answer(reply); err != nil {
		m.t.Logf("reply: %v", err)
	}
}

// load returns the next load that arrived.
func (m *fakeMaster) load() *payload.Map {
	m.t.Helper()
	select {
	case load := <-m.loads:
		return load
	case <-time.After(patience):
		m.t.Fatal("no request")
		return nil
	}
}

// unhurried is longer than the patience of any test: a run that waits for it fails.
const unhurried = 10 * patience

// options are options for this master. With them a request ends in time only if it is answered, and a run only if it
// waits for no minion.
func (m *fakeMaster) options() Options {
	return Options{
		Dial: zmq.Dialer(zmq.ReqOptions{Endpoint: m.uri}), SockDir: m.dir, CacheDir: m.dir, User: "root", Bus: m,
		Timeout: unhurried, GatherJobTimeout: unhurried, SyndicWait: unhurried,
	}
}

// hurry shortens the times of a run in Salt's proportions. The times of its requests stay.
func hurry(r *Run) {
	r.track.timeout, r.track.gather = 100*time.Millisecond, 200*time.Millisecond
	r.track.start(time.Now(), r.Minions)
}

func (m *fakeMaster) client(opt Options) *Client {
	c := New(opt)
	m.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			m.t.Errorf("close Client: %v", err)
		}
	})
	return c
}

// fire puts an event on the bus.
func (m *fakeMaster) fire(tag string, data *payload.Map) {
	body, err := event.Pack(tag, data, 0)
	if err != nil {
		m.t.Error(err)
	}
	_ = m.Push(context.Background(), body)
}

// returns fires the return of a minion.
func (m *fakeMaster) returns(jid, id string, value any) {
	m.fire(event.TagJobReturn(jid, id), payload.M("jid", jid, "id", id, "return", value, "retcode", 0, "success", true))
}

func (m *fakeMaster) Subscribe(context.Context) (Events, error) {
	e := &fakeEvents{bodies: make(chan []byte, 1000), closed: make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.subs = append(m.subs, e)
	return e, nil
}

func (m *fakeMaster) Push(_ context.Context, body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.subs {
		s.bodies <- body
	}
	return nil
}

// hangUp ends all streams, like a master that stops.
func (m *fakeMaster) hangUp() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.subs {
		close(s.bodies)
	}
	m.subs = nil
}

type fakeEvents struct {
	bodies chan []byte
	once   sync.Once
	closed chan struct{}
}

func (e *fakeEvents) Next(ctx context.Context) ([]byte, error) {
	select {
	case body, ok := <-e.bodies:
		if !ok {
			return nil, io.EOF
		}
		return body, nil
	case <-e.closed:
		return nil, io.ErrClosedPipe
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *fakeEvents) Close() error {
	e.once.Do(func() { close(e.closed) })
	return nil
}

// published is the reply to a publish request.
func published(jid string, minions ...string) *payload.Map {
	return payload.M("enc", "clear", "load", payload.M("jid", jid, "minions", minions, "missing", []any{}))
}

// collect reads a Run to its end.
func collect(ctx context.Context, r *Run) ([]Return, error) {
	var out []Return
	for ret, err := range r.Returns(ctx) {
		if err != nil {
			return out, err
		}
		ret.Data = nil
		out = append(out, ret)
	}
	return out, nil
}
