package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/actors/daemon"
	"brine/modules/loader"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/sealed"
	"brine/wire/transport"
)

// Messages of the Authenticator.
type (
	// SignIn asks for a session after the one that After counts. Done is called when it stands, and with an
	// error as soon as it is known that it will take an operator, or a while: by the Authenticator in its handler, or
	// by who finds the message lost. Requests ask so from outside of actors, too. It must not block.
	SignIn struct {
		After int64
		Done  func(error)
	}
	// replied is the outcome of one sign-in.
	replied struct {
		step       auth.Step
		unresolved bool // the master's name has no address
		away       bool // no process of the master listens, as far as the last attempt shows
	}
	// again says that the wait before the next sign-in is over.
	again struct{ turn int }
)

// Lost tells whoever waits for the session.
func (m *SignIn) Lost(why error) { m.done(why) }

func (m *SignIn) done(err error) {
	if m.Done != nil {
		m.Done(err)
	}
}

// errBrokenOff tells those who wait that the Authenticator has died or stops.
var errBrokenOff = errors.New("the sign-in was broken off")

// levelCritical is Salt's level above error.
const levelCritical = slog.LevelError + 4

// Exit is why a minion's process has to end.
type Exit struct {
	Code int
	Text string
}

// authenticator signs in to one master, waits for an operator where it must, and renews the session when it
// is told that it has ended. What a reply means is decided by wire/auth.
type authenticator struct {
	link    *Link
	self    *supervisor.Ref
	waiting []*SignIn // to be told of the outcome
	busy    bool      // a sign-in is under way, or the wait before it
	turn    int       // of the wait that counts
	rounds  int       // sign-ins that failed, one after the other
	pending int       // answers that told to wait for an operator
	lookups int       // sign-ins that failed for want of an address
	rests   bool      // busy with nothing but the wait
	away    bool      // of the last outcome
	closed  bool      // the minion stops
}

func (a *authenticator) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *supervisor.Started:
		a.onStarted(ctx)
	case *SignIn:
		a.onSignIn(ctx, m)
	case *replied:
		a.onReplied(ctx, m)
	case *again:
		a.onAgain(ctx, m)
	case *supervisor.CloseIntake:
		a.onCloseIntake(m)
	case *supervisor.Stopping:
		a.answer(errBrokenOff)
	default:
		supervisor.Unhandled(ctx)
	}
}

// onStarted signs in, also in an incarnation after the first: whatever its predecessor had begun is void.
func (a *authenticator) onStarted(ctx supervisor.Context) {
	a.self = supervisor.Self(ctx)
	a.busy = true
	if most := a.link.opt.StartDelay; most > 0 && !a.link.delayed.Swap(true) {
		d := daemon.Between(0, most).Round(time.Second)
		a.link.log.Info(fmt.Sprintf("Minion sleeping for %d seconds due to configured startup_delay between 0 and "+
			"%d seconds",
			int(d.Seconds()), int(most.Seconds())))
		a.wait(ctx, d)
		return
	}
	a.signIn(ctx)
}

// onSignIn joins the sign-in that is under way, or begins one.
func (a *authenticator) onSignIn(ctx supervisor.Context, m *SignIn) {
	if m.After < a.link.sessions.Load() {
		m.done(nil) // another request has found out before
		return
	}
	a.waiting = append(a.waiting, m)
	if !a.busy {
		a.busy = true
		a.signIn(ctx)
	}
}

func (a *authenticator) onAgain(ctx supervisor.Context, m *again) {
	if a.busy && m.turn == a.turn {
		a.signIn(ctx)
	}
}

// signIn sends sign-in requests in a goroutine; the outcome comes back as a message.
func (a *authenticator) signIn(ctx supervisor.Context) {
	a.rests = false
	self, l := a.self, a.link
	supervisor.Go(ctx, "sign-in", func(ctx context.Context) error {
		outcome := signIn(ctx, l)
		if ctx.Err() == nil {
			self.Send(outcome)
		}
		return nil
	})
}

// signIn sends requests until one is answered, auth_tries times.
func signIn(ctx context.Context, l *Link) *replied {
	away := false
	for range max(1, l.times.Load().AuthTries) {
		reply, err := askSignIn(ctx, l)
		away = errors.Is(err, transport.ErrUnconnected)
		switch {
		case err == nil:
			return &replied{step: l.auth.Reply(reply)}
		case errors.Is(err, ErrUnresolved):
			return &replied{step: auth.Step{Verdict: auth.Failed, Text: err.Error()}, unresolved: true}
		case !errors.Is(err, transport.ErrTimeout) || ctx.Err() != nil:
			return failedSignIn(err)
		}
		l.log.Debug("no answer to the sign-in request", "err", err)
	}
	return &replied{step: l.auth.TimedOut(), away: away}
}

func failedSignIn(err error) *replied {
	return &replied{step: auth.Step{Verdict: auth.Failed, Text: err.Error()}}
}

// askSignIn makes one attempt, within auth_timeout. Each frame is a fresh request: its answer fits no other.
func askSignIn(ctx context.Context, l *Link) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, l.times.Load().AuthTimeout)
	defer cancel()
	return sealed.Insist(ctx, l.clock, func(ctx context.Context) ([]byte, error) {
		frame, err := l.auth.Request()
		if err != nil {
			return nil, err
		}
		return l.wire.Exchange(ctx, frame, nil)
	})
}

func (a *authenticator) onReplied(ctx supervisor.Context, m *replied) {
	s := m.step
	a.away = m.away
	a.link.opt.Meter.SignIn(a.link.Name(), s.Verdict)
	switch {
	case s.Verdict == auth.Accepted:
		a.onAccepted(ctx, s)
	case s.Verdict == auth.Pending || s.Verdict == auth.Retry:
		a.onPending(ctx, s)
	case s.Verdict == auth.Rejected || s.Verdict == auth.Fatal:
		a.onRefused(ctx, s)
	case m.unresolved && a.link.opt.RetryDNS > 0:
		a.onUnresolved(ctx, s)
	default: // Full, Failed
		a.fail(ctx, s)
	}
}

func (a *authenticator) onAccepted(ctx supervisor.Context, s auth.Step) {
	l := a.link
	l.log.Info(fmt.Sprintf("Authentication with master at %s successful!", l.master.Host))
	a.busy, a.rounds, a.pending, a.lookups = false, 0, 0, 0
	a.turn++
	l.publishPort.Store(int64(s.PublishPort))
	l.brine.Store(s.Brine && !l.opt.TakeForSalt)
	l.topic.Store(&s.Link)
	l.sessions.Add(1)
	a.answer(nil)
	supervisor.Send(ctx, l.subscriber, &SignedIn{})
}

// refused tells those who wait why there is no session; to a function it is what a client of Salt raises.
func refused(text string) error {
	return fmt.Errorf("sign-in: %w", &loader.ClientError{Message: text})
}

// onPending waits for an operator. With auth_retries the attempt ends after so many of these answers.
func (a *authenticator) onPending(ctx supervisor.Context, s auth.Step) {
	a.pending++
	if most := a.link.opt.PendingMost; most > 0 && a.pending >= most {
		a.pending = 0
		a.fail(ctx, auth.Step{Text: fmt.Sprintf("Failed to authenticate with the master after %d attempts: %s", most,
			s.Text)})
		return
	}
	a.link.log.Error(s.Text)
	a.answer(refused(s.Text))
	a.wait(ctx, s.Wait)
}

// onRefused ends the process, after the wait that keeps a service manager from starting it again at once.
func (a *authenticator) onRefused(ctx supervisor.Context, s auth.Step) {
	exit, clock := a.link.opt.Exit, a.link.clock
	daemon.During(supervisor.Lifetime(ctx), clock, s.Wait, func() { exit(Exit{Code: s.ExitCode, Text: s.Text}) })
	a.answer(refused(s.Text))
	a.link.log.Log(context.Background(), levelCritical, s.Text)
}

// onUnresolved waits retry_dns for the name of the master, retry_dns_count times.
func (a *authenticator) onUnresolved(ctx supervisor.Context, s auth.Step) {
	l := a.link
	a.lookups++
	a.answer(refused(s.Text))
	if most := l.opt.LookupsMost; most > 0 && a.lookups > most {
		l.log.Error(fmt.Sprintf("Master address: '%s' could not be resolved. Invalid or unresolveable address. Set "+
			"'master' value in minion config.", l.master.Host))
		a.busy = false // this master is given up, as Salt does; SignIn tries once more
		return
	}
	l.log.Error(fmt.Sprintf("Master hostname: '%s' not found or not responsive. Retrying in %d seconds", l.master.Host,
		int(l.opt.RetryDNS.Seconds())), "why", s.Text)
	a.wait(ctx, l.opt.RetryDNS)
}

// fail ends one attempt. Those who wait are told; the next attempt begins after a growing wait.
func (a *authenticator) fail(ctx supervisor.Context, s auth.Step) {
	l := a.link
	a.rounds++
	l.log.Error(fmt.Sprintf("Error while bringing up minion for multi-master. Is master at %s responding? The error "+
		"message was %s", l.master.Host, s.Text))
	a.answer(refused(s.Text))
	a.wait(ctx, roundWait(a.rounds, l.opt.Wait, l.opt.WaitMax)+
		daemon.Between(0, min(l.opt.ReauthDelay, l.opt.Wait)))
}

// roundWait is the wait after the n-th failed attempt: it grows by the first wait up to the greatest.
func roundWait(n int, first, most time.Duration) time.Duration {
	if most <= first {
		return first
	}
	return min(time.Duration(n)*first, most)
}

// usualReauthDelay is the default of random_reauth_delay. An operator who sets a longer one wants the fleet to come
// back by and by; otherwise a sign-in does not wait once the master listens.
const usualReauthDelay = 10 * time.Second

func (a *authenticator) wait(ctx supervisor.Context, d time.Duration) {
	a.turn++
	a.rests = true
	daemon.After(ctx, a.link.clock, d, &again{turn: a.turn})
	if a.away && a.link.opt.ReauthDelay <= usualReauthDelay {
		WhenListening(ctx, a.link, d, a.self, &again{turn: a.turn})
	}
	a.breakOff()
}

func (a *authenticator) answer(err error) {
	for _, w := range a.waiting {
		w.done(err)
	}
	a.waiting = nil
}
