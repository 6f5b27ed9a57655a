package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/sealed"
	"brine/wire/transport"
)

// patience is how long it is tried to deliver a return, authPatience how long the reply to a sign-in is waited for.
const (
	patience     = time.Minute
	authPatience = 20 * time.Second
)

// Pauses after a sign-in that failed: each twice the one before, within a half more or less, so that a fleet does not
// come all at once.
const (
	pauseFirst = time.Second
	pauseMost  = 32 * time.Second
)

// emulated is one minion of a fleet.
type emulated struct {
	f     *Fleet
	id    string
	auth  *auth.Minion
	group *group
	in    atomic.Bool // it has signed in once: it hears publications

	sign    sync.Mutex   // one sign-in at a time
	signIns atomic.Int64 // that were accepted
}

// task is a job that a minion has to answer.
type task struct {
	m    *emulated
	load *payload.Map
}

// join signs in for the first time, and begins to hear publications.
func (m *emulated) join() {
	port, err := m.signIn(never)
	if err != nil {
		return // only the end of the fleet stops the attempts
	}
	m.in.Store(true)
	m.f.signedIn.Add(1)
	m.group.signedIn.Add(1)
	m.group.listen(port)
}

func never() bool { return false }

// signIn tries until the master accepts, or until enough says that another's sign-in has done. The error is the
// end of the fleet.
func (m *emulated) signIn(enough func() bool) (port int, err error) {
	m.sign.Lock()
	defer m.sign.Unlock()
	defer m.f.troubles.set(m, "")
	for pause := pauseFirst; !enough(); pause = min(2*pause, pauseMost) {
		step, err := m.trySignIn()
		if err == nil && step.Verdict == auth.Accepted {
			m.signIns.Add(1)
			return step.PublishPort, nil
		}
		if m.f.ctx.Err() != nil {
			return 0, context.Cause(m.f.ctx)
		}
		if step.Verdict != auth.Pending {
			m.f.failures.Add(1)
		}
		if err != nil {
			step.Text = err.Error()
		}
		m.f.troubles.set(m, step.Text)
		select {
		case <-time.After(pause/2 + rand.N(pause)):
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
	ctx, cancel := context.WithTimeout(m.f.ctx, authPatience)
	defer cancel()
	reply, err := sealed.Insist(ctx, nil, func(ctx context.Context) ([]byte, error) { return m.f.exchange(ctx, frame) })
	if err != nil {
		return m.auth.TimedOut(), err
	}
	return m.auth.Reply(reply), nil
}

// do sends one frame over a connection that nobody uses, and waits for its reply.
func (f *Fleet) do(frame []byte, patience time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(f.ctx, patience)
	defer cancel()
	return f.exchange(ctx, frame)
}

// exchange is do until ctx ends.
func (f *Fleet) exchange(ctx context.Context, frame []byte) ([]byte, error) {
	req := <-f.requests // soon: whoever has one waits no longer than patience
	defer func() { f.requests <- req }()
	reply, err := req.Do(ctx, frame)
	if err != nil && f.ctx.Err() == nil && !errors.Is(err, transport.ErrLost) && !errors.Is(err, transport.ErrTimeout) {
		f.fail(fmt.Errorf("reach the request port: %w", err)) // no socket can be made, and none will be
	}
	return reply, err
}

// take makes a publication a job, if it is meant for the minion. Under a key that the minion does not have, it signs in
// before.
func (m *emulated) take(p *publication) {
	before := m.signIns.Load()
	err := p.openFor(m.auth)
	if needsSignIn(err) {
		m.f.wg.Go(func() {
			if m.renew(before) == nil && p.openFor(m.auth) == nil {
				m.queue(p)
			} else if m.f.ctx.Err() == nil {
				m.f.failures.Add(1)
			}
		})
		return
	}
	if err == nil {
		m.queue(p)
	}
}

// renew signs in again, unless that has been done since there were so many sign-ins.
func (m *emulated) renew(before int64) error {
	_, err := m.signIn(func() bool { return m.signIns.Load() > before })
	return err
}

func (m *emulated) queue(p *publication) {
	if !p.meant(m.id) {
		return
	}
	m.f.jobs.Add(1)
	m.f.put(task{m, p.load})
}

func (f *Fleet) put(t task) {
	select {
	case f.todo <- t:
	default:
		f.lose(errors.New("jobs come faster than they are answered"))
	}
}

// lose counts a job that is not answered.
func (f *Fleet) lose(why error) {
	f.failures.Add(1)
	f.troubles.lost(why.Error())
}

// answer returns jobs of all minions, one after another. As many do it at the same time as there are connections.
func (f *Fleet) answer() {
	for {
		select {
		case t := <-f.todo:
			f.giveBack(t)
		case <-f.ctx.Done():
			return
		}
	}
}

func (f *Fleet) giveBack(t task) {
	var value any = true
	job := payload.NewJob(t.load)
	switch {
	case job.Function() == "saltutil.find_job":
		value = payload.NewMap(0) // what came before is answered before
	case f.opt.Answer != nil:
		value = f.opt.Answer(t.m.id, t.load)
	}
	before := t.m.signIns.Load()
	err := t.m.deliver(t.m.ret(job.Field(payload.FieldJID), job.Fun(), job.Arg(), value))
	switch {
	case err == nil:
		f.returns.Add(1)
	case f.ctx.Err() != nil:
	case errors.Is(err, auth.ErrReauth):
		f.wg.Go(func() { // the others do not wait for this one's sign-in
			if t.m.renew(before) == nil {
				f.put(t)
			}
		})
	default:
		f.lose(err)
	}
}

// ret is the load of a return, as a Salt minion makes it.
func (m *emulated) ret(jid, fun, arg, value any) *payload.Map {
	return payload.M("cmd", payload.CmdReturn, "id", m.id, "success", true, "return", value, "retcode", int64(0),
		"jid", jid, "fun", fun, "fun_args", arg)
}

// deliver sends a return, and sends it again when its connection ends, as brine's minions do: a master that is started
// anew is asked as soon as it listens. A session that has ended is renewed by the caller.
func (m *emulated) deliver(load *payload.Map) error {
	master := &sealed.Channel{Session: m.auth, Exchange: m.f.exchange}
	answer, err := master.Ask(m.f.ctx, load, sealed.Rules{Timeout: patience, Insist: true})
	if err != nil {
		return err
	}
	return payload.ReturnTaken(answer)
}
