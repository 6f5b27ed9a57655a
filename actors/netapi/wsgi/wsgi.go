// Package wsgi is the server rest_wsgi: a lowstate with credentials in each chunk goes in, JSON comes out, at any
// address. It listens nowhere itself. Answers to salt/netapi/rest_wsgi.py.
package wsgi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	api "brine/actors/netapi"
	"brine/config"
	"brine/modules/netapi"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// Options of the server.
type Options struct {
	Config *config.WSGI
	Logger *slog.Logger
	// Bodies is the room for bodies of all servers; nil: this one has its own.
	Bodies *netapi.Bodies
}

// greeting is what a GET gets, letter by letter as in Salt, which has a line of a film there.
const greeting = "Welcome"

type server struct {
	api    api.API
	opt    Options
	bodies *netapi.Bodies
}

// New makes the handler.
func New(a api.API, opt Options) http.Handler {
	if opt.Bodies == nil {
		opt.Bodies = netapi.NewBodies(opt.Config.MaxRequestBodySize)
	}
	return &server{api: a, opt: opt, bodies: opt.Bodies}
}

// ServeHTTP answers a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	results, err := s.answer(w, r)
	if err != nil && r.Context().Err() != nil {
		return // nobody is there to be told
	}
	code, value := http.StatusOK, results
	if err != nil {
		code, value = told(err)
	}
	body, err := netapi.JSON(payload.M("return", value))
	if err != nil {
		code, body = http.StatusInternalServerError, []byte(`{"return": "`+err.Error()+`"}`)
	}
	w.Header().Set("Content-Type", netapi.TypeJSON)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Server", "brine")
	w.WriteHeader(code)
	_, _ = w.Write(body) // a client that has gone is net/http's matter
}

// told is what a client hears of an error.
func told(err error) (code int, message any) {
	var known *netapi.Error
	if errors.As(err, &known) {
		return known.Status, known.Message
	}
	return http.StatusInternalServerError, "An unexpected error occurred"
}

// numbered is an error of the server itself: its text begins with its status, as in Salt.
func numbered(code int, text string) error {
	return &netapi.Error{Status: code, Message: strconv.Itoa(code) + ": " + text}
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	switch r.Method {
	case http.MethodGet:
		letters := make([]any, 0, len(greeting))
		for _, c := range greeting {
			letters = append(letters, string(c))
		}
		return letters, nil
	case http.MethodPost:
		low, intake, err := s.lowstate(w, r)
		defer intake.Close()
		if err != nil {
			return nil, err
		}
		return s.run(r.Context(), low)
	}
	return nil, numbered(http.StatusMethodNotAllowed, "Method Not Allowed")
}

// lowstate reads the body, which has to be a list in JSON. Without a length there is none, as in Salt.
func (s *server) lowstate(w http.ResponseWriter, r *http.Request) ([]any, *netapi.Intake, error) {
	if r.Header.Get("Content-Type") != netapi.TypeJSON {
		return nil, nil, numbered(http.StatusNotAcceptable, "JSON required")
	}
	if r.ContentLength < 0 {
		r.ContentLength, r.Body = 0, http.NoBody
	}
	in, err := s.bodies.Take(w, r, netapi.From(r.Context()), netapi.Limits{Longest: s.opt.Config.MaxRequestBodySize})
	var known *netapi.Error
	if errors.As(err, &known) {
		w.Header().Set("Connection", "close") // nobody reads what is left
		return nil, nil, numbered(known.Status, textOf(known))
	}
	if err != nil {
		return nil, nil, err
	}
	v, err := pyjson.LoadWithin(in.Text(), in.Value)
	switch {
	case errors.As(err, &known):
		return nil, in, numbered(known.Status, textOf(known))
	case r.Context().Err() != nil:
		return nil, in, context.Cause(r.Context())
	case err != nil:
		return nil, in, numbered(http.StatusBadRequest, err.Error())
	}
	list, ok := v.([]any)
	if !ok {
		return nil, in, netapi.BadRequest("Lowstates must be a list")
	}
	return list, in, nil
}

// textOf is what a client reads of a body that is not taken.
func textOf(e *netapi.Error) string {
	if e.Status == http.StatusRequestEntityTooLarge {
		return "Request Entity Too Large"
	}
	return e.Message
}

// run runs the chunks one after the other.
func (s *server) run(ctx context.Context, list []any) (any, error) {
	results := make([]any, 0, len(list))
	for _, one := range list {
		low, err := netapi.Chunk(one, "", "")
		if err != nil {
			return nil, err
		}
		v, err := s.api.Run(ctx, low)
		if err != nil {
			return nil, err
		}
		if several, ok := v.(api.Several); ok {
			results = append(results, several...)
			continue
		}
		results = append(results, v)
	}
	return results, nil
}
