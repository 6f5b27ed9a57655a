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

// Mount says how a server module of salt-api has the console below its own addresses.
type Mount struct {
	API           netapi.API
	Rules         func(tok *payload.Map) []any // what the holder of a token may do
	Prefix        string                       // root_prefix
	AuthorizedIPs []string                     // the only addresses that may ask, if there are any
	APIACL        *payload.Map                 // option api_acl: from where users may log in
}

// Handler is the console for a server module. Front is set here.
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

// front is salt-api as the console needs it.
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

// mayLogIn looks at the address of a user who logs in.
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

// Session is that of an id, with the rules that hold for it now. A token that the master does not know any more is no
// session.
func (f *front) Session(ctx context.Context, id string) (Session, error) {
	token, err := f.API.Sessions().Token(ctx, id)
	if err != nil {
		return Session{}, fmt.Errorf("look for session: %w", err)
	}
	if token == "" {
		return Session{}, ErrNobody
	}
	if err := f.MasterHere(); err != nil { // else the question waits
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

// MasterHere dials the master.
func (f *front) MasterHere() error {
	if f.API.MasterHere() != nil {
		return errAway
	}
	return nil
}

// Logout forgets a session and revokes its token, as rest_cherrypy does.
func (f *front) Logout(ctx context.Context, id string) {
	if token, err := f.API.Sessions().Close(ctx, id); err == nil { // one that has ended already is well
		f.API.Revoke(token)
	}
}

// Run runs one chunk of a lowstate.
func (f *front) Run(ctx context.Context, low *payload.Map) (any, error) {
	v, err := f.API.Run(ctx, low)
	return v, toldAs(err)
}

// Events is a place in the stream of events that all readers of salt-api share. Those of the console count as one
// address.
func (f *front) Events(ctx context.Context) (Stream, error) {
	s, err := f.API.Hub().Open(ctx, "console")
	if err != nil {
		return nil, err
	}
	return &reader{Stream: s}, nil
}

// reader hands out one event after the other.
type reader struct {
	*feed.Stream
	got []*feed.Event
}

func (r *reader) Next(ctx context.Context) (tag string, data *payload.Map, err error) {
	for {
		for ; len(r.got) > 0; r.got = r.got[1:] {
			if e := r.got[0]; e.Data() != nil { // what is no event is passed over
				r.got = r.got[1:]
				return e.Tag, e.Data(), nil
			}
		}
		if r.got, err = r.Stream.Next(ctx); err != nil {
			return "", nil, err
		}
	}
}

// toldAs is an error of salt-api with its status.
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
