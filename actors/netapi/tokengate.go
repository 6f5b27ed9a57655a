package netapi

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/modules/fleet/door"
	"brine/modules/netapi"
	"brine/wire/client"
	"brine/wire/payload"
)

// These limits apply to questions to the master about eauth tokens.
const (
	// tokens of a client that the master refused in a minute; also the number of unknown tokens asked about at
	// a time
	wrongTokens = 100
	tokensWait  = 1024 // waiting questions of a client
)

// tokenGate limits the questions about invalid eauth tokens, because each costs the master a request. Tokens
// that the master has accepted always pass. Tokens that it has just refused never pass.
type tokenGate struct {
	door door.Knocks
	seen *netapi.SeenTokens
}

func newTokenGate() *tokenGate {
	return &tokenGate{door: door.Knocks{Waiting: tokensWait}, seen: netapi.NewSeenTokens()}
}

// pass delays a question about a token until it may be asked. command is the command of its load. The error is
// the one that the master would give, door.ErrKnocks, or that of ctx.
func (g *tokenGate) pass(ctx context.Context, command, token string) (done func(reply any, err error), err error) {
	taken, refused := g.seen.Look(token)
	switch {
	case taken:
		return func(reply any, err error) { g.note(token, command, reply, err) }, nil
	case refused:
		return nil, noToken(command)
	}
	leave, err := g.door.Enter(ctx, wrongTokens, netapi.From(ctx), "")
	if err != nil {
		return nil, err
	}
	return func(reply any, err error) { leave(g.note(token, command, reply, err)) }, nil
}

// note stores the master's answer about a token, and tells whether it counts against the client. A missing
// answer does not count.
func (g *tokenGate) note(token, command string, reply any, err error) (against bool) {
	if err != nil {
		return false
	}
	said := saidOf(command, reply)
	if said != tokenUnclear {
		g.seen.Note(token, said == tokenTaken)
	}
	return said != tokenTaken
}

// These are the meanings of a reply for a token.
const (
	tokenUnclear = iota // the master may refuse a function that nobody may run before it checks the user
	tokenTaken
	tokenRefused
)

// saidOf finds the meaning of a reply.
func saidOf(command string, reply any) int {
	m, _ := reply.(*payload.Map)
	why := m.Map("error")
	nobody := strings.HasSuffix(why.Str("name"), "AuthenticationError")
	switch {
	case m.Len() == 0 && command == payload.CmdGetToken:
		return tokenRefused
	case m.Len() == 0:
		return tokenUnclear
	case nobody && strings.Contains(why.Str("message"), " for user "): // the owner of the token may not do that
		return tokenTaken
	case nobody:
		return tokenRefused
	case m.Has("error"):
		return tokenUnclear
	}
	return tokenTaken
}

// noToken is a master's error about an unknown token.
func noToken(command string) error {
	switch command {
	case payload.CmdGetToken:
		return fmt.Errorf("%s: %w", command, client.ErrAuthentication)
	case payload.CmdPublish:
		return &client.RemoteError{Name: "AuthenticationError", Message: "Authentication error occurred."}
	}
	return &client.RemoteError{Name: "TokenAuthenticationError",
		Message: `Authentication failure of type "token" occurred.`}
}

// tokenOf returns the eauth token in a load.
func tokenOf(load *payload.Map) (command, token string) {
	fields, command := load, payload.Command(load)
	switch command {
	case payload.CmdPublish:
		fields = load.Map("kwargs")
	case payload.CmdGetToken, payload.CmdRunner, payload.CmdWheel:
	default:
		return command, ""
	}
	token, _ = fields.Value("token").(string)
	return command, token
}

// busyTokens is the error for a client with too many unknown tokens.
func busyTokens(err error) error {
	if errors.Is(err, door.ErrKnocks) {
		return netapi.Busy("unknown tokens")
	}
	return err
}
