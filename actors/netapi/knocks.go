package netapi

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"brine/modules/fleet/door"
	"brine/modules/netapi"
	"brine/wire/payload"
)

// share divides the failures that the master allows a user. One client of salt-api gets one such part. The
// master sees one address for all clients, and one client must not use up the failures of the others.
const share = 4

// LogInGate limits the failed log-ins and the invalid tokens of each client, because for the master all
// requests come from this machine. Pass is a gate of wire/client.
type LogInGate struct {
	most   int // failures of a user at an address per minute; 0: no limit
	log    *slog.Logger
	door   door.Knocks
	lines  door.Lines
	tokens *tokenGate
}

// NewLogInGate makes a gate. master is the number of failures per minute that the master allows a user
// (login_failures_max).
func NewLogInGate(master int, log *slog.Logger) *LogInGate {
	g := &LogInGate{log: log, tokens: newTokenGate()}
	if master > 0 {
		g.most = max(1, master/share)
	}
	return g
}

// Pass delays or refuses a log-in, or a request with an unknown token. Other requests pass.
func (g *LogInGate) Pass(ctx context.Context, load *payload.Map) (done func(reply any, err error), err error) {
	if command, token := tokenOf(load); token != "" {
		done, err := g.tokens.pass(ctx, command, token)
		if errors.Is(err, door.ErrKnocks) {
			if more, due := g.lines.Due("tokens", netapi.From(ctx)); due {
				g.log.Warn("a client has sent too many invalid tokens, further ones are not checked", "from",
					netapi.From(ctx), "more", more)
			}
		}
		return done, busyTokens(err)
	}
	user, is := logIn(load)
	if !is {
		return func(any, error) {}, nil
	}
	from := netapi.From(ctx)
	leave, err := g.door.Enter(ctx, g.most, from, user)
	if errors.Is(err, door.ErrKnocks) {
		if more, due := g.lines.Due("log-ins", from); due {
			g.log.Warn("too many log-ins of a client have failed, the next ones are not tried (login_failures_max)",
				"from", from, "more", more)
		}
		return nil, netapi.Unauthorized("Could not authenticate using provided credentials")
	}
	if err != nil {
		return nil, err
	}
	return func(reply any, _ error) {
		if m, _ := reply.(*payload.Map); m.Str("token") != "" {
			g.door.Came(from, user)
			g.tokens.seen.Note(m.Str("token"), true)
		}
		leave(refused(load, reply))
	}, nil
}

// logIn tells whether an external authentication backend authenticates the load, and returns the user.
func logIn(load *payload.Map) (user string, is bool) {
	fields := load
	switch payload.Command(load) {
	case payload.CmdPublish:
		fields = load.Map("kwargs")
	case payload.CmdMkToken, payload.CmdRunner, payload.CmdWheel:
	default:
		return "", false
	}
	c := payload.NewCredentials(fields)
	return c.Username(), c.HasEauth() && !c.HasToken()
}

// refused tells whether the master has refused a log-in.
func refused(load *payload.Map, reply any) bool {
	m, _ := reply.(*payload.Map)
	if payload.Command(load) == payload.CmdMkToken {
		return m.Str("token") == ""
	}
	return strings.Contains(m.Map("error").Str("name"), "AuthenticationError")
}
