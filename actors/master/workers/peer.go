package workers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/actors/master/access"
	"brine/actors/master/eventbus"
	"brine/actors/master/jobs"
	"brine/actors/master/publish"
	"brine/actors/master/run"
	"brine/actors/master/targets"
	"brine/modules/eauth"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/quota"
	"brine/modules/matchers"
	"brine/modules/runners"
	"brine/modules/text/args"
	"brine/wire/auth"
	"brine/wire/client"
	"brine/wire/payload"
)

// maxPeerTimeout bounds how long a minion may keep a worker waiting for returns.
const maxPeerTimeout = 60 * time.Second

// PeerOptions are what the configuration says of it.
type PeerOptions struct {
	User     string        // of the master, in whose name minions publish
	Ext      string        // ext_job_cache
	Dir      string        // has a file per job that a minion published, with the id of that minion
	Patience time.Duration // how long a runner of a minion may take: by then its request has been answered
}

// peerHandler publishes and runs functions for minions (peer, peer_run).
type peerHandler struct {
	opt          PeerOptions
	admission    *access.Admission
	targets      *targets.Targets
	jobs         *jobs.Jobs
	publications *publish.Publications
	functions    *run.Functions
	events       *eventbus.Bus
	turns        *turns
	atOnce       quota.AtOnce // what minions publish and run, and wait for
	log          *slog.Logger
}

// peerLoad checks a publication of a minion against the option peer and makes it a publish request; ok is false when it
// is refused (salt/daemons/masterapi.py, RemoteFuncs.minion_pub).
func (d *peerHandler) peerLoad(ctx context.Context, r *call) (pub payload.PublishRequest, who targets.Found, ok bool) {
	ask := payload.NewPeerRequest(r.load)
	if !ask.Publishes() {
		return pub, who, false
	}
	ask.Split()
	funs, _ := ask.Request().Functions()
	if slices.ContainsFunc(funs, func(fun string) bool {
		return strings.HasPrefix(fun, "publish")
	}) || access.Misshapen(ask.Request()) != "" {
		d.log.Warn("publication of a minion refused", "minion", r.id, "fun", access.Shown(funs))
		return pub, who, false
	}
	tgt, tgtType := ask.Tgt(), ask.TgtType()
	if strings.HasPrefix(tgtType, "node") {
		group, ok := r.rules.Nodegroups.Get(tgt)
		if !ok {
			return pub, who, false
		}
		tgt, tgtType = group, "compound"
	}
	if !d.targets.ExactPillar(ctx, tgt, tgtType) {
		d.log.Warn("publication of a minion refused: its pillar target matches more than an exact one", "minion", r.id)
		return pub, who, false
	}
	pub = payload.NewPublishRequest(payload.M("cmd", payload.CmdPublish, "tgt", tgt, "fun", ask.Field(payload.FieldFun),
		"arg", parseArgs(ask), "tgt_type", tgtType, "ret", d.returners(ask),
		"jid", d.jobs.IDs.NextForGuest(time.Now()), "kwargs", payload.M("id", r.id), "user", d.opt.User))
	who, err := d.targets.Expand(ctx, tgt, tgtType, targets.DefaultDelimiter)
	if errors.Is(err, matchers.ErrTime) {
		return pub, who, false
	}
	funs, args := pub.Functions() // as they go out
	grant := r.rules.Eauth.Allowed(eauth.PeerRules(r.rules.Peer, r.id), eauth.Want{Funs: funs, Args: args,
		Covers: func(target string) bool { return d.targets.Covers(ctx, target, who.Minions) }})
	if !grant.OK {
		d.log.Warn("publication of a minion refused (peer)", "minion", r.id, "fun", access.Shown(funs))
		return pub, who, false
	}
	if grant.Bound {
		pub.AimAt(who.Minions)
	}
	return pub, who, true
}

// returners are those that a minion asks for, and the external job cache, as for the jobs of tools.
func (d *peerHandler) returners(ask payload.PeerRequest) any {
	ret := ask.Field(payload.FieldRet)
	if text, ok := ret.(string); ok || ret == nil && d.opt.Ext != "" {
		return client.WithReturner(text, d.opt.Ext)
	}
	return ret
}

// parseArgs types the arguments of a minion's request, as the command line types its words.
func parseArgs(ask payload.PeerRequest) []any {
	pos, kw := args.Split(ask.Args(), ask.NoParse())
	return args.Condition(pos, kw)
}

// publishPeer sends a minion's publication and notes whose it is.
func (d *peerHandler) publishPeer(r *call, pub payload.PublishRequest, who targets.Found) (string, error) {
	jid := pub.JID()
	dir := d.opt.Dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, jid), []byte(r.id), 0o600); err != nil {
		return "", err
	}
	extra := pub.Extras()
	d.publications.Begin(pub, extra, d.publications.Publication(pub, extra), who, r.from)
	return jid, nil
}

// maxAtOnce is how many publications and runners of one minion may be waited for at a time.
const maxAtOnce = 16

// mayPeer takes a publication or a runner out of a minion's quota. Unless it is refused, leave ends it.
func (d *peerHandler) mayPeer(id string) (leave func(), ok bool) {
	why := ""
	switch {
	case d.admission.Quotas.Take(id, access.QuotaPeer, 1, 1, time.Now()) == 0:
		why = fmt.Sprintf("more publications and runners than minion_quota_peer (%d an hour)", d.admission.Opt.Hourly.Peer)
	case !d.atOnce.Enter(id):
		why = fmt.Sprintf("more than %d publications and runners at once", maxAtOnce)
	default:
		return sync.OnceFunc(func() { d.atOnce.Leave(id) }), true
	}
	d.admission.Deny(id, ledger.DeniedPeer, 1, why)
	return nil, false
}

// minionPub publishes for a minion and answers at once with {jid, minions}.
func (d *peerHandler) minionPub(r *call) (any, error) {
	leave, ok := d.mayPeer(r.id)
	if !ok {
		return payload.NewMap(0), nil
	}
	return d.turns.inTurnThen(r, leave, "publication of a minion", func(ctx context.Context) (any, error) {
		pub, who, ok := d.peerLoad(ctx, r)
		if !ok {
			return payload.NewMap(0), nil
		}
		if len(who.Minions) == 0 {
			return payload.M("jid", int64(0), "minions", []any{}), nil // what a client that found nobody returns
		}
		jid, err := d.publishPeer(r, pub, who)
		if err != nil {
			return nil, err
		}
		return payload.M("jid", jid, "minions", payload.AnyList(who.Minions)), nil
	})
}

// minionPublish publishes for a minion and answers with the returns: id → value, or with form "full"
// id → {ret, ...} and __jid__. It waits on the bus of this process, never on its own worker.
func (d *peerHandler) minionPublish(r *call) (any, error) {
	ask := payload.NewPeerRequest(r.load)
	wait := peerTimeout(ask)
	leave, ok := d.mayPeer(r.id)
	if !ok {
		return payload.NewMap(0), nil
	}
	r.beside("publication of a minion", func(ctx context.Context) { // waiting must not hold the worker
		defer leave()
		done, err := d.turns.Take(ctx, r.id)
		if err != nil {
			r.req.Fail()
			return
		}
		pub, who, ok := func() (payload.PublishRequest, targets.Found, bool) { defer done(); return d.peerLoad(ctx, r) }()
		if !ok || len(who.Minions) == 0 || r.req.Answered.Load() { // or its deadline was over before it was published
			r.finish(payload.NewMap(0))
			return
		}
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		full := ask.Full()
		out := payload.NewMap(len(who.Minions))
		err = d.events.Collect(ctx, pub.JID(), who.Minions, func() error {
			_, err := d.publishPeer(r, pub, who)
			return err
		}, func(id string, ret *payload.Return) {
			out.Set(id, peerValue(ret, full))
		})
		if err != nil {
			d.log.Warn("publication of a minion failed", "minion", r.id, "err", err)
			r.req.Fail()
			return
		}
		if full {
			out.Set("__jid__", pub.JID())
		}
		r.finish(out)
	})
	return nil, errLater
}

// peerValue is what a minion gets of one return: its value, or with form "full" the whole return with the value
// under ret.
func peerValue(ret *payload.Return, full bool) any {
	if !full {
		return ret.Value()
	}
	return ret.Rest().Set("ret", ret.Value())
}

// peerTimeout is how long a minion waits for returns; 5 s when it does not say.
func peerTimeout(ask payload.PeerRequest) time.Duration {
	n := ask.Seconds()
	if n <= 0 {
		return 5 * time.Second
	}
	return time.Duration(min(n, maxPeerTimeout.Seconds()) * float64(time.Second))
}

// pubRet returns what has come back of a job to the minion that published it, id → {ret, ...}.
func (d *peerHandler) pubRet(r *call) (any, error) {
	jid := payload.NewPeerRequest(r.load).JID()
	if r.id == "" || !auth.ValidID(jid) {
		return payload.NewMap(0), nil
	}
	owner, err := os.ReadFile(filepath.Join(d.opt.Dir, jid))
	if err != nil {
		return nil, err
	}
	if string(owner) != r.id {
		return payload.NewMap(0), nil
	}
	returns, err := jobs.Settled{Jobs: d.jobs}.Returns(jid)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(returns.Len())
	for id, v := range returns.All() {
		load, _ := v.(*payload.Map)
		ret := payload.NewReturn(load)
		one := payload.M("ret", ret.Value())
		ret.Pass(one, payload.FieldOut)
		out.Set(id, one)
	}
	return out, nil
}

// minionRunner runs a runner function for a minion that peer_run allows it.
func (d *peerHandler) minionRunner(r *call) (any, error) {
	ask := payload.NewPeerRequest(r.load)
	fun := ask.Runs()
	if r.id == "" || fun == "" {
		return payload.NewMap(0), nil
	}
	if !eauth.PeerAllowed(r.rules.PeerRun, r.id, fun) {
		d.log.Warn("runner of a minion refused (peer_run)", "minion", r.id, "fun", payload.Show(fun))
		return payload.NewMap(0), nil
	}
	leave, ok := d.mayPeer(r.id)
	if !ok {
		return payload.NewMap(0), nil
	}
	pos, kw := args.Split(parseArgs(ask), nil)
	err := d.functions.Start(&run.RunRunner{
		Limit: d.opt.Patience,
		Req: runners.Request{Kind: runners.KindRunner, Fun: fun, Args: pos, KW: kw,
			JID: d.jobs.IDs.NextForGuest(time.Now()), User: r.id},
		Done: func(rec *payload.Map, err error) {
			leave()
			if err != nil {
				r.req.Fail()
				return
			}
			r.finish(rec.Value("return"))
		}})
	if err != nil {
		leave()
		return nil, err
	}
	return nil, errLater
}
