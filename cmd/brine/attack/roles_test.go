package attack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/wire/auth"
	"brine/wire/auth/trust"
	"brine/wire/crypt"
	"brine/wire/ipc"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// stranger is somebody who reaches the request port and has no key.
type stranger struct {
	s   *site
	req *zmq.Req
}

// stranger connects one more.
func (s *site) stranger() *stranger { return s.strangerFrom("") }

// strangerFrom connects one more from another address of this machine.
func (s *site) strangerFrom(source string) *stranger {
	req := zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", s.ret, source, 0), Context: s.zctx})
	s.t.Cleanup(func() { _ = req.Close() })
	return &stranger{s, req}
}

// send sends a frame as it is and returns the frame that answers.
func (p *stranger) send(limit time.Duration, frame []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return p.req.Do(ctx, frame)
}

// ask sends a load in clear and returns the value that answers.
func (p *stranger) ask(load *payload.Map) (any, error) { return p.askWithin(patience, load) }

func (p *stranger) askWithin(limit time.Duration, load *payload.Map) (any, error) {
	return p.askVersion(limit, 3, load)
}

func (p *stranger) askVersion(limit time.Duration, version int, load *payload.Map) (any, error) {
	frame, err := (&payload.Request{Enc: payload.EncClear, Load: load, Version: version}).Encode()
	if err != nil {
		return nil, err
	}
	reply, err := p.send(limit, frame)
	if err != nil {
		return nil, err
	}
	return payload.Unmarshal(reply)
}

// subscriber is somebody at the publish port.
func (s *site) subscriber(topics ...string) (leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	sub := zmq.NewSub(zmq.SubOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", s.pub, "", 0), Topics: topics,
		Context: s.zctx})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = sub.Serve(ctx, func([]byte) {}) // ends with its context
	}()
	leave = sync.OnceFunc(func() { cancel(); <-done })
	s.t.Cleanup(leave)
	return leave
}

// thief has the key of a minion, and with it all that the protocol gives to that minion.
type thief struct {
	*stranger
	id   string
	auth *auth.Minion
	key  *crypt.PrivateKey
}

// oneKey is a pair that thieves share: to make one takes long.
var oneKey = sync.OnceValues(func() (*crypt.PrivateKey, error) { return crypt.GenerateKey(2048) })

// thief signs in as a minion of an id that is new to the master, or has the same key already. change sets options of
// the minion's side; it may be nil.
func (s *site) thief(id string, change func(*auth.MinionOptions)) *thief {
	s.t.Helper()
	key, err := oneKey()
	if err != nil {
		s.t.Fatal(err)
	}
	opt := auth.MinionOptions{ID: id, Key: key, Trust: trust.Dir{Path: s.t.TempDir()}, AcceptanceWait: time.Second}
	if change != nil {
		change(&opt)
	}
	a, err := auth.NewMinion(opt)
	if err != nil {
		s.t.Fatal(err)
	}
	th := &thief{s.stranger(), id, a, opt.Key}
	th.signIn()
	return th
}

// thiefOf takes the key of a minion of this site that runs, or has run.
func (s *site) thiefOf(id string) *thief {
	s.t.Helper()
	text, err := os.ReadFile(s.path(filepath.Join(id, "etc/salt/pki/minion/minion.pem")))
	if err != nil {
		s.t.Fatal(err)
	}
	key, err := crypt.ParsePrivateKey(text, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return s.thief(id, func(o *auth.MinionOptions) { o.Key = key })
}

// signIn signs in until the master accepts.
func (th *thief) signIn() {
	th.s.t.Helper()
	th.s.eventually("sign-in of "+th.id, func() error {
		step, err := th.trySignIn()
		if err == nil && step.Verdict != auth.Accepted {
			err = fmt.Errorf("%v: %s", step.Verdict, step.Text)
		}
		return err
	})
}

func (th *thief) trySignIn() (auth.Step, error) {
	frame, err := th.auth.Request()
	if err != nil {
		return auth.Step{}, err
	}
	reply, err := th.send(patience, frame)
	if err != nil {
		return auth.Step{}, err
	}
	return th.auth.Reply(reply), nil
}

// do seals a load as the minion that it is, and returns what the master answers.
func (th *thief) do(load *payload.Map) (any, error) { return th.doWithin(patience, load) }

func (th *thief) doWithin(limit time.Duration, load *payload.Map) (any, error) {
	frame, nonce, err := th.auth.Seal(load)
	if err != nil {
		return nil, err
	}
	reply, err := th.send(limit, frame)
	if err != nil {
		return nil, err
	}
	return th.auth.Open(reply, nonce)
}

// must is do, of what must be answered.
func (th *thief) must(load *payload.Map) any {
	th.s.t.Helper()
	v, err := th.do(load)
	if err != nil {
		th.s.t.Fatalf("%s of %s: %v", load.Str("cmd"), th.id, err)
	}
	return v
}

// ear hears the event bus, as a tool of the master's user does.
type ear struct {
	mu     sync.Mutex
	events []heard
}

type heard struct {
	tag  string
	data *payload.Map
}

// listen hears from now on.
func (s *site) listen() *ear {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	sub, err := ipc.Subscribe(ctx, s.path("m/var/run/salt/master/master_event_pub.ipc"), ipc.FramingDetect)
	if err != nil {
		cancel()
		s.t.Fatal(err)
	}
	e, done := &ear{}, make(chan struct{})
	go func() {
		defer close(done)
		for {
			tag, data, err := sub.Next(ctx)
			if err != nil {
				return
			}
			e.mu.Lock()
			e.events = append(e.events, heard{tag, data})
			e.mu.Unlock()
		}
	}()
	s.t.Cleanup(func() { cancel(); _ = sub.Close(); <-done })
	return e
}

// all are the events so far.
func (e *ear) all() []heard {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]heard(nil), e.events...)
}

// has tells whether there was an event that a test looks for.
func (e *ear) has(want func(tag string, data *payload.Map) bool) bool {
	for _, h := range e.all() {
		if want(h.tag, h.data) {
			return true
		}
	}
	return false
}

// nobodyID is the uid and gid of a neighbour: another user of the machine.
const nobodyID = 65534

// neighbour is another user of the machine. Only root can become one.
func neighbour(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	return &syscall.Credential{Uid: nobodyID, Gid: nobodyID}
}
