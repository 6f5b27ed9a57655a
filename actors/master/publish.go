package master

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/modules/eauth"
	"brine/modules/fleet/jobids"
	"brine/modules/fleet/jobstore"
	"brine/modules/matchers"
	"brine/modules/text/pytext"
	"brine/wire/event"
	"brine/wire/payload"
)

// refusals of a publication; every cause has the same words, so that they tell nothing about it.
var (
	refusedAuthentication = [2]string{"AuthenticationError", "Authentication error occurred."}
	refusedAuthorization  = [2]string{"AuthorizationError", "Authorization error occurred."}
)

// secrets never leave a load: neither to the bus, nor to the job store, nor to the log.
var secrets = []string{"key", "token", "password"}

// publish answers the command line: authenticate, check, expand, number, announce, store, send
// (salt/master.py, ClearFuncs.publish).
//
// Unlike Salt: who asks is found out first. Before that Salt looks at its blacklist and expands the target, with patterns
// that anybody may send. So a stranger is told that he is one, where Salt tells him of the blacklist.
func publish(c *core, r *call) (any, error) {
	load := r.load
	if err := need(load, "user", "fun", "tgt"); err != nil {
		return nil, err
	}
	one, err := c.asker(r)
	if err != nil {
		return c.refuse(r, err, errorReply(refusedAuthentication[0], refusedAuthentication[1]))
	}
	if err := bounded(load); err != nil {
		return nil, err
	}
	jid, who := load.Str("jid"), one.owner()
	if jid != "" && !c.jobs.claim(jid, who) { // told to him alone: an event would go to who waits for that job
		c.log.Warn("publication not allowed", "user", payload.Show(one.Name), "jid", payload.Show(jid), "why", "the job id is none, or somebody else's")
		return errorReply(refusedAuthorization[0], refusedAuthorization[1]), nil
	}
	extra := load.Map("kwargs").Clone()
	funs, args := functions(load)
	if eauth.Blacklisted(r.rules.blacklist, load.Str("user"), funs) {
		c.log.Error("user does not have permissions to run this function", "user", load.Str("user"), "fun", shown(funs))
		return errorReply(refusedAuthorization[0], refusedAuthorization[1]), nil
	}
	found, err := c.targets.expand(r.ctx, load.Value("tgt"), load.Str("tgt_type"), delimiterOf(extra))
	r.from.matched = time.Now()
	list, bound, refusal := c.allow(r, one, extra, funs, args, found.Minions)
	if refusal != nil {
		return refusal, nil
	}
	if errors.Is(err, matchers.ErrTime) {
		return errorReply("SaltClientError", "The target takes longer to work out than target_timeout. Nothing was done."), nil
	}
	if len(found.Minions) == 0 && !c.cfg.OrderMasters {
		return clearReply(payload.M("jid", nil, "minions", []any{},
			"error", "Master could not resolve minions for target "+pytext.Str(load.Value("tgt")))), nil
	}
	if err := need(load, "arg", "ret", "tgt_type"); err != nil {
		return nil, err
	}
	if jid == "" {
		jid = c.jobs.ids.NextOf(time.Now(), who)
	}
	load.Set("jid", jid)
	pub := publication(c, load, extra)
	switch {
	case c.cfg.OrderMasters:
		if bound && !c.targets.aimBelow(pub, found.Minions) {
			c.log.Warn("publication not allowed", "user", payload.Show(one.Name), "why", "a target of this type cannot be bound with order_masters")
			return errorReply(refusedAuthorization[0], refusedAuthorization[1]), nil
		}
		pub.Set("auth_list", list)
	case bound:
		aimAt(pub, found.Minions)
	}
	if r.req.answered.Load() { // its deadline was over: whoever was told that it failed asks again
		return nil, errLater
	}
	r.replied = func() { c.noteReply(jid) }
	c.begin(load, extra, pub, found, r.from)
	return clearReply(payload.M("jid", jid, "minions", payload.AnyList(found.Minions), "missing", payload.AnyList(found.Missing))), nil
}

// bounded refuses names that no tool sends.
func bounded(load *payload.Map) error {
	for _, f := range []struct {
		name string
		max  int
	}{{"jid", payload.MaxJID}, {"user", payload.MaxUser}, {"fun", payload.MaxFunction}, {"tgt_type", payload.MaxFunction}} {
		if n := len(load.Str(f.name)); n > f.max {
			return fmt.Errorf("%s: %s of %d bytes", load.Str("cmd"), f.name, n)
		}
	}
	return nil
}

// need tells of the first field that a load lacks; the peer gets Salt's text for a failed handler.
func need(load *payload.Map, fields ...string) error {
	for _, f := range fields {
		if !load.Has(f) {
			return fmt.Errorf("%s: no %s", load.Str("cmd"), f)
		}
	}
	return nil
}

func clearReply(load *payload.Map) *payload.Map {
	return payload.M("enc", payload.EncClear, "load", load)
}

func delimiterOf(extra *payload.Map) string {
	if d := extra.Str("delimiter"); d != "" {
		return d
	}
	return defaultDelimiter
}

// functions reads fun and arg of a load: one function with its arguments, or lists of both.
func functions(load *payload.Map) (funs []string, args [][]any) {
	list, several := load.Value("fun").([]any)
	if !several {
		return []string{load.Str("fun")}, [][]any{load.List("arg")}
	}
	all := load.List("arg")
	for i, f := range list {
		name, _ := f.(string)
		funs = append(funs, name)
		var own []any
		if i < len(all) {
			own, _ = all[i].([]any)
		}
		args = append(args, own)
	}
	return funs, args
}

// asker is who asks for a publication.
type asker struct {
	*eauth.Identity
	master bool // by the key of the master's own user
}

// owner is whom the jobs that he asks for belong to.
func (a *asker) owner() string {
	if a.Kind == eauth.KindUser && len(a.List) == 0 {
		return jobids.Master
	}
	if a.Name == "" { // is not the master
		return "\x00"
	}
	return a.Name
}

// asker authenticates a publication, by a token or external authentication in its kwargs, or by a key.
func (c *core) asker(r *call) (*asker, error) {
	fields := loginFields(r.load)
	key := r.load.Str("key")
	id, err := c.identity(r, fields)
	r.load.Delete("key")
	if err != nil {
		return nil, err
	}
	return &asker{id, r.rules.eauth.MasterKey(key)}, nil
}

// allow checks whether a speaker may do what he asks for. A token or external authentication also names the user of
// the job. list is what restricts the user, bound that he may reach no other minions than those.
func (c *core) allow(r *call, one *asker, extra *payload.Map, funs []string, args [][]any, minions []string) (list []any, bound bool, refusal *payload.Map) {
	list = one.List
	if given, ok := extra.Get("auth_list"); ok && one.master { // from a syndic of this master's user
		list, _ = given.([]any)
	}
	extra.Delete("auth_list")
	if one.Kind != eauth.KindUser || len(list) > 0 {
		want := eauth.Want{Funs: funs, Args: args, FindJob: true, Covers: func(target string) bool { return c.targets.covers(r.ctx, target, minions) }}
		grant := r.rules.eauth.Allowed(list, want)
		why := r.rules.beyond(one.Identity, r.load, extra, funs)
		if !grant.OK || why != "" {
			c.log.Warn("publication not allowed", "user", payload.Show(one.Name), "fun", shown(funs), "why", why)
			return nil, false, c.refusePublication(r.load, refusedAuthorization)
		}
		bound = grant.Bound
	}
	if one.Kind != eauth.KindUser {
		r.load.Set("user", one.Name)
	}
	return list, bound, nil
}

// refusePublication fires the error event of a load that carries a jid. Unlike Salt: without the secrets, and only for
// who is known: the event of a stranger would end the tool that waits for the jid.
func (c *core) refusePublication(load *payload.Map, why [2]string) *payload.Map {
	reply := errorReply(why[0], why[1])
	if load.Has("jid") {
		data := withoutSecrets(load)
		data.Update(reply)
		c.events.fire(event.TagJobError(load.Str("jid")), data)
	}
	return reply
}

// withoutSecrets copies a load without keys, tokens and passwords, those in kwargs included.
func withoutSecrets(load *payload.Map) *payload.Map {
	out := load.Clone()
	for _, s := range secrets {
		out.Delete(s)
	}
	if kw := out.Map("kwargs"); kw != nil {
		out.Set("kwargs", withoutSecrets(kw))
	}
	return out
}

// begin announces a job, sends it to the minions and stores its load.
//
// The events come first, in Salt's order. The load is on its way to the JobStore before the publication is on its way
// to the minions, so that no return overtakes it. The files in which Salt's own salt command looks are written while
// the minions are at work already, and are there when that command has its answer. A tool that says that it looks in no
// files gets none: three new inodes cost as much as all else that the master does with a job, its signature excepted.
//
// When the master dies before the answer, nobody was told of the job: minions may run it, as with Salt, and the store
// makes the job out of their first return. When it dies after the answer and before the load is in the store, the files
// or the note are there: the job is known by them, and the first return takes it from them. A power failure may take the
// last moments of both.
//
// In Salt's own layout (local_cache) the files are the store: there they are written before the publication.
func (c *core) begin(load, extra, pub *payload.Map, who found, from origin) {
	traced := c.trace.begin(load, pub, len(who.Minions))
	c.noteJob(load, who, from)
	c.trace.job(traced)
	c.announce(load, who)
	one := jobstore.Load{JID: load.Str("jid"), Load: withoutSecrets(load), Minions: who.Minions, NoCache: extra.Bool("nocache")}
	if c.jobs.files {
		c.writeFiles(one)
		c.send(pub, who)
		return
	}
	noted := from.noFiles && c.note(one)
	c.jobs.writer.Send(&SaveLoad{JID: one.JID, Load: one.Load, Minions: one.Minions, NoCache: one.NoCache, Announced: true})
	c.send(pub, who)
	if !noted {
		c.writeFiles(one)
	}
}

// note keeps a load of which no files are wanted until it is stored. Where it cannot, files do.
func (c *core) note(one jobstore.Load) bool {
	err := c.jobs.store.Note(one)
	if err != nil {
		c.log.Debug("a job cannot be noted, its files are written", "jid", one.JID, "err", err)
	}
	return err == nil
}

// announce fires the events of a new job.
func (c *core) announce(load *payload.Map, who found) {
	jid := load.Str("jid")
	c.events.fire(jid, payload.M("minions", payload.AnyList(who.Minions))) // tools older than 3008 wait for it
	c.events.fire(event.TagJobNew(jid), payload.M("jid", jid, "tgt_type", load.Value("tgt_type"), "tgt", load.Value("tgt"),
		"user", load.Value("user"), "fun", load.Value("fun"), "arg", load.Value("arg"),
		"minions", payload.AnyList(who.Minions), "missing", payload.AnyList(who.Missing)))
}

// writeFiles writes the files of a job. Those that cannot be written now are left to the JobStore.
func (c *core) writeFiles(one jobstore.Load) {
	if err := c.jobs.store.Announce(one); err != nil {
		c.filesFailed(one.JID, err)
		c.jobs.writer.Send(&SaveLoad{JID: one.JID, Load: one.Load, Minions: one.Minions, NoCache: one.NoCache})
	} else if c.mute.Swap(false) {
		c.log.Warn("the files of jobs can be written again")
	}
}

// filesFailed says that the files of jobs for Salt's own tools cannot be written: once, until they can. Jobs and
// returns are stored all the same.
func (c *core) filesFailed(jid string, err error) {
	if !c.mute.Swap(true) {
		c.log.Error("the files of jobs for Salt's own tools cannot be written", "jid", jid, "err", err)
	}
}

// fromKwargs are the keywords of a publish request that go into the publication.
var fromKwargs = []string{"ret_config", "metadata", "module_executors", "executor_opts", "ret_kwargs"}

// publication builds what the minions get, in Salt's order.
func publication(c *core, load, extra *payload.Map) *payload.Map {
	pub := payload.M("fun", load.Value("fun"), "arg", load.Value("arg"), "tgt", load.Value("tgt"), "jid", load.Value("jid"), "ret", load.Value("ret"))
	if id, ok := extra.Get("master_id"); ok {
		pub.Set("master_id", id)
	} else if id, ok := c.cfg.Raw.Get("master_id"); ok && id != nil {
		pub.Set("master_id", id)
	}
	if d := delimiterOf(extra); d != defaultDelimiter {
		pub.Set("delimiter", d)
	}
	if id, ok := extra.Get("id"); ok {
		pub.Set("id", id)
	}
	for _, k := range []string{"tgt_type", "to"} {
		if v, ok := load.Get(k); ok {
			pub.Set(k, v)
		}
	}
	for _, k := range fromKwargs {
		if v, ok := extra.Get(k); ok {
			pub.Set(k, v)
		}
	}
	if extra.Bool("start_event") {
		pub.Set("start_event", true)
	}
	if u, ok := load.Get("user"); ok {
		pub.Set("user", u)
	}
	return pub
}

// send announces a publication and hands it to the Publisher.
func (c *core) send(pub *payload.Map, who found) {
	jid := pub.Str("jid")
	c.events.fire(event.TagJobPublish(jid), pub)
	c.log.Info(fmt.Sprintf("User %s Published command %v with jid %s", pub.Str("user"), pytext.Str(pub.Value("fun")), jid))
	c.publisherRef.Send(&PublishJob{Load: pub, Topics: c.topicIDs(pub, who)})
}

// topicIDs are the ids a filtering master addresses; nil addresses everybody.
func (c *core) topicIDs(pub *payload.Map, who found) []string {
	if !c.cfg.ZMQFiltering {
		return nil
	}
	switch strings.ToLower(pub.Str("tgt_type")) {
	case "glob", "pcre":
		return who.Minions
	case "list":
		return append(append([]string{}, who.Minions...), who.Missing...)
	}
	return nil
}
