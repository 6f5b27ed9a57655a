package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/actors/daemon"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
)

// Messages of the Subscriber.
type (
	// SignedIn tells that a session stands.
	SignedIn struct{}
	// frameReceived is one message of the publish port.
	frameReceived struct {
		frame []byte
		to    *supervisor.Ref
		again bool // it was lost once
		place daemon.Place
	}
	// linkChanged tells that a subscription has made or lost its connection.
	linkChanged struct {
		n  int
		up bool
	}
	// unsubscribed tells that a subscription could not be made.
	unsubscribed struct {
		n   int
		err error
	}
	// subscribeAgain says that the wait after that is over.
	subscribeAgain struct{ n int }
	// renewed is the outcome of the sign-in that a publication has asked for.
	renewed struct {
		err error
		by  *subscriber // that asked
	}
	// pillarTried is the outcome of the first pillar, without which no job is taken.
	pillarTried struct{ err error }
	// tryPillar says that the wait after a failed one is over.
	tryPillar struct{}
	// LookAgain asks whether the master has another address by now; looked is the answer.
	LookAgain struct{}
	looked    struct{ moved bool }
	// Reconnect asks for a new connection whatever seems to be with the old one.
	Reconnect struct{}
)

// Lost sends a publication again that died with an incarnation, once.
func (m *frameReceived) Lost(why error) {
	m.place.Leave()
	if !m.again && (errors.Is(why, supervisor.ErrCrashed) || errors.Is(why, supervisor.ErrAbandoned)) {
		m.to.Send(&frameReceived{frame: m.frame, to: m.to, again: true})
	}
}

// subscriber owns the SUB socket of one master: it opens publications and hands jobs to the Dispatcher. It
// begins with that when the minion has a pillar; what comes before waits.
type subscriber struct {
	link     *Link
	held     *heldFrames
	self     *supervisor.Ref
	named    string // the topic by which the master knows this minion in the subscription there is; "": none
	port     int    // of the subscription, 0: none
	n        int    // of the subscription
	cancel   context.CancelFunc
	done     chan struct{} // closed when the subscription has ended
	asked    bool          // a sign-in, for the publication at the front
	fetching bool          // the first pillar
	failures int           // of the first pillar
	looking  bool          // for another address
	closed   bool          // the minion stops
}

func (s *subscriber) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		s.onStarted(ctx)
	case *frameReceived:
		m.place.Leave()
		s.onFrame(ctx, m.frame)
	case *renewed:
		if m.by == s { // not a predecessor: its sign-in may be one from before
			s.onRenewed(ctx, m.err)
		}
	case *SignedIn:
		s.onSignedIn(ctx)
	case *supervisor.CloseIntake:
		s.onCloseIntake(ctx, m)
	default:
		s.receiveLink(ctx)
	}
}

// receiveLink takes what has to do with the connection.
func (s *subscriber) receiveLink(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *linkChanged:
		s.onLinkChanged(ctx, m)
	case *unsubscribed:
		s.onUnsubscribed(ctx, m)
	case *subscribeAgain:
		if m.n == s.n {
			s.subscribe(ctx)
		}
	case *pillarTried:
		s.onPillarTried(ctx, m.err)
	case *tryPillar:
		s.fetchPillar()
	case *LookAgain:
		s.onLookAgain(ctx)
	case *looked:
		s.onLooked(ctx, m.moved)
	case *Reconnect:
		if s.port != 0 {
			s.subscribe(ctx)
		}
	default:
		supervisor.Unhandled(ctx)
	}
}

func (s *subscriber) onStarted(ctx supervisor.Context) {
	s.self, s.held = supervisor.Self(ctx), s.link.held
	if s.link.sessions.Load() > 0 { // a new incarnation of a subscriber that was connected
		s.onSignedIn(ctx)
		s.held.reset()
		s.drain(ctx)
	}
}

// onSignedIn connects, or connects anew when the port is another one.
func (s *subscriber) onSignedIn(ctx supervisor.Context) {
	port := int(s.link.publishPort.Load())
	if own := s.link.opt.PublishPort; own != 0 {
		port = own
	}
	if named := s.link.Named(); port != s.port || named != s.named {
		s.port, s.named = port, named
		s.subscribe(ctx)
	}
}

// subscribe ends the subscription there is, and then begins one.
func (s *subscriber) subscribe(ctx supervisor.Context) {
	if s.closed {
		return
	}
	before := s.done
	if s.cancel != nil {
		s.cancel()
	}
	s.link.connected.Store(false)
	s.n++
	s.done = make(chan struct{})
	var life context.Context
	life, s.cancel = context.WithCancel(supervisor.Lifetime(ctx))
	n, port, done, l, to := s.n, s.port, s.done, s.link, s.sinks(life, s.n)
	self := s.self
	supervisor.Go(ctx, "publish socket", func(context.Context) error {
		defer close(done)
		if before != nil {
			<-before
		}
		err := l.wire.Subscribe(life, port, to)
		if err != nil && life.Err() == nil {
			self.Send(&unsubscribed{n, err})
		}
		return nil
	})
}

// sinks are those of a subscription. When too much waits its socket is not read, and what comes waits at the master.
func (s *subscriber) sinks(life context.Context, n int) Publications {
	self, room := s.self, s.link.opt.Coming
	return Publications{
		Filter: s.link.opt.Filtering, Mark: s.named,
		Payload: func(frame []byte) {
			room.Wait(life)
			m := &frameReceived{frame: frame, to: self}
			m.place.Enter(room, len(frame))
			self.Send(m)
		},
		Link: func(up bool) { self.Send(&linkChanged{n, up}) },
	}
}

func (s *subscriber) onUnsubscribed(ctx supervisor.Context, m *unsubscribed) {
	if m.n != s.n {
		return
	}
	supervisor.Failed(ctx)
	s.link.log.Error("the publications of the master cannot be received", "err", m.err)
	daemon.After(ctx, s.link.clock, max(s.link.opt.RetryDNS, time.Second), &subscribeAgain{m.n})
}

// onLinkChanged notes a connection that was made or lost. Behind one made again there may be another process,
// with other keys: to ask now keeps the next job from having to wait.
func (s *subscriber) onLinkChanged(ctx supervisor.Context, m *linkChanged) {
	if m.n != s.n || s.link.connected.Swap(m.up) == m.up {
		return
	}
	host := s.link.master.Host
	if m.up {
		s.link.opt.Meter.Connected(s.link.Name())
	}
	switch {
	case !m.up:
		s.link.log.Info(fmt.Sprintf("Connection to master %s lost", host))
		s.watch(ctx)
	case !s.link.ready.Load():
		s.fetchPillar()
	default:
		s.link.log.Info(fmt.Sprintf("Connection to master %s re-established", host))
		supervisor.Send(ctx, s.link.authenticator, &SignIn{After: s.link.sessions.Load()})
		supervisor.Send(ctx, s.link.sender, &MasterBack{})
	}
}

// fetchPillar asks for the pillar that makes the minion ready.
func (s *subscriber) fetchPillar() {
	if s.fetching || s.link.ready.Load() {
		return
	}
	s.fetching = true
	self := s.self
	s.link.opt.Pillar(s.link, func(err error) { self.Send(&pillarTried{err}) })
}

func (s *subscriber) onPillarTried(ctx supervisor.Context, err error) {
	s.fetching = false
	if err != nil {
		s.failures++
		daemon.After(ctx, s.link.clock, roundWait(s.failures, s.link.opt.Wait, s.link.opt.WaitMax), &tryPillar{})
		return
	}
	if !s.link.ready.Swap(true) {
		s.link.opt.Ready(s.link)
	}
	s.drain(ctx)
}

// watchEvery is how often a name without a connection is looked up.
const watchEvery = 10 * time.Second

func (s *subscriber) watch(ctx supervisor.Context) {
	daemon.After(ctx, s.link.clock, watchEvery, &LookAgain{})
}

// onLookAgain asks for the master's address: the connection is lost, or requests are not answered.
func (s *subscriber) onLookAgain(ctx supervisor.Context) {
	if s.looking || s.port == 0 {
		return
	}
	s.looking = true
	self, l := s.self, s.link
	supervisor.Go(ctx, "look-up", func(ctx context.Context) error {
		self.Send(&looked{l.wire.Moved(ctx, !l.connected.Load())})
		return nil
	})
}

func (s *subscriber) onLooked(ctx supervisor.Context, moved bool) {
	s.looking = false
	switch {
	case moved:
		s.link.log.Warn("the master has another address now")
		s.subscribe(ctx)
		s.watch(ctx)
	case !s.link.connected.Load():
		s.watch(ctx)
	}
}

// onFrame takes one publication.
func (s *subscriber) onFrame(ctx supervisor.Context, frame []byte) {
	for range s.held.add(frame) {
		supervisor.Failed(ctx)
		s.refuse(ledger.OutcomeNotReady, s.held.full())
		s.link.log.Error("too many publications wait for the sign-in: the oldest is dropped")
	}
	s.drain(ctx)
}

// Content is the publication as it came.
func (m *frameReceived) Content() []byte { return m.frame }
