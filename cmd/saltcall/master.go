package saltcall

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"brine/cmd/saltminion"
	"brine/cmd/tool"
	"brine/config"
	"brine/modules/loader"
	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/sealed"
	"brine/wire/transport"
	"brine/wire/zmq"
)

// textNotAccepted is printed while the key waits on the master for an operator.
const textNotAccepted = "Minion failed to authenticate with the master, has the minion key been accepted?"

// exitPending is the exit code for textNotAccepted.
const exitPending = 2

// callLink is the connection to a master for one call: one socket, one session. Only one goroutine uses it.
type callLink struct {
	cfg  *config.Minion
	auth *auth.Minion
	req  transport.RequestClient
	log  *slog.Logger
	ip   string // of the master

	grain func(name string) (any, bool)
}

// connect signs in to the first master that answers, and offers it to the functions. It does nothing if there
// is no master.
func (t *callTool) connect(ctx context.Context) error {
	masters := t.Minion.Masters
	if len(masters) == 0 {
		return nil
	}
	key, err := saltminion.OwnKey(t.Minion)
	if err != nil {
		return err
	}
	var last error
	for _, m := range masters {
		l := &callLink{cfg: t.Minion, log: t.Log.With("master", m.Host), grain: t.env.GrainOf}
		if last = l.open(ctx, m, key); last == nil {
			t.AtEnd(func() { _ = l.req.Close() }) // no request is in progress any more
			t.offer(l, m)
			return nil
		}
		l.log.Debug("no session", "err", last)
	}
	var no *notSignedIn
	if !errors.As(last, &no) {
		return tool.Exit(tool.ExitGeneric, "%s", last)
	}
	if no.step.Verdict == auth.Pending {
		t.Log.Error(no.step.Text)
		fmt.Fprintln(t.Stdout, textNotAccepted)
		return tool.Exit(exitPending, "")
	}
	return tool.Exit(max(tool.ExitGeneric, no.step.ExitCode), "%s", no)
}

// notSignedIn is the error of a sign-in that gave no session.
type notSignedIn struct{ step auth.Step }

func (e *notSignedIn) Error() string { return e.step.Text }

// open finds the master's address and signs in.
func (l *callLink) open(ctx context.Context, master config.MasterAddr, key *crypt.PrivateKey) (err error) {
	if l.auth, err = auth.NewMinion(saltminion.SignInOptions(l.cfg, key, l.grain)); err != nil {
		return err
	}
	addr, err := masterAddress(ctx, master.Host, l.cfg.IPv6)
	if err != nil {
		return err
	}
	c := l.cfg
	l.ip = addr
	l.req = zmq.NewReq(zmq.ReqOptions{Endpoint: zmq.ConnectEndpoint(addr, master.Port, c.SourceAddress,
		c.SourceRetPort), IPv6: c.IPv6})
	if err := l.signIn(ctx); err != nil {
		return errors.Join(err, l.req.Close())
	}
	return nil
}

// masterAddress resolves a master's name. It prefers an address of the configured family.
func masterAddress(ctx context.Context, host string, ipv6 bool) (string, error) {
	if net.ParseIP(host) != nil {
		return host, nil
	}
	found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return "", fmt.Errorf("find master %s: %w", host, err)
	}
	for _, a := range found {
		if (a.IP.To4() == nil) == ipv6 {
			return a.String(), nil
		}
	}
	return found[0].String(), nil
}

// signIn asks for a session. If no answer arrives, it tries auth_tries times.
func (l *callLink) signIn(ctx context.Context) error {
	var step auth.Step
	for range max(1, l.cfg.AuthTries) {
		frame, err := l.auth.Request()
		if err != nil {
			return err
		}
		reply, err := l.exchange(ctx, frame, l.cfg.AuthTimeout)
		if err == nil {
			if step = l.auth.Reply(reply); step.Verdict == auth.Accepted {
				return nil
			}
			break
		}
		l.log.Debug("sign-in request", "err", err)
		step = auth.Step{Verdict: auth.Failed, Text: "Attempt to authenticate with the salt master failed with " +
			"timeout error"}
	}
	return &notSignedIn{step}
}

func (l *callLink) exchange(ctx context.Context, frame []byte, patience time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.req.Do(ctx, frame)
}

// ask sends a request to the master, at most request_channel_tries times. It renews an expired session once.
func (l *callLink) ask(ctx context.Context, load *payload.Map) (any, error) {
	return l.channel().Ask(ctx, load, l.rules())
}

func (l *callLink) channel() *sealed.Channel {
	return &sealed.Channel{Session: l.auth, Exchange: l.req.Do, Silence: loader.ErrRequestTimeout,
		Renew: func(ctx context.Context, _ int64) error { return l.signIn(ctx) }}
}

func (l *callLink) rules() sealed.Rules {
	return sealed.Rules{Timeout: l.cfg.RequestChannelTimeout, Tries: l.cfg.RequestChannelTries, Renewals: 1}
}

// sendReturn sends the record of a call to the master, which gives it a job id.
func (l *callLink) sendReturn(ctx context.Context, ret *payload.Map) error {
	load := payload.M("cmd", payload.CmdReturn, "id", l.cfg.ID)
	load.Update(ret)
	answer, err := l.ask(ctx, load.Set("jid", "req"))
	if err != nil {
		return err
	}
	return payload.ReturnTaken(answer)
}
