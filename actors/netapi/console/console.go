package console

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"brine/modules/matchers"
	"brine/wire/control"
	"brine/wire/payload"
)

// Session is a logged-in user.
type Session struct {
	ID    string // value of the cookie
	Token string // the master's token
	User  string
	Rules []any // the user's rules in external_auth
}

// Front is the interface of salt-api for the console. All methods are safe for concurrent use.
type Front interface {
	// Login asks the master for a token. from is the address of the client.
	Login(ctx context.Context, from string, creds *payload.Map) (Session, error)
	// Session finds the session of an id and keeps it alive. ErrNobody means that there is none. Any other
	// error says why the answer is not known, such as a master that is away.
	Session(ctx context.Context, id string) (Session, error)
	// MasterHere returns an error at once if no process listens on the sockets of the master.
	MasterHere() error
	// Logout deletes a session.
	Logout(ctx context.Context, id string)
	// Run calls a client of Salt (local, local_async, runner, wheel). The low data contains a token.
	Run(ctx context.Context, low *payload.Map) (any, error)
	// Events opens a stream of all events of the master.
	Events(ctx context.Context) (Stream, error)
}

// Stream is a stream of events. Next waits for an event or the end of the context. Up tells whether the bus is
// connected. Close frees the stream. The data must not be changed.
type Stream interface {
	Next(ctx context.Context) (tag string, data *payload.Map, err error)
	Up() bool
	Close()
}

// Files reads the master's files that the console needs.
type Files interface {
	// Expand returns the minions that a target matches.
	Expand(ctx context.Context, tgt any, tgtType string) (matchers.Expansion, error)
	// Grains returns a minion's cached grains, or only the named ones. It returns nil if there are none.
	Grains(id string, names ...any) (*payload.Map, error)
}

// Options configure the console.
type Options struct {
	Front  Front
	Master *control.Daemon // control socket of the master, which may not exist
	Files  Files
	Secure bool // the page uses TLS: cookies are for TLS only
	// Cookie is the name of the session cookie. "" is session_id, that of rest_cherrypy.
	Cookie  string
	Version string
	Eauths  func() []string // kinds of external authentication to choose from at the log-in; nil: none
	Logger  *slog.Logger    // nil: no log
	// MasterUsers are the users of the master itself. Jobs under their names belong to no logged-in user.
	MasterUsers []string
}

// These are the limits of one console.
const (
	maxStreams     = 64       // streams of all pages
	maxUserStreams = 8        // of one session
	maxBody        = 64 << 10 // bytes of a request body
	answerWithin   = 30 * time.Second
)

// console answers requests. Its changing data is in channels, which pass it from one goroutine to the next.
type console struct {
	Options
	table   []route
	streams chan map[string]int // number of streams by session; the goroutine that holds the map may change it
	holds   holds
	pulse   chan pulse // the goroutine that has taken it may change it
}

//go:embed page
var pageFiles embed.FS

// New makes the handler for all paths below /console.
func New(opt Options) http.Handler {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Cookie == "" {
		opt.Cookie = "session_id"
	}
	c := &console{Options: opt, streams: make(chan map[string]int, 1), holds: newHolds(), pulse: make(chan pulse, 1)}
	c.pulse <- pulse{}
	c.streams <- map[string]int{}
	c.table = c.routes()
	mux := http.NewServeMux()
	for _, r := range c.table {
		mux.Handle(r.Method+" "+r.Path, c.serve(r))
	}
	mux.HandleFunc("/console/api/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "there is nothing at this address, or not by this method")
	})
	files, err := fs.Sub(pageFiles, "page")
	if err != nil { // impossible: the folder is a part of the binary
		return http.NotFoundHandler()
	}
	mux.Handle("/console/", http.StripPrefix("/console/", http.FileServerFS(files)))
	mux.HandleFunc("/console", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "console/") // relative, because there may be a prefix before it
		w.WriteHeader(http.StatusMovedPermanently)
	})
	return secured(mux)
}

// enter counts a new stream of a session, unless there are too many. leave ends the count.
func (c *console) enter(session string) (leave func(), ok bool) {
	by := <-c.streams
	defer func() { c.streams <- by }()
	all := 0
	for _, n := range by {
		all += n
	}
	if all >= maxStreams || by[session] >= maxUserStreams {
		return nil, false
	}
	by[session]++
	return func() {
		by := <-c.streams
		if by[session]--; by[session] == 0 {
			delete(by, session)
		}
		c.streams <- by
	}, true
}

// problem is an error text for the page, with its HTTP status.
type problem struct {
	status int
	text   string
}

func (p *problem) Error() string { return p.text }

// errStatus is the status of an error. An error without a status comes from beyond the console.
func errStatus(err error) int {
	var p *problem
	var told interface{ HTTPStatus() int }
	switch {
	case errors.As(err, &p):
		return p.status
	case errors.As(err, &told):
		return told.HTTPStatus()
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}
