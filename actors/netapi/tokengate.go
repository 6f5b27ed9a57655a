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

// Limits of what is asked about eauth tokens.
const (
	// that the master has refused, of a client in a minute; so many of whom nothing is known are asked about at a time
	wrongTokens = 100
	tokensWait  = 1024 // questions of a client that wait for their turn
)

// tokenGate bounds the questions about eauth tokens that nobody has: each is one to the master. Tokens that the master
// has taken pass always, and those that it has just refused never.
type tokenGate struct {
	door door.Knocks
	seen *netapi.SeenTokens
}

func newTokenGate() *tokenGate {
	return &tokenGate{door: door.Knocks{Waiting: tokensWait}, seen: netapi.NewSeenTokens()}
}

// pass holds a question about a token back until it may be asked; command is its load's. The errors are what the master
// would say, door.ErrKnocks, and that of ctx.
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

// note keeps what the master has said of a token, and tells whether it counts against who has asked. Who has not
// answered has said nothing.
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

// What a reply says of a token.
const (
	tokenUnclear = iota // a function that is forbidden to everybody may be refused before anybody is asked who he is
	tokenTaken
	tokenRefused
)

// saidOf reads a reply.
func saidOf(command string, reply any) int {
	m, _ := reply.(*payload.Map)
	why := m.Map("error")
	nobody := strings.HasSuffix(why.Str("name"), "AuthenticationError")
	switch {
	case m.Len() == 0 && command == payload.CmdGetToken:
		return tokenRefused
	case m.Len() == 0:
		return tokenUnclear
	case nobody && strings.Contains(why.Str("message"), " for user "): // its owner may not do that
		return tokenTaken
	case nobody:
		return tokenRefused
	case m.Has("error"):
		return tokenUnclear
	}
	return tokenTaken
}

// noToken is what a master says of a token that it does not know.
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

// tokenOf is the eauth token that a load shows.
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

// busyTokens is what who asks about too many tokens hears.
func busyTokens(err error) error {
	if errors.Is(err, door.ErrKnocks) {
		return netapi.Busy("unknown tokens")
	}
	return err
}
