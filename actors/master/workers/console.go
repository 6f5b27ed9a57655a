package workers

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"brine/actors/master/complaints"
	"brine/actors/master/eventbus"
	"brine/actors/master/jobs"
	"brine/actors/master/publish"
	"brine/actors/master/record"
	"brine/actors/master/reqserver"
	"brine/actors/master/run"
	"brine/actors/master/targets"
	"brine/modules/eauth"
	"brine/modules/runners"
	"brine/wire/payload"
)

// ConsoleOptions are what the configuration says of users.
type ConsoleOptions struct {
	Owner        string // option user: whom those act for who become it by sudo
	OrderMasters bool   // order_masters: minions below syndics may be meant that this master does not know
	Running      string // user this process belongs to
}

// console answers the command line and API clients.
type console struct {
	ConsoleOptions
	jobs         *jobs.Jobs
	targets      *targets.Targets
	record       *record.Record
	publications *publish.Publications
	functions    *run.Functions
	events       *eventbus.Bus
	complaints   *complaints.Log
	log          *slog.Logger
}

// maxPing is the size of the largest load that a ping sends back, in bytes: anybody may ask, and need not read the
// answer.
const maxPing = 4096

// ping sends the load back.
func (c *console) ping(r *call) (any, error) {
	if len(r.req.Frame) > maxPing {
		return nil, fmt.Errorf("ping of %d bytes", len(r.req.Frame))
	}
	return r.load, nil
}

// getToken returns the data of a token, {} for one that is unknown or expired, false without the field.
func (c *console) getToken(r *call) (any, error) {
	ask := payload.NewCredentials(r.load)
	if !ask.HasToken() {
		return false, nil
	}
	if tok := r.rules.Eauth.Token(ask.Token()); tok != nil {
		return tok, nil
	}
	return payload.NewMap(0), nil
}

// mkToken makes a token for a user of external_auth, "" when the authentication fails.
func (c *console) mkToken(r *call) (any, error) {
	tok, err := r.rules.Eauth.MakeToken(r.load, r.req.From)
	if err != nil {
		return c.refuse(r, err, "")
	}
	return tok, nil
}

// formCall is a runner or wheel function with the arguments it is called with. They are taken out of a load once: what
// is checked against rules is what runs.
type formCall struct {
	form, fun string
	args      []any
	kw        *payload.Map
}

// refuseForm answers a runner or wheel request of who could not be authenticated.
func (c *console) refuseForm(r *call, err error) (any, error) {
	var denied *eauth.Denied
	if errors.As(err, &denied) {
		return c.refuse(r, err, reqserver.ErrorReply(denied.Name, denied.Error()))
	}
	return nil, err
}

// formAllowed finds whom a runner or wheel request acts for. Either user is the name, or refusal is the reply.
func (c *console) formAllowed(f formCall, id *eauth.Identity) (user string, refusal *payload.Map) {
	if id.Everything() {
		switch {
		case id.Name == "":
			return c.Running, nil
		case strings.HasPrefix(id.Name, "sudo_"):
			return c.Owner, nil
		}
		return id.Name, nil
	}
	if len(id.List) > 0 && !oneDot(f.fun) {
		return "", reqserver.ErrorReply("SaltInvocationError", "A command invocation error occurred: Check syntax.")
	}
	if !eauth.AllowedForm(id.List, f.form, f.fun, f.args, f.kw) {
		name := map[string]string{eauth.KindToken: "TokenAuthenticationError",
			eauth.KindEauth: "EauthAuthenticationError"}[id.Kind]
		if name == "" {
			name = "UserAuthenticationError"
		}
		return "", reqserver.ErrorReply(name, fmt.Sprintf("Authentication failure of type %q occurred for user %s.", id.Kind,
			id.Name))
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
func (c *console) runner(r *call) (any, error) {
	ask := payload.NewRunRequest(r.load)
	name, ok := ask.Function()
	if !ok {
		return nil, errors.New("runner: no fun")
	}
	id, err := c.identity(r, r.load)
	if err != nil {
		return c.refuseForm(r, err)
	}
	f := formCall{form: "runner", fun: name}
	f.args, f.kw = ask.Arguments()
	user, refusal := c.formAllowed(f, id)
	if refusal != nil {
		return refusal, nil
	}
	jid := c.jobs.NumberRun(id)
	req := runners.Request{Kind: runners.KindRunner, Fun: name, Args: f.args, KW: f.kw, JID: jid, User: user}
	if err := c.functions.Start(&run.RunRunner{Req: req}); err != nil {
		return nil, err
	}
	return payload.M("tag", runners.Tag(runners.KindRunner, jid), "jid", jid), nil
}

// callWheel runs a wheel function and answers with its result.
func (c *console) callWheel(r *call) (any, error) {
	ask := payload.NewRunRequest(r.load)
	name, _ := ask.Function()
	if name == "" {
		return nil, errors.New("wheel: no fun")
	}
	id, err := c.identity(r, r.load)
	if err != nil {
		return c.refuseForm(r, err)
	}
	f := formCall{form: "wheel", fun: name}
	f.args, f.kw = ask.WheelArguments()
	user, refusal := c.formAllowed(f, id)
	if refusal != nil {
		return refusal, nil
	}
	jid := c.jobs.NumberRun(id)
	res := c.functions.Run(r.ctx, runners.Request{Kind: runners.KindWheel, Fun: name, Args: f.args, KW: f.kw, JID: jid,
		User: user,
		Low:  !ask.Apart()}, c.events.Fire)
	tag := runners.Tag(runners.KindWheel, jid)
	return payload.M("tag", tag, "data", payload.M("fun", "wheel."+name, "jid", jid, "tag", tag, "user", user,
		"return", res.Return, "success", res.Success)), nil
}
