package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/supervisor"
	"brine/wire/payload"
	"brine/wire/zmq"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the ReqServer.
type (
	// HandleRequest is one message of the request port.
	HandleRequest struct {
		Frame []byte
		Reply func(frame []byte)
		At    time.Time
	}
	// WorkerReady says that a worker has nothing in hand.
	WorkerReady struct {
		Pool int
		Ref  *supervisor.Ref
	}
	// RouteRequest passes on an opened request whose command belongs to another pool.
	RouteRequest struct{ Req *request }
	// CheckDeadlines answers the requests that have been in hand for too long.
	CheckDeadlines struct{}
)

// deadlineTick is how often the requests in hand are looked over.
const deadlineTick = time.Second

// reqServerOptions are what the ReqServer needs of the master.
type reqServerOptions struct {
	router   func() *zmq.Router
	pools    *pools
	queueMax int           // requests waiting for one pool; more are refused
	timeout  time.Duration // of one request in a worker's hand
	worker   func(name string, pool int, server *supervisor.Ref) *mworker
	nest     supervisor.Options
	log      *slog.Logger
}

// lane is the state of one pool: workers without work, or work without workers, never both.
type lane struct {
	idle    []*supervisor.Ref
	waiting []*request
}

// reqServer owns the request port and deals requests to its MWorkers, one at a time each. Its death takes the
// workers and the socket with it; the next one binds when the port is free.
type reqServer struct {
	opt    reqServerOptions
	self   *supervisor.Ref
	lanes  []lane
	inHand map[*supervisor.Ref]*request
	shed   uint64
	owned  *supervisor.Supervisor
}

func (s *reqServer) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.onStarted(ctx)
	case *HandleRequest:
		s.onHandleRequest(ctx, m)
	case *WorkerReady:
		s.onWorkerReady(ctx, m)
	case *RouteRequest:
		s.dispatch(ctx, m.Req)
	case *CheckDeadlines:
		s.onCheckDeadlines(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (s *reqServer) onStarted(ctx actor.Context) {
	s.self = supervisor.Self(ctx)
	s.lanes = make([]lane, len(s.opt.pools.list))
	s.inHand = map[*supervisor.Ref]*request{}
	s.owned = supervisor.Nest(ctx, s.opt.nest)
	for i, p := range s.opt.pools.list {
		for n := range p.workers {
			s.addWorker(fmt.Sprintf("MWorker-%s-%d", p.name, n), i)
		}
	}
	router := s.opt.router()
	if err := router.Listen(); err != nil {
		supervisor.Crash(fmt.Errorf("request server: %w", err))
	}
	self := s.self
	supervisor.Go(ctx, "request socket", func(ctx context.Context) error {
		return router.Serve(ctx, func(m zmq.Message) {
			self.Send(&HandleRequest{Frame: m.Payload, At: time.Now(), Reply: func(frame []byte) {
				_ = router.Reply(m.Peer, frame) // a peer that has gone is counted by the adapter
			}})
		})
	})
	supervisor.Go(ctx, "deadlines", func(ctx context.Context) error { return tick(ctx, deadlineTick, self, &CheckDeadlines{}) })
}

// tick sends msg every interval until ctx ends.
func tick(ctx context.Context, every time.Duration, to *supervisor.Ref, msg any) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			to.Send(msg)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *reqServer) addWorker(name string, pool int) {
	self := s.self
	_, err := s.owned.Add(supervisor.Spec{
		Name: name,
		New:  func() actor.Actor { return s.opt.worker(name, pool, self) },
	})
	if err != nil {
		supervisor.Crash(fmt.Errorf("request server: add %s: %w", name, err))
	}
}

// onHandleRequest reads the envelope and finds the pool. What is no envelope is answered here, in Salt's words.
func (s *reqServer) onHandleRequest(ctx actor.Context, m *HandleRequest) {
	r := &request{at: m.At, reply: m.Reply}
	env, err := payload.DecodeRequest(m.Frame)
	switch {
	case errors.Is(err, payload.ErrEnvelope):
		supervisor.Failed(ctx)
		r.answer(textBadLoad)
		return
	case err != nil:
		supervisor.Failed(ctx)
		r.answer(msgBadLoad)
		return
	}
	r.env, r.pool = env, s.opt.pools.ofRequest(env)
	s.dispatch(ctx, r)
}

// dispatch hands a request to an idle worker of its pool, or queues it. A full queue sheds the newest request
// with Salt's failure text: its peer asks again later, those that wait longer are served first.
func (s *reqServer) dispatch(ctx actor.Context, r *request) {
	l := &s.lanes[r.pool]
	if n := len(l.idle); n > 0 {
		ref := l.idle[n-1]
		l.idle = l.idle[:n-1]
		s.assign(ctx, ref, r)
		return
	}
	if len(l.waiting) >= s.opt.queueMax {
		s.shed++
		supervisor.Failed(ctx)
		if s.shed&(s.shed-1) == 0 { // the 1st, 2nd, 4th, 8th ... time
			s.opt.log.Error("requests are refused: the queue of a worker pool is full",
				"pool", s.opt.pools.list[r.pool].name, "waiting", len(l.waiting), "refused", s.shed)
		}
		r.answer(textFailed)
		return
	}
	l.waiting = append(l.waiting, r)
}

func (s *reqServer) assign(ctx actor.Context, ref *supervisor.Ref, r *request) {
	s.inHand[ref] = r
	supervisor.Send(ctx, ref, &Work{Req: r, Since: time.Now()})
}

func (s *reqServer) onWorkerReady(ctx actor.Context, m *WorkerReady) {
	delete(s.inHand, m.Ref)
	l := &s.lanes[m.Pool]
	if len(l.waiting) > 0 {
		r := l.waiting[0]
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
		s.assign(ctx, m.Ref, r)
		return
	}
	for _, ref := range l.idle { // a worker that was started again reports twice
		if ref == m.Ref {
			return
		}
	}
	l.idle = append(l.idle, m.Ref)
}

// onCheckDeadlines answers requests that are in hand for too long and replaces their workers.
func (s *reqServer) onCheckDeadlines(ctx actor.Context) {
	now := time.Now()
	for ref, r := range s.inHand {
		if now.Sub(r.at) < s.opt.timeout || r.answered.Load() {
			continue
		}
		supervisor.Failed(ctx)
		s.opt.log.Error("a request was not answered in time, its worker is replaced", "actor", ref.Path(), "after", now.Sub(r.at))
		r.answer(textFailed)
		if err := s.owned.Restart(ref.Name()); err != nil {
			s.opt.log.Error("worker cannot be replaced", "actor", ref.Path(), "err", err)
		}
	}
}
