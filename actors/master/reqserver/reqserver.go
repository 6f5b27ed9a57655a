// Package reqserver is the actor ReqServer: it owns the request port, the requests that wait, and the workers that it
// deals them to, in lanes that never wait for each other. It does not know what a request asks for: workers do, which
// come by its options. It tells the meter. Answers to ReqServer in salt/master.py.
package reqserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"brine/actors/master/meter"
	"brine/modules/fleet/door"
	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/transport"
)

// Messages of the ReqServer.
type (
	// HandleRequest is one message of the request port.
	HandleRequest struct {
		Frame []byte
		// Reply sends the one answer: to the socket, or to a caller outside of the actors. Whoever has it calls it: a
		// worker, a goroutine of one, the ReqServer, or who finds that the message is lost. It must not block.
		Reply func(frame []byte)
		At    time.Time
		From  string // address of the peer, "" when it is not known
		// Inside says that it came from this process and not by the socket.
		Inside bool

		copies bool                                  // Reply keeps nothing of the frame
		lend   func(frame []byte, out *atomic.Int32) // Reply without a copy; nil: there is no such way
		// tells the socket that its sender is known; nil: it is, or it did not come by the socket
		vouch func()
		guest bool        // it counts among those of connections that have shown nothing,
		shown atomic.Bool // and no longer
		big   bool        // it counts among the large ones
		known atomic.Bool // its sender is, and it counts among the large ones no longer
		begun atomic.Bool // a worker has it
		over  atomic.Bool // of one that came by the socket: it was answered
	}
	// WorkerReady says that a worker has nothing in hand: it has started, or what it had is done.
	WorkerReady struct {
		Pool int
		Ref  *supervisor.Ref
		Life int   // incarnation of the worker
		Done *Work // nil: it has started
	}
	// RouteRequest passes on an opened request whose command belongs to another pool.
	RouteRequest struct{ Req *Request }
	// CheckDeadlines answers the requests that have been in hand for too long.
	CheckDeadlines struct{}
)

// outcome is what has become of something that a request began. The ReqServer has it tell that.
type outcome interface{ Tell() }

// Lost answers a request that no incarnation of the ReqServer will handle.
func (m *HandleRequest) Lost(error) { m.Reply(TextFailed) }

// deadlineTick is how often the requests in hand are looked over.
const deadlineTick = time.Second

// Options are what the ReqServer needs of the master.
type Options struct {
	Listener func() transport.RequestServer
	Pools    *Pools
	QueueMax int           // requests waiting for one pool, or not yet looked at; more are refused
	BytesMax int64         // of requests not yet answered; more are refused
	Timeout  time.Duration // of one request in a worker's hand
	Worker   func(name string, pool int, server *supervisor.Ref) supervisor.Actor
	Nest     supervisor.Options
	Meter    *meter.Meter
	Warn     func(cause, from string, attrs ...any)
	Log      *slog.Logger
}

// Child is the ReqServer as a child of the master, under the name by which others look it up.
func Child(name string, opt Options) supervisor.Spec {
	return supervisor.Spec{Name: name, Component: true, Intake: true, New: func() supervisor.Actor {
		return &reqServer{opt: opt}
	}}
}

// reqServer owns the request port and deals requests to its MWorkers, one at a time each. Its death takes the
// workers and the socket with it; the next one binds when the port is free.
type reqServer struct {
	opt     Options
	self    *supervisor.Ref
	lanes   []lane
	inHand  map[*supervisor.Ref]*Work
	later   []*Request // out of a worker's hand and not yet answered
	load    *load
	scratch *scratch // of the answers
	owned   *supervisor.Supervisor
}

func (s *reqServer) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		s.onStarted(ctx)
	case *HandleRequest:
		s.onHandleRequest(ctx, m)
	case *WorkerReady:
		s.onWorkerReady(ctx, m)
	case *RouteRequest:
		s.dispatch(ctx, m.Req)
	case outcome:
		m.Tell()
	case *CheckDeadlines:
		s.onCheckDeadlines(ctx)
	case *supervisor.Stopping:
		s.onStopping()
	case *supervisor.CloseIntake:
		s.load.closed.Store(true)
		m.Done()
	default:
		supervisor.Unhandled(ctx)
	}
}

func (s *reqServer) onStarted(ctx supervisor.Context) {
	s.scratch = newScratch()
	s.self = supervisor.Self(ctx)
	s.lanes = make([]lane, len(s.opt.Pools.list))
	for i := range s.lanes {
		s.opt.Meter.Waiting(i, 0) // what a predecessor had is lost
	}
	s.inHand = map[*supervisor.Ref]*Work{}
	s.owned = supervisor.Nest(ctx, s.opt.Nest)
	for i, p := range s.opt.Pools.list {
		for n := range p.workers {
			s.addWorker(fmt.Sprintf("MWorker-%s-%d", p.name, n), i)
		}
	}
	port := s.opt.Listener()
	if err := port.Listen(); err != nil {
		supervisor.Crash(fmt.Errorf("request server: %w", err))
	}
	s.load = &load{crowd: door.Crowd{MaxRequests: s.opt.QueueMax / guestPart, MaxBytes: s.opt.BytesMax / guestBytes}}
	open, end := context.WithCancelCause(context.WithoutCancel(supervisor.Lifetime(ctx)))
	supervisor.Go(ctx, "request socket", s.listen(port, open))
	supervisor.Go(ctx, "last answers", s.sayNo(end))
	self := s.self
	supervisor.Go(ctx, "deadlines", func(ctx context.Context) error {
		return self.SendEvery(ctx, deadlineTick, &CheckDeadlines{})
	})
}

// listen takes requests from the socket, as long as it is to be open. What is too much is refused here, before it waits
// in the mailbox.
func (s *reqServer) listen(port transport.RequestServer, open context.Context) func(context.Context) error {
	self, held, opt := s.self, s.load, s.opt
	return func(context.Context) error {
		return port.Serve(open, func(m transport.Request) {
			size := int64(len(m.Payload))
			r := &HandleRequest{big: size > bigRequest, copies: true, Frame: m.Payload, At: time.Now(), From: m.From}
			ended := func() bool {
				if !held.end(r) {
					return false
				}
				held.bytes.Add(-size)
				held.leave(r, size)
				held.shows(r, size)
				opt.Meter.Answered(r.At)
				return true
			}
			r.Reply = func(frame []byte) {
				if ended() {
					_ = m.Answer(frame) // a peer that has gone is counted by the adapter
				}
			}
			r.lend = func(frame []byte, out *atomic.Int32) {
				if ended() {
					_ = m.AnswerLent(frame, out)
				}
			}
			room := held.room(size, opt.BytesMax)
			if !m.Known() {
				r.vouch = m.Vouch
				if !r.big {
					r.guest = held.crowd.Enter(m.From, size)
					room = r.guest
				}
			}
			if held.bytes.Add(size) > opt.BytesMax || !room || self.Depth() >= opt.QueueMax {
				r.Reply(TextFailed)
				opt.Meter.Fail(meter.FailedShed)
				held.refused(opt.Log, "the request port")
				return
			}
			if !held.begin(r) {
				turnAway(r)
				return
			}
			self.Send(r)
		})
	}
}

// sayNo refuses what clients still wait for when this incarnation ends, and then lets the socket close.
func (s *reqServer) sayNo(end context.CancelCauseFunc) func(context.Context) error {
	held, log := s.load, s.opt.Log
	return func(ctx context.Context) error {
		<-ctx.Done()
		defer end(context.Cause(ctx))
		if n := held.refuse(); n > 0 {
			log.Warn("the ReqServer ends: requests are refused", "requests", n)
		}
		return context.Cause(ctx)
	}
}

func (s *reqServer) addWorker(name string, pool int) {
	self := s.self
	_, err := s.owned.Add(supervisor.Spec{
		Name: name,
		New:  func() supervisor.Actor { return s.opt.Worker(name, pool, self) },
	})
	if err != nil {
		supervisor.Crash(fmt.Errorf("request server: add %s: %w", name, err))
	}
}

// onHandleRequest reads the envelope and finds the pool. What is no envelope is answered here, in Salt's words.
func (s *reqServer) onHandleRequest(ctx supervisor.Context, m *HandleRequest) {
	if m.over.Load() { // refused with the socket by which it came
		return
	}
	r, err := ReadRequest(m)
	if m.copies {
		r.scratch, r.lend = s.scratch, m.lend
	}
	r.stranger = m.guest
	if m.vouch != nil {
		r.Sealed = func() { m.vouch(); s.load.shows(m, int64(len(m.Frame))) }
	}
	if m.big {
		r.Known = func() { s.load.leave(m, int64(len(m.Frame))) }
	}
	switch {
	case errors.Is(err, payload.ErrEnvelope):
		supervisor.Failed(ctx)
		s.opt.Meter.Fail(meter.FailedMalformed)
		r.Answer(textBadLoad)
		return
	case err != nil:
		supervisor.Failed(ctx)
		s.opt.Meter.Fail(meter.FailedMalformed)
		r.Answer(msgBadLoad)
		return
	}
	r.Pool = s.opt.Pools.ofRequest(r.Env)
	if r.Env.Enc != payload.EncClear {
		s.load.pass(m)
	}
	s.dispatch(ctx, r)
}

// dispatch hands a request to an idle worker of its pool, or queues it. A full queue sheds the newest request
// with Salt's failure text: its peer asks again later, those that wait longer are served first.
func (s *reqServer) dispatch(ctx supervisor.Context, r *Request) {
	l := &s.lanes[r.Pool]
	r.given = time.Time{}
	if n := len(l.idle); n > 0 {
		ref := l.idle[n-1]
		l.idle = l.idle[:n-1]
		s.assign(ctx, ref, r)
		return
	}
	if len(l.waiting) >= s.opt.QueueMax && !r.isStranger() {
		supervisor.Failed(ctx)
		s.opt.Meter.Fail(meter.FailedShed)
		s.load.refused(s.opt.Log, s.opt.Pools.list[r.Pool].name)
		r.Fail()
		return
	}
	l.push(r)
	s.opt.Meter.Waiting(r.Pool, l.length())
}

func (s *reqServer) assign(ctx supervisor.Context, ref *supervisor.Ref, r *Request) {
	r.begun.Store(true)
	r.given = time.Now()
	w := newWork(r, ref, s.self)
	s.inHand[ref] = w
	supervisor.Send(ctx, ref, w)
}

// next is the request that has waited longest in a pool; nil: none. What has waited for too long is answered and not
// begun: its peer has given up.
func (s *reqServer) next(ctx supervisor.Context, pool int) *Request {
	l, now := &s.lanes[pool], time.Now()
	for r := l.pop(); r != nil; r = l.pop() {
		s.opt.Meter.Waiting(pool, l.length())
		switch {
		case r.Answered.Load():
		case now.Sub(r.At) < s.opt.Timeout:
			return r
		default:
			s.expire(ctx, r, now)
		}
	}
	return nil
}

// frees says whether a worker that had w in hand has it no longer. One that has just started may find w in its mailbox:
// then it is busy. What a handler says that was left behind concerns a request of long ago.
func (m *WorkerReady) frees(w *Work) bool {
	if m.Done != nil {
		return m.Done == w
	}
	if w == nil {
		return true
	}
	taker := w.taker.Load()
	return taker > 0 && taker < int64(m.Life) // it died of it
}

func (s *reqServer) onWorkerReady(ctx supervisor.Context, m *WorkerReady) {
	w := s.inHand[m.Ref]
	if !m.frees(w) {
		return
	}
	if w != nil {
		delete(s.inHand, m.Ref)
		if !w.Req.Answered.Load() {
			s.later = append(s.later, w.Req)
		}
	}
	if r := s.next(ctx, m.Pool); r != nil {
		s.assign(ctx, m.Ref, r)
		return
	}
	l := &s.lanes[m.Pool]
	for _, ref := range l.idle { // a worker that was started again reports twice
		if ref == m.Ref {
			return
		}
	}
	l.idle = append(l.idle, m.Ref)
}

// onCheckDeadlines answers requests that have waited for too long. A worker that has had one in hand for as long hangs,
// and is replaced, which ends the context of what it does.
func (s *reqServer) onCheckDeadlines(ctx supervisor.Context) {
	s.scratch.rest()
	now := time.Now()
	late := func(r *Request) bool { return !r.Answered.Load() && now.Sub(r.At) >= s.opt.Timeout }
	for ref, w := range s.inHand {
		r := w.Req
		if late(r) {
			s.expire(ctx, r, now)
		}
		if !r.Answered.Load() || now.Sub(w.Since) < s.opt.Timeout {
			continue
		}
		s.opt.Log.Error("worker hangs and is replaced", "actor", ref.Path())
		if err := s.owned.Restart(ref.Name()); err != nil {
			s.opt.Log.Error("worker cannot be replaced", "actor", ref.Path(), "err", err)
		}
	}
	s.later = slices.DeleteFunc(s.later, func(r *Request) bool {
		if late(r) {
			s.expire(ctx, r, now)
		}
		return r.Answered.Load()
	})
	for i := range s.lanes {
		l := &s.lanes[i]
		l.remove(func(r *Request) bool {
			if late(r) {
				s.expire(ctx, r, now)
			}
			return r.Answered.Load()
		})
		s.opt.Meter.Waiting(i, l.length())
	}
}

// onStopping answers what has come from this process. Of the others clients are told before the socket closes; minions
// lose their connection with it and ask the next incarnation.
func (s *reqServer) onStopping() {
	held := slices.Clone(s.later)
	for _, w := range s.inHand {
		held = append(held, w.Req)
	}
	for i := range s.lanes {
		s.lanes[i].each(func(r *Request) { held = append(held, r) })
	}
	for _, r := range held {
		if r.inside {
			r.Fail()
		}
	}
}

func (s *reqServer) expire(ctx supervisor.Context, r *Request, now time.Time) {
	supervisor.Failed(ctx)
	s.opt.Meter.Fail(meter.FailedLate)
	cmd := ""
	if o := r.Opened.Load(); o != nil {
		cmd = o.Cmd
	}
	s.opt.Warn("a request was not answered in time", "", "cmd", payload.Show(cmd), "after", now.Sub(r.At), "begun",
		!r.given.IsZero())
	r.Fail()
}

// Content is what the peer sent.
func (m *HandleRequest) Content() []byte { return m.Frame }

// WorkerGrace is how much longer than a request a handler may run by default: the ReqServer, which looks at its
// requests every deadlineTick, then answers for it and ends its worker before it is left behind.
const WorkerGrace = 5 * time.Second

// WorkerTimeout is how long a handler may run.
func WorkerTimeout(own, request time.Duration) time.Duration {
	if own != 0 {
		return own
	}
	return request + WorkerGrace
}

// Exchange hands a request to a ReqServer as if it had come from the request port.
func Exchange(ctx context.Context, server *supervisor.Ref, frame []byte) ([]byte, error) {
	reply := make(chan []byte, 1)
	server.Send(&HandleRequest{Frame: frame, At: time.Now(), Inside: true, Reply: func(frame []byte) {
		reply <- frame
	}})
	select {
	case frame := <-reply:
		return frame, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
