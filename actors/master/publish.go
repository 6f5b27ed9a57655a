package master

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"brine/modules/eauth"
	"brine/modules/fleet/jobids"
	"brine/modules/matchers"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// refusals of a publication; every cause has the same words, so that they tell nothing about it.
var (
	refusedAuthentication = [2]string{"AuthenticationError", "Authentication error occurred."}
	refusedAuthorization  = [2]string{"AuthorizationError", "Authorization error occurred."}
)

// publish answers the command line: authenticate, check, expand, number, announce, store, send
// (salt/master.py, ClearFuncs.publish).
//
// Unlike Salt: who asks is found out first. Before that Salt looks at its blacklist and expands the target, with
// patterns that anybody may send. So a stranger is told that he is one, where Salt tells him of the blacklist.
func (c *console) publish(r *call) (any, error) {
	ask := payload.NewPublishRequest(r.load)
	if err := need(ask, payload.FieldUser, payload.FieldFun, payload.FieldTgt); err != nil {
		return nil, err
	}
	one, err := c.asker(r, ask)
	if err != nil {
		return c.refuse(r, err, errorReply(refusedAuthentication[0], refusedAuthentication[1]))
	}
	closed := ""
	if !one.Everything() { // from here on there is only what he may say
		ask, closed = ask.ByUser(r.rules.fields)
	}
	if err := bounded(ask); err != nil {
		return nil, err
	}
	jid, who := ask.JID(), one.owner()
	if jid != "" && !c.jobs.claim(jid, who) { // told to him alone: an event would go to who waits for that job
		c.log.Warn("publication not allowed", "user", payload.Show(one.Name), "jid", payload.Show(jid), "why",
			"the job id is none, or somebody else's")
		return errorReply(refusedAuthorization[0], refusedAuthorization[1]), nil
	}
	extra := ask.Extras()
	funs, args := ask.Functions()
	if eauth.Blacklisted(r.rules.blacklist, ask.User(), funs) {
		c.log.Error("user does not have permissions to run this function", "user", ask.User(), "fun", shown(funs))
		return errorReply(refusedAuthorization[0], refusedAuthorization[1]), nil
	}
	found, err := c.targets.expand(r.ctx, ask.Tgt(), ask.TgtType(), delimiterOf(extra.Delimiter()))
	r.from.matched = time.Now()
	list, bound, refusal := c.allow(r, one, ask, said{extra, closed, funs, args}, found.Minions)
	if refusal != nil {
		return refusal, nil
	}
	if errors.Is(err, matchers.ErrTime) {
		return errorReply("SaltClientError", "The target takes longer to work out than target_timeout. Nothing was "+
			"done."), nil
	}
	if len(found.Minions) == 0 && !c.orderMasters {
		return clearReply(payload.M("jid", nil, "minions", []any{},
			"error", "Master could not resolve minions for target "+python.Str(ask.Tgt()))), nil
	}
	if err := need(ask, payload.FieldArg, payload.FieldRet, payload.FieldTgtType); err != nil {
		return nil, err
	}
	if jid == "" {
		jid = c.jobs.ids.NextOf(time.Now(), who)
	}
	ask.Number(jid)
	pub := c.publications.publication(ask, extra)
	switch {
	case c.orderMasters:
		if bound && !c.targets.aimBelow(&pub, found.Minions) {
			c.log.Warn("publication not allowed", "user", payload.Show(one.Name), "why",
				"a target of this type cannot be bound with order_masters")
			return errorReply(refusedAuthorization[0], refusedAuthorization[1]), nil
		}
		pub.Restrict(list)
	case bound:
		pub.AimAt(found.Minions)
	}
	if r.req.answered.Load() { // its deadline was over: whoever was told that it failed asks again
		return nil, errLater
	}
	r.replied = func() { c.record.replied(jid) }
	c.publications.begin(ask, extra, pub, found, r.from)
	return clearReply(payload.M("jid", jid, "minions", payload.AnyList(found.Minions), "missing",
		payload.AnyList(found.Missing))), nil
}

// bounded refuses names that no tool sends.
func bounded(ask payload.PublishRequest) error {
	for _, f := range [...]struct {
		name, text string
		max        int
	}{
		{payload.FieldJID, ask.JID(), payload.MaxJID}, {payload.FieldUser, ask.User(), payload.MaxUser},
		{payload.FieldFun, ask.Function(), payload.MaxFunction}, {payload.FieldTgtType, ask.TgtType(),
			payload.MaxFunction},
	} {
		if n := len(f.text); n > f.max {
			return fmt.Errorf("%s: %s of %d bytes", payload.CmdPublish, f.name, n)
		}
	}
	return nil
}

// need tells of the first field that a load lacks; the peer gets Salt's text for a failed handler.
func need(ask payload.PublishRequest, fields ...string) error {
	if f := ask.Lacks(fields...); f != "" {
		return fmt.Errorf("%s: no %s", payload.CmdPublish, f)
	}
	return nil
}

func clearReply(load *payload.Map) *payload.Map {
	return payload.M("enc", payload.EncClear, "load", load)
}

func delimiterOf(said string) string { return cmp.Or(said, defaultDelimiter) }

// asker is who asks for a publication.
type asker struct{ *eauth.Identity }

// owner is whom the jobs that he asks for belong to.
func (a *asker) owner() string {
	if a.Everything() {
		return jobids.Master
	}
	if a.Name == "" { // is not the master
		return "\x00"
	}
	return a.Name
}

// asker authenticates a publication, by a token or external authentication in its kwargs, or by a key.
func (c *console) asker(r *call, ask payload.PublishRequest) (*asker, error) {
	id, err := c.identity(r, loginFields(r.load))
	ask.DropKey()
	if err != nil {
		return nil, err
	}
	return &asker{id}, nil
}

// said is what is judged of a publication.
type said struct {
	extra  payload.PublishExtras
	closed string // a field that is not for him
	funs   []string
	args   [][]any
}

// rulesFor are the rules by which a publication is judged: those of who asks. Who may do everything may have himself
// judged by others: so does a syndic beside this master, which has the key of its user, with those of the user of the
// master above. Nobody else's word counts, whatever comes with it, so that rules that are sent along can only take
// away.
func rulesFor(one *asker, extra payload.PublishExtras) (list []any, ok bool) {
	given, sent, ok := extra.TakeAuthList()
	if !sent || !one.Everything() {
		return one.List, true
	}
	return given, ok
}

// allow checks whether a speaker may do what he asks for. A token or external authentication also names the user of
// the job. list is what restricts the user, bound that he may reach no other minions than those.
func (c *console) allow(r *call, one *asker, ask payload.PublishRequest, s said, minions []string) (list []any,
	bound bool, refusal *payload.Map) {
	list, readable := rulesFor(one, s.extra)
	if !one.Everything() || len(list) > 0 || !readable {
		want := eauth.Want{Funs: s.funs, Args: s.args, FindJob: true, Covers: func(target string) bool {
			return c.targets.covers(r.ctx, target, minions)
		}}
		grant := r.rules.eauth.Allowed(list, want)
		why := r.rules.beyond(one.Identity, ask, s.closed, s.funs)
		if !grant.OK || why != "" {
			c.log.Warn("publication not allowed", "user", payload.Show(one.Name), "fun", shown(s.funs), "why", why)
			return nil, false, c.refusePublication(ask, refusedAuthorization)
		}
		bound = grant.Bound
	}
	if one.Kind != eauth.KindUser {
		ask.ActFor(one.Name)
	}
	return list, bound, nil
}

// refusePublication fires the error event of a load that carries a jid. Unlike Salt: without the secrets, and only for
// who is known: the event of a stranger would end the tool that waits for the jid.
func (c *console) refusePublication(ask payload.PublishRequest, why [2]string) *payload.Map {
	reply := errorReply(why[0], why[1])
	if ask.Has(payload.FieldJID) {
		data := ask.WithoutSecrets()
		data.Update(reply)
		c.events.fire(event.TagJobError(ask.JID()), data)
	}
	return reply
}
