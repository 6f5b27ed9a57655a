package console

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// request is a request that passed the checks.
type request struct {
	http *http.Request
	who  Session
	held bool // by a stream whose user is not known yet because the master is away; only the session id is known
	body any  // parsed, of type route.Body
}

func (q request) query(name string) string { return q.http.URL.Query().Get(name) }

// param is a parameter in the query or the path of an address.
type param struct{ Name, In, Help string }

// route is one address, with its handler and its part of the OpenAPI file.
type route struct {
	Method, Path string
	Help         string
	Open         bool   // needs no session
	Right        string // the right that the session needs
	Params       []param
	Body, Answer any // values of the types; nil: none
	Streams      bool
	Tables       map[string]any // for a stream: a row of each table, by name
	do           func(ctx context.Context, q request) (any, error)
	raw          func(w http.ResponseWriter, q request) // writes the answer itself, in place of do
	read         func(data []byte) (any, error)
}

// taking parses a body of type T.
func taking[T any](data []byte) (any, error) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err
}

func inQuery(name, help string) param { return param{name, "query", help} }
func inPath(name, help string) param  { return param{name, "path", help} }

// routes are all addresses.
func (c *console) routes() []route {
	actor := []param{inQuery("of", "id of the minion; without, the master"),
		inQuery("path", "path of the actor in its tree")}
	return []route{
		{Method: "GET", Path: "/console/api/openapi.json", Help: "This description.", Open: true,
			raw: c.serveDescription},
		{Method: "GET", Path: "/console/api/session", Help: "Who is logged in, and what he may do; how to log in " +
			"when nobody is.", Open: true, Answer: Identity{}, raw: c.serveSession},
		{Method: "POST", Path: "/console/api/login", Help: "Log in. The answer sets the cookie of the session.",
			Open: true, Body: Login{}, Answer: Identity{}, read: taking[Login], raw: c.serveLogin},
		{Method: "POST", Path: "/console/api/logout", Help: "End the session, also while the master is away.",
			Open: true, Answer: Done{}, raw: c.serveLogout},
		{Method: "GET", Path: "/console/api/stream", Help: "Server-sent events of one view: hello, rows, note, " +
			"event, beat.", Streams: true, Params: streamParams(), Answer: Message{}, Tables: streamTables(),
			raw: c.serveStream},
		{Method: "GET", Path: "/console/api/fleet/{id}/grains", Help: "The grains of a minion, as the master has them.",
			Right: rightGrains, Params: []param{inPath("id", "id of the minion")}, Answer: Grains{}, do: c.grains},
		{Method: "POST", Path: "/console/api/fleet/{id}/key", Help: "Accept, reject or delete the key of a minion.",
			Right: rightKeys, Params: []param{inPath("id", "id of the minion")}, Body: KeyAct{}, Answer: Done{},
			read: taking[KeyAct], do: c.keyAct},
		{Method: "GET", Path: "/console/api/target", Help: "Whom a target means.", Right: rightFleet,
			Params: []param{inQuery("tgt", "the target"), inQuery("tgt_type", "its type, compound without")},
			Answer: Target{}, do: c.target},
		{Method: "GET", Path: "/console/api/actor", Help: "One actor with its last deaths and what is below it.",
			Right: rightActors, Params: actor, Answer: Actor{}, do: c.actor},
		{Method: "GET", Path: "/console/api/actor/stack", Help: "What the goroutines of an actor of the master do.",
			Right: rightStacks, Params: actor[1:], Answer: Stack{}, do: c.stack},
		{Method: "GET", Path: "/console/api/functions", Help: "The functions of one minion of a target with their " +
			"arguments (sys.argspec).", Right: rightRun, Params: []param{inQuery("tgt", "a target, of which a "+
			"connected minion is asked"), inQuery("tgt_type", "its type, compound without")}, Answer: Functions{},
			do: c.functions},
		{Method: "POST", Path: "/console/api/run", Help: "Run a function on minions. The view job of the stream " +
			"shows what becomes of it.", Right: rightRun, Body: Run{}, Answer: Started{}, read: taking[Run],
			do: c.start},
	}
}

// serve checks a request and answers it with its route.
func (c *console) serve(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, h *http.Request) {
		q, err := c.admit(r, w, h)
		if err != nil {
			fail(w, errStatus(err), err.Error())
			return
		}
		if r.raw != nil {
			r.raw(w, q)
			return
		}
		ctx, cancel := context.WithTimeout(h.Context(), answerWithin)
		defer cancel()
		answer, err := r.do(ctx, q)
		if err != nil {
			fail(w, errStatus(err), err.Error())
			return
		}
		reply(w, answer)
	})
}

// admit checks the origin, the user, the rights and the body of a request.
func (c *console) admit(r route, w http.ResponseWriter, h *http.Request) (request, error) {
	q := request{http: h}
	if err := guard(h); err != nil {
		return q, err
	}
	if !r.Open {
		who, err := c.session(h)
		if r.Streams && away(err) {
			q.who, q.held = who, true
			return q, nil
		}
		if err != nil {
			return q, err
		}
		if !may(who.Rules, r.Right) {
			return q, &problem{http.StatusForbidden, "no rule of external_auth allows this"}
		}
		q.who = who
	}
	if r.read == nil {
		return q, nil
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, h.Body, maxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return q, &problem{http.StatusRequestEntityTooLarge, "the body is too large"}
		}
		return q, &problem{http.StatusBadRequest, "the body cannot be read"}
	}
	if q.body, err = r.read(data); err != nil {
		return q, &problem{http.StatusBadRequest, "the body is not the JSON that this address expects"}
	}
	return q, nil
}
