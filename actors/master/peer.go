package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/config"
	"brine/modules/eauth"
	"brine/modules/fleet/ledger"
	"brine/modules/fleet/quota"
	"brine/modules/matchers"
	"brine/modules/runners"
	"brine/modules/text/args"
	"brine/wire/auth"
	"brine/wire/payload"
)

// peerDir holds a file per job that a minion published, with the id of that minion.
const peerDir = "publish_auth"

// maxPeerTimeout bounds how long a minion may keep a worker waiting for returns.
const maxPeerTimeout = 60 * time.Second

// peerDesk publishes and runs functions for minions (peer, peer_run).
type peerDesk struct {
	cfg          *config.Master
	gate         *gate
	targets      *targets
	jobs         *jobs
	publications *publications
	functions    *ownFunctions
	events       *events
	turns        *turns
	atOnce       quota.AtOnce // what minions publish and run, and wait for
	log          *slog.Logger
}

// peerLoad checks a publication of a minion against the option peer and makes it a publish load; nil when it
// is refused (salt/daemons/masterapi.py, RemoteFuncs.minion_pub).
func (d *peerDesk) peerLoad(ctx context.Context, r *call) (*payload.Map, found) {
	load := r.load
	for _, f := range []string{"fun", "arg", "tgt", "ret", "id"} {
		if !load.Has(f) {
			return nil, found{}
		}
	}
	splitFunctions(load)
	funs, _ := functions(load)
	if slices.ContainsFunc(funs, func(fun string) bool { return strings.HasPrefix(fun, "publish") }) || misshapen(load) != "" {
		d.log.Warn("publication of a minion refused", "minion", r.id, "fun", shown(funs))
		return nil, found{}
	}
	tgt, tgtType := load.Value("tgt"), load.Str("tgt_type")
	if tgtType == "" {
		tgtType = "glob"
	}
	if strings.HasPrefix(tgtType, "node") {
		group, ok := r.rules.nodegroups.Get(tgt)
		if !ok {
			return nil, found{}
		}
		tgt, tgtType = group, "compound"
	}
	if !d.targets.exactPillar(ctx, tgt, tgtType) {
		d.log.Warn("publication of a minion refused: its pillar target matches more than an exact one", "minion", r.id)
		return nil, found{}
	}
	pub := payload.M("cmd", payload.CmdPublish, "tgt", tgt, "fun", load.Value("fun"),
		"arg", parseArgs(load), "tgt_type", tgtType, "ret", load.Value("ret"),
		"jid", d.jobs.ids.NextForGuest(time.Now()), "kwargs", payload.M("id", r.id), "user", d.cfg.User)
	who, err := d.targets.expand(ctx, tgt, tgtType, defaultDelimiter)
	if errors.Is(err, matchers.ErrTime) {
		return nil, found{}
	}
	funs, args := functions(pub) // as they go out
	grant := r.rules.eauth.Allowed(eauth.PeerRules(r.rules.peer, r.id), eauth.Want{Funs: funs, Args: args,
		Covers: func(target string) bool { return d.targets.covers(ctx, target, who.Minions) }})
	if !grant.OK {
		d.log.Warn("publication of a minion refused (peer)", "minion", r.id, "fun", shown(funs))
		return nil, found{}
	}
	if grant.Bound {
		aimAt(pub, who.Minions)
	}
	return pub, who
}

// splitFunctions makes a list of several functions that stand in one text, and of their arguments.
func splitFunctions(load *payload.Map) {
	fun := load.Str("fun")
	if !strings.Contains(fun, ",") {
		return
	}
	var funs, args []any
	for name := range strings.SplitSeq(fun, ",") {
		funs = append(funs, name)
	}
	for _, arg := range load.List("arg") {
		own := []any{}
		if words, ok := arg.(string); ok {
			for word := range strings.FieldsSeq(words) {
				own = append(own, word)
			}
		} else if list, ok := arg.([]any); ok {
			own = list
		}
		args = append(args, own)
	}
	load.Set("fun", funs).Set("arg", args)
}

// parseArgs types the arguments of a minion's request, as the command line types its words.
func parseArgs(load *payload.Map) []any {
	noParse := make([]string, 0, 1)
	for _, v := range load.List("no_parse") {
		if name, ok := v.(string); ok {
			noParse = append(noParse, name)
		}
	}
	pos, kw := args.Split(load.List("arg"), noParse)
	return args.Condition(pos, kw)
}

// publishPeer sends a minion's publication and notes whose it is.
func (d *peerDesk) publishPeer(r *call, pub *payload.Map, who found) (string, error) {
	jid := pub.Str("jid")
	dir := filepath.Join(d.cfg.CacheDir, peerDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, jid), []byte(r.id), 0o600); err != nil {
		return "", err
	}
	extra := pub.Map("kwargs")
	d.publications.begin(pub, extra, d.publications.publication(pub, extra), who, r.from)
	return jid, nil
}

// peersAtOnce is how many publications and runners of one minion may be waited for at a time.
const peersAtOnce = 16

// mayPeer takes a publication or a runner out of a minion's quota. Unless it is refused, leave ends it.
func (d *peerDesk) mayPeer(id string) (leave func(), ok bool) {
	why := ""
	switch {
	case d.gate.quotas.Take(id, quotaPeer, 1, 1, time.Now()) == 0:
		why = fmt.Sprintf("more publications and runners than minion_quota_peer (%d an hour)", d.cfg.MinionQuotaPeer)
	case !d.atOnce.Enter(id):
		why = fmt.Sprintf("more than %d publications and runners at once", peersAtOnce)
	default:
		return sync.OnceFunc(func() { d.atOnce.Leave(id) }), true
	}
	d.gate.deny(id, ledger.DeniedPeer, 1, why)
	return nil, false
}

// minionPub publishes for a minion and answers at once with {jid, minions}.
func (d *peerDesk) minionPub(r *call) (any, error) {
	leave, ok := d.mayPeer(r.id)
	if !ok {
		return payload.NewMap(0), nil
	}
	return d.turns.inTurnThen(r, leave, "publication of a minion", func(ctx context.Context) (any, error) {
		pub, who := d.peerLoad(ctx, r)
		if pub == nil {
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
func (d *peerDesk) minionPublish(r *call) (any, error) {
	wait := peerTimeout(r.load)
	leave, ok := d.mayPeer(r.id)
	if !ok {
		return payload.NewMap(0), nil
	}
	r.beside("publication of a minion", func(ctx context.Context) { // waiting must not hold the worker
		defer leave()
		done, err := d.turns.Take(ctx, r.id)
		if err != nil {
			r.req.fail()
			return
		}
		pub, who := func() (*payload.Map, found) { defer done(); return d.peerLoad(ctx, r) }()
		if pub == nil || len(who.Minions) == 0 || r.req.answered.Load() { // or its deadline was over before it was published
			r.finish(payload.NewMap(0))
			return
		}
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		full := r.load.Str("form") == "full"
		out := payload.NewMap(len(who.Minions))
		err = d.events.collect(ctx, pub.Str("jid"), who.Minions, func() error {
			_, err := d.publishPeer(r, pub, who)
			return err
		}, func(id string, ret *payload.Map) {
			out.Set(id, peerValue(ret, full))
		})
		if err != nil {
			d.log.Warn("publication of a minion failed", "minion", r.id, "err", err)
			r.req.fail()
			return
		}
		if full {
			out.Set("__jid__", pub.Value("jid"))
		}
		r.finish(out)
	})
	return nil, errLater
}

// peerValue is what a minion gets of one return: its value, or with form "full" the whole return with the value
// under ret.
func peerValue(ret *payload.Map, full bool) any {
	if !full {
		return ret.Value("return")
	}
	all := ret.Clone()
	all.Delete("return")
	return all.Set("ret", ret.Value("return"))
}

// peerTimeout reads timeout or tmo: seconds as a number or text; 5 s without.
func peerTimeout(load *payload.Map) time.Duration {
	wait := 5 * time.Second
	for _, k := range []string{"tmo", "timeout"} {
		if n, err := strconv.ParseFloat(fmt.Sprint(load.Value(k)), 64); err == nil && n > 0 {
			wait = time.Duration(min(n, maxPeerTimeout.Seconds()) * float64(time.Second))
		}
	}
	return wait
}

// pubRet returns what has come back of a job to the minion that published it, id → {ret, ...}.
func (d *peerDesk) pubRet(r *call) (any, error) {
	jid := r.load.Str("jid")
	if r.id == "" || !auth.ValidID(jid) {
		return payload.NewMap(0), nil
	}
	owner, err := os.ReadFile(filepath.Join(d.cfg.CacheDir, peerDir, jid))
	if err != nil {
		return nil, err
	}
	if string(owner) != r.id {
		return payload.NewMap(0), nil
	}
	returns, err := settledJobs{d.jobs}.Returns(jid)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(returns.Len())
	for id, v := range returns.All() {
		ret, _ := v.(*payload.Map)
		one := payload.M("ret", ret.Value("return"))
		if o, ok := ret.Get("out"); ok {
			one.Set("out", o)
		}
		out.Set(id, one)
	}
	return out, nil
}

// minionRunner runs a runner function for a minion that peer_run allows it.
func (d *peerDesk) minionRunner(r *call) (any, error) {
	fun := r.load.Str("fun")
	if r.id == "" || fun == "" || !r.load.Has("arg") {
		return payload.NewMap(0), nil
	}
	if !eauth.PeerAllowed(r.rules.peerRun, r.id, fun) {
		d.log.Warn("runner of a minion refused (peer_run)", "minion", r.id, "fun", payload.Show(fun))
		return payload.NewMap(0), nil
	}
	leave, ok := d.mayPeer(r.id)
	if !ok {
		return payload.NewMap(0), nil
	}
	pos, kw := args.Split(parseArgs(r.load), nil)
	err := d.functions.start(&RunRunner{
		Limit: d.cfg.RequestTimeout + workerGrace, // its request has been answered by then
		Req:   runners.Request{Kind: runners.KindRunner, Fun: fun, Args: pos, KW: kw, JID: d.jobs.ids.NextForGuest(time.Now()), User: r.id},
		Done: func(v any, err error) {
			leave()
			if err != nil {
				r.req.fail()
				return
			}
			r.finish(v)
		}})
	if err != nil {
		leave()
		return nil, err
	}
	return nil, errLater
}
