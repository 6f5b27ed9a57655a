// Package eauth decides who may do what on a master: the local key files, external_auth with its backends
// (auto, file, ldap, pam, rest, sharedsecret), tokens, and the lists of allowed functions (publisher_acl,
// external_auth, peer, peer_run). It does not expand targets; the caller says which minions a target names. Answers to
// salt/auth/__init__.py, salt/acl, and auth_check, runner_check, wheel_check of salt/utils/minions.py.
package eauth

import (
	"context"
	"crypto/subtle"
	"strings"
	"time"

	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

// The kinds of authentication, as they stand in Salt's error texts.
const (
	KindToken = "token"
	KindEauth = "eauth"
	KindUser  = "user"
)

// Options are what a master's configuration says about authentication.
type Options struct {
	Damaged        func(setaside.Damage) // is told of tokens that are damaged; nil: nobody is
	External       *payload.Map          // external_auth: backend → user, "*" or group% → list of functions
	PublisherACL   *payload.Map          // publisher_acl: user pattern → list of functions
	Settings       *payload.Map          // all options, for those of backends: auth.pam.service and the like
	SharedSecret   string                // sharedsecret, for the backend of that name
	User           string                // user the master runs as by configuration
	RunningUser    string                // user the process really runs as
	Keys           Keys                  // local key files: user → key
	TokenDir       string                // one file per token
	TokenExpire    time.Duration         // life of a new token
	ExpireOverride any                   // token_expire_user_override: true, or backend → list of users
	// keep_acl_in_token; on in any case when external_auth names rest, whose rules nobody can ask for again
	KeepACL     bool
	ACLModule   string // eauth_acl_module: the backend whose own rules hold for users of all; only rest has some
	Permissive  bool   // permissive_acl: "*" adds to a user's own list
	Expanded    bool   // auth.enable_expanded_auth_matching: entries for some minions count together
	SudoACL     bool   // sudo_acl: publisher_acl holds for sudo users too
	RequireAll  bool   // every function of a job must be allowed, not just one
	FailuresMax int    // login_failures_max; 0: no limit
	Now         func() time.Time
	Calm        func() bool // whether tokens that have expired may be removed; nil: always
}

// Keys are the contents of the local key files, user → key.
type Keys map[string]string

// Service answers authentication questions. It keeps no state beside the token files and the count of failed log-ins,
// and may be used by many goroutines.
type Service struct {
	opt    Options
	failed *failures
	tokens tokenStore
}

// New makes a service.
func New(opt Options) *Service {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	opt.KeepACL = opt.KeepACL || opt.External.Has(restName)
	return &Service{opt: opt, failed: &failures{}, tokens: newTokenStore(&opt)}
}

// With makes a service with other options that goes on counting the log-ins that failed: new rules are no new start for
// who tries passwords. Tokens stay where they are.
func (s *Service) With(opt Options) *Service {
	next := New(opt)
	next.failed, next.tokens = s.failed, s.tokens
	return next
}

// Keys are those of the users of this machine. The map must not be changed.
func (s *Service) Keys() Keys { return s.opt.Keys }

// Identity is the outcome of a successful authentication.
type Identity struct {
	Kind string // KindToken, KindEauth or KindUser
	Name string // user as the master knows him
	List []any  // what he may do; for KindUser empty means everything
}

// Everything tells whether he may do everything: by a key, and no rules hold for him.
func (id *Identity) Everything() bool { return id.Kind == KindUser && len(id.List) == 0 }

// Denied is a failed authentication. Name and Error() are the two fields of Salt's error reply.
type Denied struct {
	Kind, Name, message string
	// Wait is how long the answer is to be held back, so that its time tells nothing of the cause.
	Wait time.Duration
	// Cause is why the backend could not tell; nil when it could.
	Cause error
	// Blocked says that the backend was not asked: too many log-ins had failed.
	Blocked bool
}

func (d *Denied) Error() string { return d.message }

// KindOf tells how a request authenticates: by token, by external authentication, or by a local key.
func KindOf(fields *payload.Map) string {
	switch c := payload.NewCredentials(fields); {
	case c.HasToken():
		return KindToken
	case c.HasEauth():
		return KindEauth
	}
	return KindUser
}

// Check authenticates a request. fields holds token, or eauth with username and password, or key and user;
// the key is removed from fields whatever the outcome, so that it is never stored or shown. from is the address of who
// asks, "" when it is not known.
//
// The error is always a *Denied. It never blocks for longer than a backend does: a failure is to be held back by the
// caller. Source: salt/auth/__init__.py, LoadAuth.check_authentication (3008).
func (s *Service) Check(fields *payload.Map, from string) (*Identity, error) {
	c := payload.NewCredentials(fields)
	switch KindOf(fields) {
	case KindToken:
		tok := s.Token(c.Token())
		if tok == nil || !s.opt.External.Has(tok.Str("eauth")) {
			return nil, &Denied{Kind: KindToken, Name: "TokenAuthenticationError",
				message: `Authentication failure of type "token" occurred.`}
		}
		return &Identity{KindToken, tok.Str("name"), s.listOfToken(tok)}, nil
	case KindEauth:
		in, denied := s.authenticate(c, from)
		if denied != nil {
			return nil, denied
		}
		return &Identity{KindEauth, c.Username(), s.listOf(c, in)}, nil
	}
	return s.checkKey(c)
}

var errUser = &Denied{Kind: KindUser, Name: "UserAuthenticationError",
	message: `Authentication failure of type "user" occurred`}

// checkKey compares the key of a local user. The key of root (or of a user named salt) is good for any name.
func (s *Service) checkKey(c payload.Credentials) (*Identity, error) {
	text, ok := c.TakeKey()
	if !ok {
		return nil, errUser
	}
	name, named := c.User()
	if !named {
		return s.anyKey(text, s.opt.RunningUser)
	}
	switch {
	case strings.HasPrefix(name, "sudo_"):
		return s.checkSudo(text, name)
	case name == s.opt.User || name == "root":
		return s.anyKey(text, name)
	case name == s.opt.RunningUser:
		if !s.same(name, text) {
			return nil, errUser
		}
	case s.same("root", text) || s.same("salt", text):
	case s.same(name, text):
		return s.restricted(name, name)
	default:
		return nil, errUser
	}
	return &Identity{Kind: KindUser, Name: name}, nil
}

func (s *Service) same(user, key string) bool {
	own, ok := s.opt.Keys[user]
	return ok && own != "" && subtle.ConstantTimeCompare([]byte(own), []byte(key)) == 1
}

// Unlike Salt: 3008 takes the key of any local user here, so that a restricted user could name himself root.
// brine asks for the key of the master's own user, as the releases before do.
func (s *Service) anyKey(key, name string) (*Identity, error) {
	if s.same(s.opt.User, key) || s.same("root", key) || s.same(s.opt.RunningUser, key) {
		return &Identity{Kind: KindUser, Name: name}, nil
	}
	return nil, errUser
}

// checkSudo lets root under sudo act, within publisher_acl when sudo_acl is on.
func (s *Service) checkSudo(key, name string) (*Identity, error) {
	id, err := s.anyKey(key, name)
	if err != nil || !s.opt.SudoACL || s.opt.PublisherACL.Len() == 0 {
		return id, err
	}
	return s.restricted(strings.TrimPrefix(name, "sudo_"), name)
}

// restricted finds what publisher_acl allows a user; a user without an entry is refused.
func (s *Service) restricted(user, name string) (*Identity, error) {
	var list []any
	for pattern, allowed := range s.opt.PublisherACL.All() {
		if p, ok := pattern.(string); ok && exprMatch(p, user) {
			list = append(list, asList(allowed)...)
		}
	}
	if len(list) == 0 {
		return nil, errUser
	}
	return &Identity{Kind: KindUser, Name: name, List: list}, nil
}

// MasterKey tells whether key is that of the master's own user.
func (s *Service) MasterKey(key string) bool { return s.same(s.opt.User, key) }

// listOf is what somebody may do who has just logged in: the rules of the backend that eauth_acl_module names, or of
// his own, and where it has none those of external_auth. Source: LoadAuth.get_auth_list.
func (s *Service) listOf(c payload.Credentials, in *admitted) []any {
	if in.rules != nil {
		return in.rules
	}
	return s.listFor(c.Eauth(), c.Username(), in.groups)
}

// authenticate asks the backend. A failure is to take as long as any other failure.
func (s *Service) authenticate(c payload.Credentials, from string) (*admitted, *Denied) {
	user := "UNKNOWN"
	if c.HasUsername() {
		user = payload.Show(c.Username())
	}
	denied := &Denied{Kind: KindEauth, Name: "EauthAuthenticationError",
		message: `Authentication failure of type "eauth" occurred for user ` + user + "."}
	start := s.opt.Now()
	conf, enabled := s.opt.External.Get(c.Eauth())
	ask := backends()[c.Eauth()]
	if !enabled || ask == nil {
		return nil, denied
	}
	if c.Username() == "" || len(c.Username()) > payload.MaxUser || len(c.Password()) > payload.MaxPassword ||
		hasNUL(c.Username(), c.Password()) {
		denied.Wait = failureTime(s.failed.longest())
		return nil, denied
	}
	if s.failed.blocked(s.opt.FailuresMax, from, c.Username(), start) {
		denied.Blocked = true
		return nil, denied
	}
	m, _ := conf.(*payload.Map)
	in, err := s.admit(ask, &attempt{Service: s, conf: m, user: c.Username(), password: c.Password()})
	if in != nil && err == nil {
		return in, nil
	}
	now := s.opt.Now()
	s.failed.add(from, c.Username(), now)
	denied.Cause, denied.Wait = err, max(failureTime(s.failed.took(now.Sub(start)))-now.Sub(start), 0)
	return nil, denied
}

// admit asks a backend, and eauth_acl_module for the rules when that is another one.
func (s *Service) admit(ask backend, a *attempt) (*admitted, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	in, err := ask(ctx, a)
	if in == nil || err != nil || s.opt.ACLModule == "" {
		return in, err
	}
	in.rules = nil
	if s.opt.ACLModule == restName {
		in.rules, err = restRules(ctx, a)
	}
	return in, err
}
