package console

import (
	"encoding/json"
	"net/http"

	"brine/wire/payload"
)

// serveSession answers with the logged-in user. A client without a session learns how to log in, and nothing
// about the master.
func (c *console) serveSession(w http.ResponseWriter, q request) {
	who, err := c.session(q.http)
	switch {
	case away(err):
		fail(w, errStatus(err), err.Error())
	case err != nil:
		reply(w, Identity{Can: []string{}, Eauths: c.eauths()})
	default:
		reply(w, c.identity(who))
	}
}

func (c *console) eauths() []string {
	if c.Eauths == nil {
		return []string{}
	}
	return c.Eauths()
}

// brine tells whether the master has a control socket.
func (c *console) brine() bool { return c.Master != nil && c.Master.Here() }

// identity is the page's information about a session.
func (c *console) identity(who Session) Identity {
	id := Identity{User: who.User, Can: rightsOf(who.Rules), Eauths: c.eauths(), Version: c.Version}
	if id.Brine = c.brine(); !id.Brine {
		id.Missing = textNoSocket
	}
	return id
}

// textNoSocket says which data a Salt master does not give.
const textNoSocket = "The master has no control socket here: it is Salt's, or it does not run. Keys, running jobs, " +
	"their returns and events " +
	"are shown; which minions are connected, the actors, the way of a job and the reasons of silence are known to a " +
	"brine master alone."

func (c *console) serveLogin(w http.ResponseWriter, q request) {
	in, ok := q.body.(Login)
	if !ok || in.Username == "" || in.Eauth == "" {
		fail(w, http.StatusBadRequest, "a user, a password and a kind of authentication are needed")
		return
	}
	creds := payload.M("username", in.Username, "password", in.Password, "eauth", in.Eauth)
	who, err := c.Front.Login(q.http.Context(), address(q.http), creds)
	if err != nil {
		fail(w, errStatus(err), err.Error())
		return
	}
	if old, err := q.http.Cookie(c.Cookie); err == nil && old.Value != who.ID {
		// a log-in never continues an existing session
		c.Front.Logout(q.http.Context(), old.Value)
	}
	c.setCookie(w, who.ID)
	reply(w, c.identity(who))
}

func (c *console) serveLogout(w http.ResponseWriter, q request) {
	cookie, err := q.http.Cookie(c.Cookie)
	if err != nil || cookie.Value == "" {
		fail(w, http.StatusUnauthorized, ErrNobody.Error())
		return
	}
	c.Front.Logout(q.http.Context(), cookie.Value)
	c.setCookie(w, "")
	reply(w, Done{true})
}

// serveDescription answers with the OpenAPI file.
func (c *console) serveDescription(w http.ResponseWriter, _ request) {
	reply(w, json.RawMessage(describe(c.table)))
}
