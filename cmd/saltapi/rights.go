package saltapi

import (
	"context"
	"sync/atomic"

	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/config"
	"brine/modules/eauth"
	"brine/modules/matchers"
	"brine/wire/payload"
	"brine/wire/python"
)

// rights knows what the holders of tokens may do, where the master is not asked. It may be used by any number of
// goroutines.
type rights struct {
	now     atomic.Pointer[rules]
	targets *matchers.Expander
}

// rules are those of a configuration.
type rules struct {
	*eauth.Service
	eauths     []string
	nodegroups *payload.Map
}

func rightsOf(s *session.Session) *rights {
	r := &rights{targets: masterlink.Expander(s)}
	r.targets.Groups = func() *payload.Map { return r.now.Load().nodegroups }
	r.follow(s.Master)
	return r
}

// follow takes the rules of a configuration.
func (r *rights) follow(m *config.Master) {
	r.now.Store(&rules{eauths: eauthNames(m.ExternalAuth), nodegroups: m.Nodegroups,
		Service: eauth.New(eauth.Options{External: m.ExternalAuth,
			KeepACL: m.KeepACLInToken, Permissive: m.PermissiveACL, RequireAll: m.ACLRequireAll,
			ACLModule: m.Raw.Str("eauth_acl_module"), Settings: m.Raw,
			Expanded: m.Raw.Value("auth.enable_expanded_auth_matching") == true})})
}

// of are the rules for the holder of a token.
func (r *rights) of(tok *payload.Map) []any { return r.now.Load().Rules(tok) }

// eauths are the kinds of external authentication.
func (r *rights) eauths() []string { return r.now.Load().eauths }

// mayRun tells whether the holder of a token may run the function of a chunk on the minions that its target means. No
// rule for some minions forbids a target that means nobody, as in Salt (CkMinions.validate_tgt). Unlike Salt: what
// cannot be worked out is refused.
func (r *rights) mayRun(ctx context.Context, tok, low *payload.Map) bool {
	asked, err := r.targets.Expand(ctx, low.Value("tgt"), low.Str("tgt_type"), low.Map("kwargs").Str("delimiter"), true)
	if err != nil {
		return false
	}
	want := eauth.Want{Funs: []string{python.Str(low.Value("fun"))}, Args: [][]any{low.List("arg")},
		Covers: func(target string) bool {
			all, err := r.targets.AllWithin(ctx, target, asked.Minions)
			return err == nil && all
		}}
	if list, ok := low.Value("fun").([]any); ok {
		want.Funs, want.Args = payload.Texts(list), nil
		for _, args := range low.List("arg") {
			one, _ := args.([]any)
			want.Args = append(want.Args, one)
		}
	}
	now := r.now.Load()
	return now.Allowed(now.Rules(tok), want).OK
}
