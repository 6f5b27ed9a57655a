package minion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/supervisor"
	"brine/wire/auth"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the Authenticator.
type (
	// SignIn asks for a new session. Done is called when it stands, or cannot be had.
	SignIn struct{ Done func(error) }
	// SignedIn tells the Subscriber that a session stands.
	SignedIn struct{ PublishPort int }
	// replied is the outcome of one sign-in request.
	replied struct{ step auth.Step }
	// again says that the wait before the next request is over.
	again struct{ turn int }
)

// Lost tells whoever waits for the session.
func (m *SignIn) Lost(why error) { m.done(why) }

func (m *SignIn) done(err error) {
	if m.Done != nil {
		m.Done(err)
	}
}

// Exit is why a minion's process has to end.
type Exit struct {
	Code int
	Text string
}

// authenticatorOptions are what the Authenticator needs of its connection.
type authenticatorOptions struct {
	link       *link
	subscriber func() *supervisor.Ref
	exit       func(Exit)
	onAccepted func(step auth.Step) // the session stands: pillar, start events
	log        *slog.Logger
}

// authenticator signs in to one master, waits for an operator where it must, and renews the session when it
// is told that it has ended. What a reply means is decided by wire/auth.
type authenticator struct {
	opt     authenticatorOptions
	self    *supervisor.Ref
	waiting []*SignIn // to be told of the outcome
	busy    bool      // a request is under way, or its wait
	turn    int       // of the wait that counts
	tries   int       // requests of this attempt that timed out
	rounds  int       // attempts that failed
}

func (a *authenticator) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.self = supervisor.Self(ctx)
		a.begin(ctx)
	case *SignIn:
		a.onSignIn(ctx, m)
	case *replied:
		a.onReplied(ctx, m.step)
	case *again:
		if m.turn == a.turn && a.busy {
			a.request(ctx)
		}
	case *actor.Stopping:
		a.answer(errors.New("the minion stops"))
	default:
		supervisor.Unhandled(ctx)
	}
}

// onSignIn joins the sign-in that is under way, or begins one.
func (a *authenticator) onSignIn(ctx actor.Context, m *SignIn) {
	a.waiting = append(a.waiting, m)
	if !a.busy {
		a.begin(ctx)
	}
}

func (a *authenticator) begin(ctx actor.Context) {
	a.busy, a.tries = true, 0
	a.request(ctx)
}

// request sends one sign-in request; the outcome comes back as a message.
func (a *authenticator) request(ctx actor.Context) {
	self, l, log := a.self, a.opt.link, a.opt.log
	supervisor.Go(ctx, "sign-in", func(ctx context.Context) error {
		self.Send(&replied{step: signIn(ctx, l, log)})
		return nil
	})
}

func signIn(ctx context.Context, l *link, log *slog.Logger) auth.Step {
	frame, err := l.auth.Request()
	if err != nil {
		return auth.Step{Verdict: auth.Failed, Text: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, l.cfg.AuthTimeout)
	defer cancel()
	reply, err := l.exchange(ctx, frame)
	if err != nil {
		log.Debug("sign-in request", "err", err)
		return l.auth.TimedOut()
	}
	return l.auth.Reply(reply)
}

func (a *authenticator) onReplied(ctx actor.Context, s auth.Step) {
	switch s.Verdict {
	case auth.Accepted:
		a.onAccepted(ctx, s)
	case auth.Pending:
		a.opt.log.Error(s.Text)
		a.wait(ctx, s.Wait)
	case auth.Retry:
		a.onRetry(ctx, s)
	case auth.Rejected, auth.Fatal:
		a.opt.log.Error(s.Text)
		a.answer(fmt.Errorf("sign-in: %s", s.Text))
		exit := a.opt.exit
		time.AfterFunc(s.Wait, func() { exit(Exit{Code: s.ExitCode, Text: s.Text}) })
	default: // Full, Failed
		a.fail(ctx, s)
	}
}

func (a *authenticator) onAccepted(ctx actor.Context, s auth.Step) {
	l := a.opt.link
	a.opt.log.Info(fmt.Sprintf("Authentication with master at %s successful!", l.master.Host))
	a.busy, a.tries, a.rounds = false, 0, 0
	a.turn++
	a.answer(nil)
	supervisor.Send(ctx, a.opt.subscriber(), &SignedIn{PublishPort: s.PublishPort})
	if a.opt.onAccepted != nil {
		a.opt.onAccepted(s)
	}
}

// onRetry counts the requests of one attempt; beyond auth_tries the attempt has failed, unless auth_safemode
// keeps it up for ever.
func (a *authenticator) onRetry(ctx actor.Context, s auth.Step) {
	a.tries++
	a.opt.log.Warn(s.Text)
	if a.tries >= max(1, a.opt.link.cfg.AuthTries) && !a.opt.link.cfg.AuthSafemode && !a.opt.link.cfg.RejectedRetry {
		a.fail(ctx, s)
		return
	}
	a.wait(ctx, s.Wait)
}

// fail ends one attempt. Those who wait are told; the next attempt begins after a growing wait.
func (a *authenticator) fail(ctx actor.Context, s auth.Step) {
	a.rounds++
	a.tries = 0
	cfg := a.opt.link.cfg
	a.opt.log.Error(fmt.Sprintf("Error while bringing up minion for multi-master. Is master at %s responding?", a.opt.link.master.Host), "why", s.Text)
	a.answer(fmt.Errorf("sign-in: %s", s.Text))
	if cfg.AuthRetries > 0 && a.rounds >= cfg.AuthRetries {
		a.opt.exit(Exit{Code: 1, Text: s.Text})
		return
	}
	a.wait(ctx, roundWait(a.rounds, cfg.AcceptanceWaitTime, cfg.AcceptanceWaitTimeMax)+between(0, min(cfg.RandomReauthDelay, cfg.AcceptanceWaitTime)))
}

// roundWait is the wait after the n-th failed attempt: it grows by the first wait up to the greatest.
func roundWait(n int, first, most time.Duration) time.Duration {
	if most <= first {
		return first
	}
	return min(time.Duration(n)*first, most)
}

func (a *authenticator) wait(ctx actor.Context, d time.Duration) {
	a.turn++
	turn, self := a.turn, a.self
	supervisor.Go(ctx, "wait", func(ctx context.Context) error {
		select {
		case <-time.After(d):
			self.Send(&again{turn: turn})
		case <-ctx.Done():
		}
		return nil
	})
}

func (a *authenticator) answer(err error) {
	for _, w := range a.waiting {
		w.done(err)
	}
	a.waiting = nil
}
