package netapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"brine/actors/netapi/events"
	"brine/config"
	"brine/modules/loader"
	"brine/modules/netapi"
	"brine/modules/netapi/feed"
	"brine/supervisor"
	"brine/wire/client"
	"brine/wire/event"
	"brine/wire/payload"
)

// API is the interface for server modules. All methods are safe for concurrent use and end with their context,
// so a client that goes away frees its resources. Errors meant for clients are *netapi.Error of modules/netapi.
type API interface {
	Config() *config.Netapi
	// MasterHere returns an error at once if no master answers.
	MasterHere() error
	// Login asks the master for an eauth token. from is the address of the client.
	Login(ctx context.Context, from string, creds *payload.Map) (Login, error)
	// Sessions maps session ids to eauth tokens.
	Sessions() Sessions
	// Token returns the master's data about an eauth token.
	Token(ctx context.Context, token string) (*payload.Map, error)
	// Run checks and runs one chunk of a lowstate. A batch gives Several.
	Run(ctx context.Context, low *payload.Map) (any, error)
	// Unlisted runs one chunk for a server that ignores netapi_enable_clients. A job waits at most the time
	// within. The result nil means that the target matches no minion.
	Unlisted(ctx context.Context, low *payload.Map, within time.Duration) (any, error)
	// Revoke makes an eauth token invalid. A failure is logged. "" means no token.
	Revoke(token string)
	// Fire fires an event on the master's bus.
	Fire(ctx context.Context, tag string, data *payload.Map) error
	// Hub distributes the events of the master's bus.
	Hub() *events.Hub
	// Tokens knows which eauth tokens of streams are still valid.
	Tokens() *feed.Tokens
}

// Several are several results of one chunk. An answer lists them one by one.
type Several []any

// Login is a log-in that the master has accepted.
type Login struct {
	Token         string // eauth token, a secret
	Start, Expire any    // seconds since 1970
	Name, Eauth   string
	Perms         any // see netapi.Permissions
}

// Module is a server: its section of the configuration and its handler.
type Module struct {
	Name    string // rest_cherrypy, also the name of its actor
	Listen  Listen
	Handler func(API) (http.Handler, error)
}

// Options configure the daemon.
type Options struct {
	Config  *config.Netapi
	Master  *config.Master // the master beside the daemon
	Client  *client.Client
	Logger  *slog.Logger
	Modules []Module
	// Runners finds a runner function. known without a function means that the master has other functions than
	// this program, and must decide itself.
	Runners func(fun string) (f *loader.Func, known bool)
	// Revoke removes an eauth token from the master's store. If it is nil, the token stays until it expires.
	Revoke func(token string) error
	// MayRun tells whether the holder of a token may run the function of a chunk on its target. tok is the
	// master's data about the token. If MayRun is nil, nobody may.
	MayRun func(ctx context.Context, tok, low *payload.Map) bool
	// Ours tells whether the master is a brine master.
	Ours func() bool
	// MasterAlive connects to the master. It returns an error if no master answers.
	MasterAlive func() error
	Supervision supervisor.Options
}

// Server is a running daemon.
type Server struct {
	opt      Options
	now      atomic.Pointer[inForce]
	top      *supervisor.Supervisor
	calls    *calls
	sessions Sessions
	hub      *events.Hub
	tokens   *feed.Tokens
	theirs   *theirs
}

// inForce holds the settings that may change while the daemon runs.
type inForce struct {
	conf       *config.Netapi
	nodegroups *payload.Map
}

// Reload puts in force the settings that may change. Running requests go on with the old ones.
func (s *Server) Reload(conf *config.Netapi, nodegroups *payload.Map) {
	s.now.Store(&inForce{s.Config().Follow(conf), nodegroups})
}

// Start starts the daemon.
func Start(opt Options) (*Server, error) {
	opt.Supervision.Name, opt.Supervision.Logger = "salt-api", opt.Logger
	s := &Server{opt: opt, top: supervisor.Start(supervisor.NewSystem(opt.Logger), opt.Supervision)}
	s.now.Store(&inForce{opt.Config, opt.Master.Nodegroups})
	if err := s.populate(); err != nil {
		s.top.Stop(time.Second)
		return nil, err
	}
	return s, nil
}

func (s *Server) populate() error {
	ref, err := s.top.Add(sessionsSpec(s.opt.Config))
	if err != nil {
		return fmt.Errorf("start sessions: %w", err)
	}
	s.sessions = Sessions{ref}
	if _, err := s.top.Add(listeningSpec(s.opt.Client)); err != nil {
		return fmt.Errorf("start listening: %w", err)
	}
	tree, err := s.top.AddTree("Calls", supervisor.Options{})
	if err != nil {
		return fmt.Errorf("start calls: %w", err)
	}
	s.calls = &calls{tree: tree}
	s.theirs = newTheirs(s.opt.Client, s.calls)
	s.hub = events.New(events.Options{Subscribe: s.subscribe, Log: s.opt.Logger})
	if ref, err = s.top.Add(s.hub.Spec()); err == nil {
		err = stands(ref) // otherwise an early request would learn that there are no events any more
	}
	if err != nil {
		return fmt.Errorf("start event hub: %w", err)
	}
	s.tokens = feed.NewTokens(s.Token)
	for _, m := range s.opt.Modules {
		h, err := m.Handler(s)
		if err == nil {
			_, err = s.top.Add(listenerSpec(m, h))
		}
		if err != nil {
			return fmt.Errorf("start %s: %w", m.Name, err)
		}
	}
	return nil
}

// startWithin bounds the time for the start of an actor.
const startWithin = 30 * time.Second

// stands waits until an actor has started.
func stands(ref *supervisor.Ref) error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	return ref.Ready(ctx)
}

// Supervisor returns the root of the actors.
func (s *Server) Supervisor() *supervisor.Supervisor { return s.top }

// Stop ends the daemon.
func (s *Server) Stop(within time.Duration) (supervisor.Report, error) {
	report := s.top.Stop(within)
	return report, s.opt.Client.Close()
}

// Config returns the configuration in force. The sections of the servers are those at the start.
func (s *Server) Config() *config.Netapi { return s.now.Load().conf }

// Sessions returns the sessions of this daemon.
func (s *Server) Sessions() Sessions { return s.sessions }

// MasterHere returns netapi.MasterGone if no process listens on the sockets of the master. Unlike Salt: a
// socket file that was left behind does not count as a master.
func (s *Server) MasterHere() error {
	if err := s.opt.MasterAlive(); err != nil {
		s.opt.Logger.Debug("no master", "err", err)
		return netapi.MasterGone()
	}
	return nil
}

// Login gets a token from the master. A refusal is a 401.
func (s *Server) Login(ctx context.Context, from string, creds *payload.Map) (Login, error) {
	if err := s.MasterHere(); err != nil {
		return Login{}, err
	}
	if name, _ := creds.Value("username").(string); name == "" {
		// some of Salt's backends accept an empty user name with the right password
		return Login{}, netapi.Unauthorized("Could not authenticate using provided credentials")
	}
	tok, err := s.opt.Client.MkToken(ctx, payload.NewCredentials(creds).LogIn())
	var no *client.RemoteError
	switch {
	case errors.Is(err, client.ErrAuthentication), errors.As(err, &no), errors.Is(err, client.ErrEmptyReply):
		s.opt.Logger.Info("log-in refused", "from", from)
		return Login{}, netapi.Unauthorized("Could not authenticate using provided credentials")
	case err != nil:
		return Login{}, s.told(err)
	}
	l := Login{Token: tok.Str("token"), Start: tok.Value("start"), Expire: tok.Value("expire"), Name: tok.Str("name"),
		Eauth: tok.Str("eauth")}
	if l.Token == "" {
		return Login{}, netapi.Unauthorized("Could not authenticate using provided credentials")
	}
	l.Perms = s.permissions(tok, l)
	return l, nil
}

// permissions returns the rights that the answer to a log-in shows.
func (s *Server) permissions(tok *payload.Map, l Login) any {
	if list, ok := tok.Value("auth_list").([]any); ok && l.Eauth == "rest" {
		if len(list) == 0 {
			return payload.NewMap(0)
		}
		return list
	}
	var rules *payload.Map
	if all := s.Config().ExternalAuth; all != nil {
		rules = all.Map(l.Eauth)
	}
	return netapi.Permissions(rules, l.Name, tok.List("groups"))
}

// Token returns the master's data about an eauth token. An unknown token is a 401.
func (s *Server) Token(ctx context.Context, token string) (*payload.Map, error) {
	tok, err := s.opt.Client.GetToken(ctx, token)
	if err != nil {
		return nil, s.told(err)
	}
	return tok, nil
}

// Revoke removes an eauth token from the store of the master.
func (s *Server) Revoke(token string) {
	if s.opt.Revoke == nil || token == "" {
		return
	}
	if err := s.opt.Revoke(token); err != nil {
		s.opt.Logger.Error("an eauth token could not be revoked; it holds until it expires", "err", err)
		return
	}
	s.tokens.Drop(token)
}

// Fire fires an event on the bus.
func (s *Server) Fire(ctx context.Context, tag string, data *payload.Map) error {
	if err := s.MasterHere(); err != nil {
		return err
	}
	return s.opt.Client.Fire(ctx, tag, data)
}

// Hub returns the daemon's one subscription, for its streams.
func (s *Server) Hub() *events.Hub { return s.hub }

// Tokens returns the tokens of the streams.
func (s *Server) Tokens() *feed.Tokens { return s.tokens }

// subscribe connects to the bus.
func (s *Server) subscribe(ctx context.Context) (events.Source, error) {
	if err := s.opt.MasterAlive(); err != nil {
		return nil, err
	}
	all, err := s.opt.Client.Events(ctx)
	if err != nil {
		return nil, err
	}
	return unnudged{all}, nil
}

// tagNudge is the tag of an event with which a brine master wakes tools of Salt that have just begun to listen.
// Other readers need not see it.
const tagNudge = "brine/bus/nudge"

// unnudged is a stream without these events.
type unnudged struct{ client.Events }

// Next waits for the next event.
func (u unnudged) Next(ctx context.Context) ([]byte, error) {
	for {
		body, err := u.Events.Next(ctx)
		if err != nil || event.Tag(body) != tagNudge {
			return body, err
		}
	}
}

// These are Salt's texts for requests that a master has not answered.
const (
	textTimedOut = "Salt request timed out. The master is not responding. You may need to run your command with " +
		"`--async` " +
		"in order to bypass the congested event bus. With `--async`, the CLI tool will print the job id (jid) and exit " +
		"immediately without listening for responses. You can then use `salt-run jobs.lookup_jid` to look up the " +
		"results " +
		"of the job in the job cache later."
	textRefused = "Failed to authenticate! This is most likely because this user is not permitted to execute commands, " +
		"but there is a small possibility that a disk error occurred (check disk/inode usage)."
)

// told turns an error of the master, or of the connection to it, into the error that Salt's servers show.
func (s *Server) told(err error) error {
	var no *client.RemoteError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrNoMaster), errors.Is(err, client.ErrNoBus):
		return netapi.MasterGone()
	case errors.Is(err, client.ErrTimeout):
		return &netapi.Error{Status: http.StatusServiceUnavailable, Message: textTimedOut}
	case errors.As(err, &no):
		switch no.Name {
		case "AuthenticationError", "AuthorizationError", "EauthAuthenticationError", "TokenAuthenticationError",
			"UserAuthenticationError":
			return netapi.Unauthorized(no.Message)
		case "SaltInvocationError":
			return netapi.BadRequest(no.Message)
		}
	case errors.Is(err, client.ErrAuthentication):
		return netapi.Unauthorized("")
	case errors.Is(err, client.ErrEmptyReply):
		return netapi.Unauthorized(textRefused)
	}
	return err
}
