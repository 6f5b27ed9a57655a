package minion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/actors/daemon"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/zmq"
)

// Messages of the Subscriber.
type (
	// SignedIn tells that a session stands.
	SignedIn struct{}
	// frameReceived is one message of the publish port.
	frameReceived struct {
		frames [][]byte
		to     *supervisor.Ref
		again  bool // it was lost once
		place  daemon.Place
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
	// lookAgain asks whether the master has another address by now; looked is the answer.
	lookAgain struct{}
	looked    struct{ moved bool }
	// reconnect asks for a new connection whatever seems to be with the old one.
	reconnect struct{}
)

// Lost sends a publication again that died with an incarnation, once.
func (m *frameReceived) Lost(why error) {
	m.place.Leave()
	if !m.again && (errors.Is(why, supervisor.ErrCrashed) || errors.Is(why, supervisor.ErrAbandoned)) {
		m.to.Send(&frameReceived{frames: m.frames, to: m.to, again: true})
	}
}

// subscriberOptions are what the Subscriber needs of its connection.
type subscriberOptions struct {
	link       *link
	held       *heldFrames
	dispatcher *supervisor.Ref
	pillar     func(done func(error)) // asks for the pillar
	onReady    func()                 // told once
	diary      *ledger.Diary
}

// subscriber owns the SUB socket of one master: it opens publications and hands jobs to the Dispatcher. It
// begins with that when the minion has a pillar; what comes before waits.
type subscriber struct {
	opt      subscriberOptions
	link     *link
	held     *heldFrames
	self     *supervisor.Ref
	topics   []string // with zmq_filtering; none: everything
	named    string   // the topic by which the master knows this minion in the subscription there is; "": none
	port     int      // of the subscription, 0: none
	n        int      // of the subscription
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
		s.onFrame(ctx, m.frames)
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
	case *lookAgain:
		s.onLookAgain(ctx)
	case *looked:
		s.onLooked(ctx, m.moved)
	case *reconnect:
		if s.port != 0 {
			s.subscribe(ctx)
		}
	default:
		supervisor.Unhandled(ctx)
	}
}

func (s *subscriber) onStarted(ctx supervisor.Context) {
	s.self, s.link, s.held = supervisor.Self(ctx), s.opt.link, s.opt.held
	if s.link.opt.filtering {
		s.topics = []string{zmq.TopicBroadcast, zmq.Topic(s.link.opt.id)}
	}
	if s.link.sessions.Load() > 0 { // a new incarnation of a subscriber that was connected
		s.onSignedIn(ctx)
		s.held.reset()
		s.drain(ctx)
	}
}

// onSignedIn connects, or connects anew when the port is another one.
func (s *subscriber) onSignedIn(ctx supervisor.Context) {
	port := int(s.link.publishPort.Load())
	if own := s.link.opt.publishPort; own != 0 {
		port = own
	}
	if named := s.link.named(); port != s.port || named != s.named {
		s.port, s.named = port, named
		s.subscribe(ctx)
	}
}

// subscribed are the topics of the subscription; none: everything. One more shows a brine master who is connected.
func (s *subscriber) subscribed() []string {
	if s.named == "" {
		return s.topics
	}
	topics := s.topics
	if len(topics) == 0 {
		topics = []string{""}
	}
	return append(slices.Clone(topics), s.named)
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
		err := l.wire.subscribe(life, port, to)
		if err != nil && life.Err() == nil {
			self.Send(&unsubscribed{n, err})
		}
		return nil
	})
}

// sinks are those of a subscription. When too much waits its socket is not read, and what comes waits at the master.
func (s *subscriber) sinks(life context.Context, n int) publications {
	self, room := s.self, s.link.coming
	return publications{
		topics: s.subscribed(),
		frames: func(frames [][]byte) {
			room.Wait(life)
			m := &frameReceived{frames: frames, to: self}
			m.place.Enter(room, sizeOf(frames))
			self.Send(m)
		},
		link: func(up bool) { self.Send(&linkChanged{n, up}) },
	}
}

func sizeOf(frames [][]byte) (n int) {
	for _, f := range frames {
		n += len(f)
	}
	return n
}

func (s *subscriber) onUnsubscribed(ctx supervisor.Context, m *unsubscribed) {
	if m.n != s.n {
		return
	}
	supervisor.Failed(ctx)
	s.link.log.Error("the publications of the master cannot be received", "err", m.err)
	daemon.After(ctx, s.link.clock, max(s.link.opt.retryDNS, time.Second), &subscribeAgain{m.n})
}

// onLinkChanged notes a connection that was made or lost. Behind one made again there may be another process,
// with other keys: to ask now keeps the next job from having to wait.
func (s *subscriber) onLinkChanged(ctx supervisor.Context, m *linkChanged) {
	if m.n != s.n || s.link.connected.Swap(m.up) == m.up {
		return
	}
	host := s.link.master.Host
	if m.up {
		s.link.meter.connected(s.link)
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
		supervisor.Send(ctx, s.link.sender, &retrySpool{})
	}
}

// fetchPillar asks for the pillar that makes the minion ready.
func (s *subscriber) fetchPillar() {
	if s.fetching || s.link.ready.Load() {
		return
	}
	s.fetching = true
	self := s.self
	s.opt.pillar(func(err error) { self.Send(&pillarTried{err}) })
}

func (s *subscriber) onPillarTried(ctx supervisor.Context, err error) {
	s.fetching = false
	if err != nil {
		s.failures++
		daemon.After(ctx, s.link.clock, roundWait(s.failures, s.link.opt.wait, s.link.opt.waitMax), &tryPillar{})
		return
	}
	if !s.link.ready.Swap(true) {
		s.opt.onReady()
	}
	s.drain(ctx)
}

// watchEvery is how often a name without a connection is looked up.
const watchEvery = 10 * time.Second

func (s *subscriber) watch(ctx supervisor.Context) {
	daemon.After(ctx, s.link.clock, watchEvery, &lookAgain{})
}

// onLookAgain asks for the master's address: the connection is lost, or requests are not answered.
func (s *subscriber) onLookAgain(ctx supervisor.Context) {
	if s.looking || s.port == 0 {
		return
	}
	s.looking = true
	self, l := s.self, s.link
	supervisor.Go(ctx, "look-up", func(ctx context.Context) error {
		self.Send(&looked{l.wire.moved(ctx, !l.connected.Load())})
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

// onFrame takes one message: one frame, or a topic of ours and a frame.
func (s *subscriber) onFrame(ctx supervisor.Context, frames [][]byte) {
	switch {
	case len(frames) == 2 && len(s.topics) > 0 && !slices.Contains(s.topics, string(frames[0])):
		return // another minion's
	case len(frames) == 0 || len(frames) > 2:
		supervisor.Failed(ctx)
		return
	}
	for range s.held.add(frames[len(frames)-1]) {
		supervisor.Failed(ctx)
		s.refuse(ledger.OutcomeNotReady, s.held.full())
		s.link.log.Error("too many publications wait for the sign-in: the oldest is dropped")
	}
	s.drain(ctx)
}
