package link

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"brine/actors/daemon"
	"brine/actors/minion/meter"
	"brine/config"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/auth"
)

// Options are what a link needs of its minion.
type Options struct {
	ID     string // of this minion
	Master config.MasterAddr
	Twin   bool         // another link has a master on the same host
	Auth   *auth.Minion // the sign-in state
	Wire   Transport
	Times  *LatestTimes // how long the master may take to answer; a reload changes them
	Meter  *meter.Meter
	Diary  *ledger.Diary
	Clock  supervisor.Clock
	Log    *slog.Logger

	StartDelay    time.Duration // random_startup_delay: the first sign-in comes at random within it; 0: at once
	Wait, WaitMax time.Duration // acceptance_wait_time and its _max: between attempts, growing
	ReauthDelay   time.Duration // random_reauth_delay: at most so much is added, at random
	PendingMost   int           // auth_retries: answers "pending" in one attempt; 0: any number
	RetryDNS      time.Duration // retry_dns: between attempts to find the address of a master; 0: that is a failure
	LookupsMost   int           // retry_dns_count of these; 0: for ever
	Filtering     bool          // zmq_filtering: the master sends only what this minion is meant by
	PublishPort   int           // publish_port, where it is set to another than the usual one; 0: as the master says
	PingEvery     time.Duration // ping_interval; 0: there are no pings
	AuthSafemode  bool          // a master that does not answer a ping is looked for anew

	Held      int // publications that wait for a sign-in
	HeldBytes int
	Coming    *daemon.Bound   // of publications that come
	Asking    *daemon.Bound   // of requests for others
	Sender    *supervisor.Ref // of the ReturnSender, which has Carry carry out requests for others

	Deliver func(ctx supervisor.Context, p Publication) // hands a job to the Dispatcher
	Pillar  func(l *Link, done func(error))             // asks for the pillar, without which no job is taken
	Ready   func(l *Link)                               // is told once that jobs can come
	Exit    func(Exit)                                  // is asked to end the process

	TakeForSalt bool // the master is taken for one of Salt, whatever it says; of tests
}

// Link is one master as the actors of its connection share it: the sign-in state and the way to the master.
// It outlives their restarts. Everything in it may be used by many goroutines.
type Link struct {
	opt    Options
	times  *LatestTimes
	master config.MasterAddr
	auth   *auth.Minion
	wire   Transport
	clock  supervisor.Clock
	log    *slog.Logger

	authenticator *supervisor.Ref // told when a request shows that the session has ended
	subscriber    *supervisor.Ref
	sender        *supervisor.Ref // the ReturnSender

	sessions    atomic.Int64 // sign-ins that were accepted
	publishPort atomic.Int64 // of the last of them
	connected   atomic.Bool  // the publish port is connected
	ready       atomic.Bool  // once signed in, connected, and given a pillar; jobs are taken from then on
	delayed     atomic.Bool  // random_startup_delay is over
	brine       atomic.Bool  // the master is brine: it may be told what Salt's do not know
	topic       atomic.Pointer[string]

	held *heldFrames
}

// New makes a link. Its actors are those of Tree.
func New(opt Options) *Link {
	return &Link{opt: opt, times: opt.Times, master: opt.Master, auth: opt.Auth, wire: opt.Wire, clock: opt.Clock,
		log: opt.Log, authenticator: supervisor.NewRef(), subscriber: supervisor.NewRef(), sender: opt.Sender,
		held: &heldFrames{most: opt.Held, mostBytes: opt.HeldBytes}}
}

// Tree is the subtree of one master, with its ReturnSender.
func (l *Link) Tree(sender daemon.Child) daemon.Child {
	rows := []daemon.Child{sender, {Spec: supervisor.Spec{Ref: l.subscriber, Name: "Subscriber", Component: true,
		Intake: true, New: func() supervisor.Actor { return &subscriber{link: l} }}}}
	if l.opt.PingEvery > 0 {
		rows = append(rows, daemon.Child{Spec: supervisor.Spec{Name: "Pinger", New: func() supervisor.Actor {
			return &pinger{link: l}
		}}})
	}
	return daemon.NewTree(supervisor.Options{}, append(rows, daemon.Child{Spec: supervisor.Spec{Ref: l.authenticator,
		Name: "Authenticator", Component: true, Intake: true, New: func() supervisor.Actor {
			return &authenticator{link: l}
		}}})...).Row("Master-" + l.Name())
}

// Host is the master as the configuration names it.
func (l *Link) Host() string { return l.master.Host }

// Master is its address.
func (l *Link) Master() config.MasterAddr { return l.master }

// Log is the log of the connection.
func (l *Link) Log() *slog.Logger { return l.log }

// Sender is the Ref of the ReturnSender.
func (l *Link) Sender() *supervisor.Ref { return l.sender }

// Authenticator is the Ref that takes SignIn.
func (l *Link) Authenticator() *supervisor.Ref { return l.authenticator }

// Subscriber is the Ref that takes SignedIn, Reconnect and LookAgain.
func (l *Link) Subscriber() *supervisor.Ref { return l.subscriber }

// Sessions is how many sign-ins were accepted.
func (l *Link) Sessions() int64 { return l.sessions.Load() }

// Connected tells whether the publish port is connected.
func (l *Link) Connected() bool { return l.connected.Load() }

// Brine tells whether the master is brine: it may be told what Salt's do not know.
func (l *Link) Brine() bool { return l.brine.Load() }

// KnowSerials says how far a master had counted its jobs when the process before this one ended.
func (l *Link) KnowSerials(serial func(key string) int64) { l.auth.KnowSerials(serial) }

// Times are those in force.
func (l *Link) Times() *Times { return l.times.Load() }

// Close closes the sockets, when no actor of the connection lives any more.
func (l *Link) Close() { l.wire.Close() }

// Name is the master in file names and actor names.
func (l *Link) Name() string { return NameOf(l.master) }

// NameOf is a master in file names and actor names.
func NameOf(master config.MasterAddr) string {
	return fmt.Sprintf("%s_%d", PlainName(master.Host), master.Port)
}

// Named is the topic of the publish port by which the master knows this minion; "": there is none.
func (l *Link) Named() string {
	if t := l.topic.Load(); t != nil {
		return *t
	}
	return ""
}

// QueueName is the master as Salt names the directory of its queue.
func (l *Link) QueueName() string {
	if l.opt.Twin {
		return l.Name()
	}
	return PlainName(l.master.Host)
}

// PlainName makes a host a file name, as Salt does.
func PlainName(host string) string {
	out := []byte(host)
	for i, c := range out {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			out[i] = '_'
		}
	}
	return string(out)
}

// Up tells whether the master can be expected to answer.
func (l *Link) Up() bool { return l.ready.Load() && l.connected.Load() }

// ReturnTimeout is the time one attempt to deliver a return may take: a random value, so that a fleet does not
// come back at one moment.
func (l *Link) ReturnTimeout() time.Duration {
	now := l.times.Load()
	return daemon.Between(now.ReturnRetryTimer, now.ReturnRetryTimerMax)
}

// MasterBack tells the ReturnSender of a connection that the master is there again.
type MasterBack struct{}

// WhenListening sends msg as soon as the master of a link accepts a connection, if that is within the time.
func WhenListening(ctx supervisor.Context, l *Link, within time.Duration, to *supervisor.Ref, msg any) {
	supervisor.Go(ctx, "connection", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		if l.wire.Listening(ctx) == nil {
			to.Send(msg)
		}
		return nil
	})
}

// Asking is the bound of requests for others.
func (l *Link) Asking() *daemon.Bound { return l.opt.Asking }

// Coming is the bound of publications that come.
func (l *Link) Coming() *daemon.Bound { return l.opt.Coming }
