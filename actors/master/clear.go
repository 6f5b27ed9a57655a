package master

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/modules/eauth"
	"brine/modules/runners"
	"brine/wire/payload"
)

// handler answers one command. An error is told to the peer as Salt tells a failed handler; errLater means
// that the handler has passed the request on.
type handler func(c *core, r *call) (any, error)

// clearCommands are the unencrypted commands of the command line and of API clients
// (salt/master.py, ClearFuncs.expose_methods). The sign-in is answered before.
var clearCommands = map[string]handler{
	payload.CmdPing:     ping,
	payload.CmdPublish:  publish,
	payload.CmdGetToken: getToken,
	payload.CmdMkToken:  mkToken,
	payload.CmdRunner:   runner,
	payload.CmdWheel:    callWheel,
}

// ping sends the load back.
func ping(_ *core, r *call) (any, error) { return r.load, nil }

// getToken returns the data of a token, {} for one that is unknown or expired, false without the field.
func getToken(c *core, r *call) (any, error) {
	if !r.load.Has("token") {
		return false, nil
	}
	if tok := c.eauth.Token(r.load.Str("token")); tok != nil {
		return tok, nil
	}
	return payload.NewMap(0), nil
}

// mkToken makes a token for a user of external_auth, "" when the authentication fails.
func mkToken(c *core, r *call) (any, error) {
	tok, err := c.eauth.MakeToken(r.load)
	if err != nil {
		return nil, err
	}
	if tok == nil {
		c.log.Warn(`Authentication failure of type "eauth" occurred.`)
		return "", nil
	}
	return tok, nil
}

// errorReply is Salt's form of a refusal.
func errorReply(name, message string) *payload.Map {
	return payload.M("error", payload.M("name", name, "message", message))
}

// formUser authenticates a runner or wheel request. Either user is the name to act for, or refusal is the reply.
func (c *core) formUser(form string, load *payload.Map) (user string, refusal *payload.Map) {
	id, err := c.eauth.Check(load)
	var denied *eauth.Denied
	if errors.As(err, &denied) {
		c.log.Warn("request refused", "cmd", form, "fun", load.Str("fun"), "err", err)
		return "", errorReply(denied.Name, denied.Error())
	}
	if id.Kind == eauth.KindUser && len(id.List) == 0 {
		switch {
		case id.Name == "":
			return c.running, nil
		case strings.HasPrefix(id.Name, "sudo_"):
			return c.cfg.User, nil
		}
		return id.Name, nil
	}
	fun := load.Str("fun")
	if !oneDot(fun) {
		return "", errorReply("SaltInvocationError", "A command invocation error occurred: Check syntax.")
	}
	kw := load.Map("kwarg")
	if !eauth.AllowedForm(id.List, form, fun, kw.List("arg"), kw.Map("kwarg")) {
		name := map[string]string{eauth.KindToken: "TokenAuthenticationError", eauth.KindEauth: "EauthAuthenticationError"}[id.Kind]
		if name == "" {
			name = "UserAuthenticationError"
		}
		return "", errorReply(name, fmt.Sprintf("Authentication failure of type %q occurred for user %s.", id.Kind, id.Name))
	}
	for _, secret := range []string{"token", "username", "password", "eauth"} {
		load.Delete(secret)
	}
	return id.Name, nil
}

func oneDot(fun string) bool {
	dots := 0
	for i := range len(fun) {
		if fun[i] == '.' {
			dots++
		}
	}
	return dots == 1
}

// runner starts a runner function and answers at once with the tag of its events.
func runner(c *core, r *call) (any, error) {
	fun, ok := r.load.Get("fun")
	name, isText := fun.(string)
	if !ok || !isText {
		return nil, errors.New("runner: no fun")
	}
	user, refusal := c.formUser("runner", r.load)
	if refusal != nil {
		return refusal, nil
	}
	jid := c.jids.next(time.Now())
	args, kw := runnerArgs(r.load)
	req := runners.Request{Kind: runners.KindRunner, Fun: name, Args: args, KW: kw, JID: jid, User: user}
	if err := c.startRunner(&RunRunner{Req: req}); err != nil {
		return nil, err
	}
	return payload.M("tag", runners.Tag(runners.KindRunner, jid), "jid", jid), nil
}

// runnerArgs reads the arguments of a runner request: kwarg holds the keywords, or {arg: [...], kwarg: {...}}
// when it comes from salt-run; arg may stand in the load as well.
func runnerArgs(load *payload.Map) ([]any, *payload.Map) {
	kw, args := load.Map("kwarg"), load.List("arg")
	if kw.Has("arg") || kw.Has("kwarg") {
		args = append(args, kw.List("arg")...)
		inner := kw.Map("kwarg").Clone()
		for k, v := range kw.All() {
			if k != "arg" && k != "kwarg" {
				inner.Set(k, v)
			}
		}
		kw = inner
	}
	return args, kw
}

// callWheel runs a wheel function and answers with its result. Every field of the load that is not the request's
// own is an argument of the function.
func callWheel(c *core, r *call) (any, error) {
	name := r.load.Str("fun")
	if name == "" {
		return nil, errors.New("wheel: no fun")
	}
	user, refusal := c.formUser("wheel", r.load)
	if refusal != nil {
		return refusal, nil
	}
	jid := c.jids.next(time.Now())
	args, kw := wheelArgs(r.load)
	res := c.run(r.ctx, runners.Request{Kind: runners.KindWheel, Fun: name, Args: args, KW: kw, JID: jid, User: user}, c.fire)
	tag := runners.Tag(runners.KindWheel, jid)
	return payload.M("tag", tag, "data", payload.M("fun", "wheel."+name, "jid", jid, "tag", tag, "user", user,
		"return", res.Return, "success", res.Success)), nil
}

// wheelFields are the fields of a wheel request that are not arguments.
var wheelFields = []string{"cmd", "fun", "key", "arg", "kwarg", "user", "print_event"}

func wheelArgs(load *payload.Map) ([]any, *payload.Map) {
	args, kw := runnerArgs(load)
	all := load.Clone()
	for _, f := range wheelFields {
		all.Delete(f)
	}
	all.Update(kw)
	return args, all
}
