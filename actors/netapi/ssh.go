package netapi

import (
	"context"
	"errors"

	"brine/modules/netapi"
	"brine/wire/client"
	"brine/wire/payload"
	"brine/wire/python"
)

// ssh answers as Salt's does with an empty roster: nothing, to who has logged in and may run the function on the
// minions that the target means (salt/netapi/__init__.py, _authorize_ssh).
func (s *Server) ssh(ctx context.Context, low *payload.Map, _ func(string)) (any, error) {
	tok, err := s.whoAsks(ctx, low)
	if errors.Is(err, client.ErrAuthentication) {
		kind, user := "eauth", " for user "+python.Str(low.Value("username"))
		if low.Has("token") {
			kind, user = "token", ""
		}
		return nil, netapi.Unauthorized(`Authentication failure of type "` + kind + `" occurred` + user + ".")
	}
	if err != nil {
		return nil, err
	}
	if !low.Has("tgt") || !low.Has("fun") {
		return nil, netapi.ErrUnexpected
	}
	if s.opt.MayRun == nil || !s.opt.MayRun(ctx, tok, low) {
		return nil, netapi.Unauthorized("Authorization error occurred.")
	}
	return payload.NewMap(0), nil
}

// whoAsks is the token of a chunk, or one for its credentials. Unlike Salt: the token that is made for that does not
// stay.
func (s *Server) whoAsks(ctx context.Context, low *payload.Map) (*payload.Map, error) {
	if token, ok := low.Value("token").(string); ok {
		return s.opt.Client.GetToken(ctx, token)
	}
	tok, err := s.opt.Client.MkToken(ctx, credentials(low).Set("token_expire", int64(1)))
	if err == nil {
		s.Revoke(tok.Str("token"))
	}
	return tok, err
}
