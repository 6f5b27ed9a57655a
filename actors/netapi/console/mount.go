package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"brine/actors/netapi"
	rest "brine/modules/netapi"
	"brine/modules/netapi/feed"
	"brine/wire/payload"
)

// Mount tells how a server module of salt-api includes the console below its own addresses.
type Mount struct {
	API           netapi.API
	Rules         func(tok *payload.Map) []any // rules of the holder of a token
	Prefix        string                       // root_prefix
	AuthorizedIPs []string                     // if not empty, the only permitted addresses of clients
	APIACL        *payload.Map                 // option api_acl: the addresses from which users may log in
}

// Handler makes the console for a server module. It sets Front.
func (m Mount) Handler(opt Options) http.Handler {
	opt.Front = &front{m}
	h := http.Handler(New(opt))
	if prefix := strings.TrimRight(m.Prefix, "/"); prefix != "" {
		h = http.StripPrefix(prefix, h)
	}
	if len(m.AuthorizedIPs) == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(m.AuthorizedIPs, address(r)) {
			fail(w, http.StatusForbidden, "Bad IP")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// front implements Front for the console.
type front struct{ Mount }

// Login makes a token and a session for it.
func (f *front) Login(ctx context.Context, from string, creds *payload.Map) (Session, error) {
	if !f.mayLogIn(creds.Str("username"), from) {
		return Session{}, &problem{http.StatusUnauthorized, "Could not authenticate using provided credentials"}
	}
	in, err := f.API.Login(ctx, from, creds)
	if err != nil {
		return Session{}, toldAs(err)
	}
	id, err := f.API.Sessions().Open(ctx, in.Token, in.Eauth+"/"+in.Name)
	if err != nil {
		return Session{}, fmt.Errorf("open session: %w", err)
	}
	who, err := f.Session(ctx, id)
	if errors.Is(err, ErrNobody) {
		return who, &problem{http.StatusServiceUnavailable,
			"The master does not know the token that it has just given."}
	}
	return who, err
}

// mayLogIn checks the address of a user who logs in.
func (f *front) mayLogIn(user, from string) bool {
	if f.APIACL.Len() == 0 {
		return true
	}
	users := f.APIACL.Map("users")
	if !users.Has(user) {
		user = "*"
	}
	may := payload.Texts(users.List(user))
	if one, ok := users.Value(user).(string); ok {
		may = []string{one}
	}
	return slices.Contains(may, from) || slices.Contains(may, "*")
}

// Session finds the session of an id, with its current rules. If the master does not know its token any more,
// there is no session.
func (f *front) Session(ctx context.Context, id string) (Session, error) {
	token, err := f.API.Sessions().Token(ctx, id)
	if err != nil {
		return Session{}, fmt.Errorf("look for session: %w", err)
	}
	if token == "" {
		return Session{}, ErrNobody
	}
	if err := f.MasterHere(); err != nil { // otherwise the question waits
		return Session{}, err
	}
	tok, err := f.API.Token(ctx, token)
	var known *rest.Error
	switch {
	case err == nil && tok == nil, errors.As(err, &known) && known.Status == http.StatusUnauthorized:
		return Session{}, ErrNobody
	case err != nil:
		return Session{}, toldAs(err)
	}
	return Session{ID: id, Token: token, User: tok.Str("name"), Rules: f.Rules(tok)}, nil
}

// MasterHere checks for the master.
func (f *front) MasterHere() error {
	if f.API.MasterHere() != nil {
		return errAway
	}
	return nil
}

// Logout deletes a session and revokes its token, as rest_cherrypy does.
func (f *front) Logout(ctx context.Context, id string) {
	if token, err := f.API.Sessions().Close(ctx, id); err == nil { // an ended session is fine
		f.API.Revoke(token)
	}
}

// Run runs one chunk of a lowstate.
func (f *front) Run(ctx context.Context, low *payload.Map) (any, error) {
	v, err := f.API.Run(ctx, low)
	return v, toldAs(err)
}

// Events opens a position in the stream of events that all readers of salt-api share. All streams of the
// console count as one address.
func (f *front) Events(ctx context.Context) (Stream, error) {
	s, err := f.API.Hub().Open(ctx, "console")
	if err != nil {
		return nil, err
	}
	return &reader{Stream: s}, nil
}

// reader returns one event after another.
type reader struct {
	*feed.Stream
	got []*feed.Event
}

func (r *reader) Next(ctx context.Context) (tag string, data *payload.Map, err error) {
	for {
		for ; len(r.got) > 0; r.got = r.got[1:] {
			if e := r.got[0]; e.Data() != nil { // skips data that is no event
				r.got = r.got[1:]
				return e.Tag, e.Data(), nil
			}
		}
		if r.got, err = r.Stream.Next(ctx); err != nil {
			return "", nil, err
		}
	}
}

// toldAs converts an error of salt-api, with its status.
func toldAs(err error) error {
	var known *rest.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case !errors.As(err, &known):
		return &problem{http.StatusBadGateway, "The master did not do it."}
	case known.Message == "":
		return &problem{known.Status, http.StatusText(known.Status)}
	}
	return &problem{known.Status, known.Message}
}
