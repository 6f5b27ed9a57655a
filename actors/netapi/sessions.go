package netapi

import (
	"context"
	"time"

	"brine/config"
	"brine/modules/netapi"
	"brine/supervisor"
)

// These are the messages of the Sessions actor.
type (
	// OpenSession stores an eauth token and answers with its new session id.
	OpenSession struct {
		Token, User string
		Reply       chan<- string
	}
	// GetSession answers with the token of a session id, or "", and prolongs the session.
	GetSession struct {
		ID    string
		Reply chan<- string
	}
	// CloseSession deletes a session and answers with its token.
	CloseSession struct {
		ID    string
		Reply chan<- string
	}
)

// Sessions gives access to the actor of that name. Session ids are as secret as passwords.
type Sessions struct{ ref *supervisor.Ref }

// Open stores a token for a new session and returns the session's id.
func (s Sessions) Open(ctx context.Context, token, user string) (id string, err error) {
	return supervisor.Ask(ctx, s.ref, func(reply chan<- string) any { return &OpenSession{token, user, reply} })
}

// Token returns the eauth token of a session, or "", and prolongs the session.
func (s Sessions) Token(ctx context.Context, id string) (string, error) {
	if !netapi.SessionID(id) {
		return "", nil
	}
	return supervisor.Ask(ctx, s.ref, func(reply chan<- string) any { return &GetSession{id, reply} })
}

// Close ends a session and returns its eauth token.
func (s Sessions) Close(ctx context.Context, id string) (string, error) {
	return supervisor.Ask(ctx, s.ref, func(reply chan<- string) any { return &CloseSession{id, reply} })
}

// sessionsSpec is the spec of the child that keeps the sessions. The store outlives an incarnation, so users
// need not log in again.
func sessionsSpec(conf *config.Netapi) supervisor.Spec {
	most, each := 1000, 100
	if c := conf.CherryPy; c != nil {
		most, each = c.SessionsMax, c.SessionsEach
	}
	store := netapi.NewSessions(most, each)
	return supervisor.Spec{Name: "Sessions", Component: true, New: func() supervisor.Actor {
		return &sessions{store: store}
	}}
}

// sessions owns the table of sessions.
type sessions struct{ store *netapi.SessionStore }

func (s *sessions) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *OpenSession:
		m.Reply <- s.store.Open(time.Now(), m.Token, m.User)
	case *GetSession:
		m.Reply <- s.store.Token(time.Now(), m.ID)
	case *CloseSession:
		m.Reply <- s.store.Close(m.ID)
	default:
		supervisor.Unhandled(ctx)
	}
}
