package tornado

import (
	"net/http"

	"brine/modules/netapi"
	"brine/wire/payload"
)

// welcome lists the clients.
func welcome(c *call) error {
	return c.send(http.StatusOK, payload.M("clients", payload.AnyList(clients()), "return", "Welcome"))
}

// clients are the clients of this server. netapi_enable_clients has no effect on them.
func clients() []string {
	return []string{netapi.Local, netapi.LocalAsync, netapi.Runner, netapi.RunnerAsync}
}

// getLogin asks the client to log in.
func getLogin(c *call) error {
	c.head.Set("WWW-Authenticate", "Session")
	return c.send(http.StatusUnauthorized, payload.M("status", "401 Unauthorized", "return", "Please log in"))
}

// postLogin makes a token for a user whom the master accepts. Unlike Salt: pages of other origins get none
// unless cors_origin names them, because they could log a browser in under another name.
func postLogin(c *call) error {
	if !c.cookieMay() {
		return status(http.StatusForbidden)
	}
	if !c.hasBody {
		return status(http.StatusInternalServerError) // as in Salt
	}
	body, ok := c.body.(*payload.Map)
	if !ok {
		return status(http.StatusBadRequest)
	}
	creds := payload.NewMap(3)
	for _, name := range []string{"username", "password", "eauth"} {
		v, has := body.Get(name)
		if !has {
			return status(http.StatusBadRequest)
		}
		creds.Set(name, v)
	}
	login, err := c.api.Login(c.ctx, c.remote(), creds)
	if err != nil {
		return err
	}
	if rules := c.api.Config().ExternalAuth; !rules.Has(login.Eauth) {
		return status(http.StatusUnauthorized)
	}
	// Unlike Salt: scripts in pages cannot read the cookie, and other sites do not send it.
	http.SetCookie(c.w, &http.Cookie{Name: cookieName, Value: login.Token, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: c.r.TLS != nil})
	perms := login.Perms
	if m, ok := perms.(*payload.Map); ok && m.Len() == 0 {
		perms = []any{}
	}
	return c.send(http.StatusOK, payload.M("return", []any{payload.M("token", login.Token, "expire", login.Expire,
		"start", login.Start, "user", login.Name, "eauth", login.Eauth, "perms", perms)}))
}
