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

// Session is somebody who is logged in.
type Session struct {
	ID    string // what the cookie holds
	Token string // the master's token
	User  string
	Rules []any // of external_auth, that hold for him
}

// Front is what salt-api gives the console. All methods may be called by many goroutines.
type Front interface {
	// Login asks the master for a token. from is the address of who asks.
	Login(ctx context.Context, from string, creds *payload.Map) (Session, error)
	// Session is that of an id; to ask for it keeps it alive. ErrNobody: there is none. Any other error tells why it is
	// not known whether it still stands, as when the master is away.
	Session(ctx context.Context, id string) (Session, error)
	// MasterHere is an error at once when nobody answers at the sockets of the master.
	MasterHere() error
	// Logout forgets a session.
	Logout(ctx context.Context, id string)
	// Run calls a client of Salt (local, local_async, runner, wheel) with a token in the low data.
	Run(ctx context.Context, low *payload.Map) (any, error)
	// Events is a stream of all events of the master.
	Events(ctx context.Context) (Stream, error)
}

// Stream is a stream of events. Next waits for one and ends with the context, Up tells whether the bus is there, Close
// frees it. Nobody changes the data.
type Stream interface {
	Next(ctx context.Context) (tag string, data *payload.Map, err error)
	Up() bool
	Close()
}

// Files are what of the master's files the console reads.
type Files interface {
	// Expand works out whom a target means.
	Expand(ctx context.Context, tgt any, tgtType string) (matchers.Expansion, error)
	// Grains are those that a minion has told, or of them only those named; nil without.
	Grains(id string, names ...any) (*payload.Map, error)
}

// Options of the console.
type Options struct {
	Front  Front
	Master *control.Daemon // the control socket of the master, whether there is one or not
	Files  Files
	Secure bool // the page comes by TLS: cookies are for that alone
	// Cookie names the cookie of the session; "" is session_id, that of rest_cherrypy.
	Cookie  string
	Version string
	Eauths  func() []string // kinds of external authentication to choose from at the log-in; nil: none
	Logger  *slog.Logger    // nil: silent
	// MasterUsers are those whom the master has and runs as: jobs of theirs are nobody's who has logged in.
	MasterUsers []string
}

// Limits of what one console serves.
const (
	maxStreams     = 64       // streams of all pages
	maxUserStreams = 8        // of one session
	maxBody        = 64 << 10 // bytes of what a page sends
	answerWithin   = 30 * time.Second
)

// console answers requests. What changes lies in channels, which hand it from one goroutine to the next.
type console struct {
	Options
	table   []route
	streams chan map[string]int // streams by session; whoever holds the map may change it
	holds   holds
	pulse   chan pulse // whoever has taken it may change it
}

//go:embed page
var pageFiles embed.FS

// New is the handler for all paths below /console.
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
	if err != nil { // cannot be: the folder is a part of the binary
		return http.NotFoundHandler()
	}
	mux.Handle("/console/", http.StripPrefix("/console/", http.FileServerFS(files)))
	mux.HandleFunc("/console", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "console/") // relative: there may be a prefix before it
		w.WriteHeader(http.StatusMovedPermanently)
	})
	return secured(mux)
}

// enter counts a stream of a session in, unless there are too many; the other function counts it out.
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

// problem is an error in words for the page, with the status that it has in HTTP.
type problem struct {
	status int
	text   string
}

func (p *problem) Error() string { return p.text }

// errStatus is the status of an error: its own when it has one, else that something beyond the console failed.
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
