package cherrypy

import (
	"brine/modules/netapi"
	"brine/wire/payload"
)

// getLogin asks the client to log in.
func (c *call) getLogin(into *any) error {
	c.head.Set("WWW-Authenticate", "Session")
	*into = payload.M("status", nil, "return", "Please log in")
	return nil
}

// postLogin opens a session for a user whom the master accepts. Unlike Salt: a second log-in gives another id
// and ends the earlier session. An attacker therefore cannot prepare a known id. In Salt both tokens stay valid
// and the id stays the same.
func (c *call) postLogin(into *any) error {
	if err := c.api.MasterHere(); err != nil {
		return err
	}
	creds, err := firstMap(c.body.Data)
	if err != nil {
		return err
	}
	if !c.mayLogIn(creds.Str("username")) {
		return netapi.Unauthorized("")
	}
	login, err := c.api.Login(c.ctx, c.remote(), creds)
	if err != nil {
		return err
	}
	if c.sessionID != "" {
		if err := c.endSession(); err != nil {
			return err
		}
	}
	if c.sessionID, err = c.api.Sessions().Open(c.ctx, login.Token, login.Eauth+"/"+login.Name); err != nil {
		return err
	}
	c.newID, c.proved = false, true
	c.head.Set("X-Auth-Token", c.sessionID)
	*into = payload.M("return", []any{payload.M("token", c.sessionID, "expire", login.Expire, "start", login.Start,
		"user", login.Name, "eauth", login.Eauth, "perms", login.Perms)})
	return nil
}

// firstMap returns a map, or the first element of a list if that is a map. Otherwise the error has no text, as
// in Salt.
func firstMap(data any) (*payload.Map, error) {
	if list, ok := data.([]any); ok && len(list) > 0 {
		data = list[0]
	}
	m, ok := data.(*payload.Map)
	if !ok {
		return nil, netapi.ErrUnexpected
	}
	return m, nil
}
