package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// patience is how long a reply of the master is waited for.
const patience = time.Minute

// emulated is one minion of a fleet.
type emulated struct {
	f    *Fleet
	id   string
	auth *auth.Minion
	req  *zmq.Req
	jobs chan *payload.Map
	sign sync.Mutex // one sign-in at a time
}

// live signs in, subscribes and answers jobs until the fleet ends.
func (m *emulated) live() {
	defer m.hangUp()
	port, err := m.signIn(never)
	if err != nil {
		return // only the end of the fleet stops the attempts
	}
	m.f.signedIn.Add(1)
	if m.f.opt.PublishPort != 0 {
		port = m.f.opt.PublishPort
	}
	m.f.wg.Go(m.answer)
	sub := zmq.NewSub(zmq.SubOptions{
		Endpoint: zmq.ConnectEndpoint(m.f.opt.Host, port, "", 0), Identity: m.id, Context: m.f.zctx,
		ReconnectIvl: 200 * time.Millisecond, ReconnectIvlMax: 2 * time.Second, OnEvent: m.onEvent,
	})
	if err := sub.Serve(m.f.ctx, m.onFrames); err != nil && m.f.ctx.Err() == nil {
		m.f.failures.Add(1)
	}
}

// hangUp closes the request socket.
func (m *emulated) hangUp() {
	if err := m.req.Close(); err != nil {
		m.f.failures.Add(1)
	}
}

// onEvent counts the connections to the publish port.
func (m *emulated) onEvent(e zmq.Event) {
	switch e.Kind {
	case zmq.Connected:
		m.f.up.Add(1)
	case zmq.Disconnected:
		m.f.up.Add(-1)
	}
}

func never() bool { return false }

// signIn tries until the master accepts, or until enough says that another's sign-in has done. The error is the
// end of the fleet.
func (m *emulated) signIn(enough func() bool) (port int, err error) {
	m.sign.Lock()
	defer m.sign.Unlock()
	for !enough() {
		step, err := m.trySignIn()
		if err == nil && step.Verdict == auth.Accepted {
			return step.PublishPort, nil
		}
		if m.f.ctx.Err() != nil {
			return 0, context.Cause(m.f.ctx)
		}
		if step.Verdict != auth.Pending {
			m.f.failures.Add(1)
		}
		select {
		case <-time.After(time.Second):
		case <-m.f.ctx.Done():
			return 0, context.Cause(m.f.ctx)
		}
	}
	return 0, nil
}

func (m *emulated) trySignIn() (auth.Step, error) {
	select {
	case m.f.turn <- struct{}{}:
		defer func() { <-m.f.turn }()
	case <-m.f.ctx.Done():
		return auth.Step{}, context.Cause(m.f.ctx)
	}
	frame, err := m.auth.Request()
	if err != nil {
		return auth.Step{}, err
	}
	reply, err := m.do(frame)
	if err != nil {
		return m.auth.TimedOut(), err
	}
	return m.auth.Reply(reply), nil
}

// do sends one frame and waits for its reply.
func (m *emulated) do(frame []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(m.f.ctx, patience)
	defer cancel()
	return m.req.Do(ctx, frame)
}

// onFrames queues the job of a publication; it runs in the socket's goroutine.
func (m *emulated) onFrames(frames [][]byte) {
	if m.f.held.Load() {
		return
	}
	frame := frames[len(frames)-1]
	load, err := m.auth.OpenPublication(frame)
	if errors.Is(err, auth.ErrReauth) {
		m.f.wg.Go(func() { m.openLater(frame) })
		return
	}
	if err == nil {
		m.queue(load)
	}
}

// openLater signs in to open a publication under a new key. Of several that came together one signs in for all.
func (m *emulated) openLater(frame []byte) {
	var load *payload.Map
	open := func() bool {
		var err error
		load, err = m.auth.OpenPublication(frame)
		return !errors.Is(err, auth.ErrReauth)
	}
	if _, err := m.signIn(open); err != nil {
		return
	}
	if load == nil && !open() {
		m.f.failures.Add(1)
	}
	if load != nil {
		m.queue(load)
	}
}

func (m *emulated) queue(load *payload.Map) {
	if !m.meant(load) {
		return
	}
	m.f.jobs.Add(1)
	select {
	case m.jobs <- load:
	default:
		m.f.failures.Add(1)
	}
}

// meant knows the targets that measurements use: everybody, one, or a list.
func (m *emulated) meant(load *payload.Map) bool {
	if list, ok := load.Value("tgt").([]any); ok {
		for _, id := range list {
			if id == m.id {
				return true
			}
		}
		return false
	}
	tgt := load.Str("tgt")
	return tgt == "*" || tgt == m.id
}

// answer returns the queued jobs, one after another.
func (m *emulated) answer() {
	for {
		select {
		case load := <-m.jobs:
			if err := m.giveBack(load); err != nil && m.f.ctx.Err() == nil {
				m.f.failures.Add(1)
			}
		case <-m.f.ctx.Done():
			return
		}
	}
}

func (m *emulated) giveBack(load *payload.Map) error {
	var value any = true
	if m.f.opt.Answer != nil {
		value = m.f.opt.Answer(m.id, load)
	}
	return m.request(m.ret(load.Value("jid"), load.Value("fun"), load.Value("arg"), value))
}

// ret is the load of a return, as a Salt minion makes it.
func (m *emulated) ret(jid, fun, arg, value any) *payload.Map {
	return payload.M("cmd", payload.CmdReturn, "id", m.id, "success", true, "return", value, "retcode", int64(0),
		"jid", jid, "fun", fun, "fun_args", arg)
}

// request sends one load, renewing the session once when the master asks for it.
func (m *emulated) request(load *payload.Map) error {
	for attempt := 0; ; attempt++ {
		frame, nonce, err := m.auth.Seal(load)
		if err == nil {
			err = m.exchange(frame, nonce)
		}
		if err == nil {
			m.f.returns.Add(1)
			return nil
		}
		if attempt > 0 || !errors.Is(err, auth.ErrReauth) {
			return err
		}
		if _, err := m.signIn(never); err != nil {
			return err
		}
	}
}

func (m *emulated) exchange(frame []byte, nonce string) error {
	reply, err := m.do(frame)
	if err != nil {
		return err
	}
	_, err = m.auth.Open(reply, nonce)
	return err
}
