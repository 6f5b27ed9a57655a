package cherrypy

import (
	"net/http"
	"strconv"

	"brine/modules/netapi"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// endSession ends the session of the client and revokes the eauth token behind it, which nobody else has.
func (c *call) endSession() error {
	token, err := c.api.Sessions().Close(c.ctx, c.sessionID)
	if err == nil {
		c.api.Revoke(token)
	}
	return err
}

// postLogout ends the session of the client. Salt 3008 revokes its eauth token as well.
func (c *call) postLogout(into *any) error {
	if err := c.endSession(); err != nil {
		return err
	}
	c.expired = true
	*into = payload.M("return", "Your token has been cleared")
	return nil
}

// postToken makes eauth tokens: a bare list of them.
func (c *call) postToken(into *any) error {
	low, err := netapi.Lowstate(c.body.Data)
	if err != nil {
		return netapi.ErrUnexpected
	}
	asks := make([]any, len(low))
	for i, one := range low {
		creds, ok := one.(*payload.Map)
		if !ok {
			return netapi.ErrUnexpected
		}
		who := payload.NewMap(3)
		for _, name := range []string{"username", "password", "eauth"} {
			v, ok := creds.Get(name)
			if !ok {
				return netapi.BadRequest(`Require "username", "password", and "eauth" params`)
			}
			who.Set(name, v)
		}
		asks[i] = chunkFor(creds).Set("client", netapi.Runner).Set("fun", "auth.mk_token").Set("kwarg", who)
	}
	list, err := c.lowstate(asks, "", "")
	*into = list
	return err
}

// chunkFor is what counts of a log-in in the chunk that makes a token: who asks, and for how long he wants the token.
func chunkFor(creds *payload.Map) *payload.Map {
	c := payload.NewCredentials(creds)
	out := c.LogIn()
	out.Update(c.Shown())
	return out
}

// getMinions tells the grains of minions: of all, or of those whom a glob means.
func (c *call) getMinions(into *any) error {
	tgt := c.param(0)
	if tgt == "" {
		tgt = "*"
	}
	list, err := c.lowstate([]any{payload.M("client", netapi.Local, "tgt", tgt, "fun", "grains.items")}, "", c.token)
	*into = payload.M("return", list)
	return err
}

// postMinions starts jobs, and says where their returns will be.
func (c *call) postMinions(into *any) error {
	list, err := c.lowstate(c.body.Data, netapi.LocalAsync, c.token)
	if err != nil {
		return err
	}
	jobs := []any{}
	for _, v := range list {
		if job, ok := v.(*payload.Map); ok && job.Has("jid") {
			jobs = append(jobs, payload.M("href", "/jobs/"+job.Str("jid")))
		}
	}
	c.status = http.StatusAccepted
	*into = payload.M("return", list, "_links", payload.M("jobs", jobs))
	return nil
}

// getJobs tells the jobs of the job cache, or one of them with its returns.
func (c *call) getJobs(into *any) error {
	jid := c.param(0)
	low := payload.M("client", netapi.Runner, "fun", "jobs.list_jobs")
	if jid != "" {
		low = payload.M("client", netapi.Runner, "fun", "jobs.list_job", "jid", jid)
	}
	list, err := c.lowstate([]any{low}, "", c.token)
	if err != nil {
		return err
	}
	if jid == "" {
		*into = payload.M("return", list)
		return nil
	}
	job, ok := list[0].(*payload.Map)
	if !ok {
		return netapi.ErrUnexpected
	}
	returns := payload.NewMap(4)
	for id, v := range job.Map("Result").All() {
		if m, ok := v.(*payload.Map); ok {
			returns.Set(id, m.Value("return"))
		}
	}
	*into = payload.M("info", list, "return", []any{returns})
	return nil
}

// getKeys lists the keys of the minions, or tells the fingerprint of one.
func (c *call) getKeys(into *any) error {
	low := payload.M("client", netapi.Wheel, "fun", "key.list_all")
	if mid := c.param(0); mid != "" {
		low = payload.M("client", netapi.Wheel, "fun", "key.finger", "match", mid)
	}
	list, err := c.lowstate([]any{low}, "", c.token)
	if err != nil {
		return err
	}
	m, ok := list[0].(*payload.Map)
	if !ok {
		return netapi.ErrUnexpected
	}
	*into = payload.M("return", m.Map("data").Value("return"))
	return nil
}

// postHook puts an event on the bus: salt/netapi/hook and the path behind it. Unlike Salt: the id of a session of this
// server is not told to whoever listens.
func (c *call) postHook(into *any) error {
	tag := "salt/netapi/hook"
	for _, p := range c.args {
		tag += "/" + p
	}
	if err := event.CheckGuestTag(tag); err != nil {
		return netapi.BadRequest(err.Error())
	}
	post := c.body.Data
	if !python.Truth(post) {
		post = payload.NewMap(0)
	}
	if err := c.api.Fire(c.ctx, tag, payload.M("body", c.body.Raw, "post", post, "headers", c.headers())); err != nil {
		return err
	}
	*into = payload.M("success", true)
	return nil
}

// headers are those of the request.
func (c *call) headers() *payload.Map {
	m := netapi.HookHeaders(payload.M("Remote-Addr", c.remote(), "Host", c.r.Host), c.r.Header, ", ", c.sessionID)
	if c.r.ContentLength > 0 {
		m.Set("Content-Length", strconv.FormatInt(c.r.ContentLength, 10))
	}
	return m
}

// getStats tells what was counted.
func (c *call) getStats(into *any) error {
	*into = c.stats.shown()
	return nil
}

// getApp serves the page of the app.
func (c *call) getApp(*any) error {
	if c.conf.App == "" {
		c.head.Set("Last-Modified", c.stats.since.UTC().Format(http.TimeFormat))
		c.head.Set("Accept-Ranges", "bytes")
		c.write(http.StatusOK, "text/html;charset=utf-8", []byte(demoPage))
		return nil
	}
	c.serveFile(c.conf.App)
	return nil
}

// demoPage is what /app shows while no app is configured.
const demoPage = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta " +
	"charset=\"utf-8\"><title>salt-api</title></head>\n<body>\n<h1>salt-api</h1>\n" +
	"<p>This server answers the requests of Salt's rest_cherrypy. The option <code>app</code> of its section names " +
	"a page to show here.</p>\n</body>\n</html>\n"
