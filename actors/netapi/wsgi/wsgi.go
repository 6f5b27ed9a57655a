// Package wsgi is the server rest_wsgi: a lowstate with credentials in each chunk goes in, JSON comes out, at any address. It listens
// nowhere itself. Answers to salt/netapi/rest_wsgi.py.
package wsgi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	api "brine/actors/netapi"
	"brine/config"
	"brine/modules/netapi"
	"brine/modules/text/pyjson"
	"brine/wire/payload"
)

// Options of the server.
type Options struct {
	Config *config.WSGI
	Logger *slog.Logger
}

// Limits of bodies: one that is sent slower than so many bytes a second ends the request.
const (
	bodyGrace   = 20 * time.Second
	bodySpeed   = 16 << 10
	bodiesAtOne = 8
)

// greeting is what a GET gets, letter by letter as in Salt, which has a line of a film there.
const greeting = "Welcome"

type server struct {
	api    api.API
	opt    Options
	bodies chan struct{} // room for requests with a body
}

// New makes the handler.
func New(a api.API, opt Options) http.Handler {
	return &server{api: a, opt: opt, bodies: make(chan struct{}, bodiesAtOne)}
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
		low, err := s.lowstate(w, r)
		if err != nil {
			return nil, err
		}
		return s.run(r.Context(), low)
	}
	return nil, numbered(http.StatusMethodNotAllowed, "Method Not Allowed")
}

// lowstate reads the body, which has to be a list in JSON.
func (s *server) lowstate(w http.ResponseWriter, r *http.Request) ([]any, error) {
	if r.Header.Get("Content-Type") != netapi.TypeJSON {
		return nil, numbered(http.StatusNotAcceptable, "JSON required")
	}
	raw, err := s.body(w, r)
	if err != nil {
		return nil, err
	}
	v, err := pyjson.Load(string(raw))
	if err != nil {
		return nil, numbered(http.StatusBadRequest, err.Error())
	}
	list, ok := v.([]any)
	if !ok {
		return nil, netapi.BadRequest("Lowstates must be a list")
	}
	return list, nil
}

func (s *server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > s.opt.Config.MaxRequestBodySize {
		return nil, numbered(http.StatusRequestEntityTooLarge, "Request Entity Too Large")
	}
	select {
	case s.bodies <- struct{}{}:
		defer func() { <-s.bodies }()
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
	n := max(r.ContentLength, 0) // without a length there is no body, as in Salt
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyGrace + time.Duration(n/bodySpeed)*time.Second)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(r.Body, raw); err != nil {
		w.Header().Set("Connection", "close")
		return nil, numbered(http.StatusBadRequest, "The body did not come in time")
	}
	if err := control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	return raw, nil
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
