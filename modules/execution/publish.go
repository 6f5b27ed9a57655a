package execution

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/text/args"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

func publishFunctions() []loader.Func {
	common := []loader.Param{loader.Req("tgt"), loader.Req("fun"), loader.Opt("arg", nil), loader.Opt("tgt_type", "glob"),
		loader.Opt("returner", ""), loader.Opt("timeout", int64(5))}
	return sourced("salt/modules/publish.py", []loader.Func{
		{Name: "publish.publish", Params: append(common[:len(common):len(common)], loader.Opt("via_master", nil)), Run: publish,
			Doc: `Let the master run a function on other minions and return what they answered. The master must allow it (peer).

CLI Example:

    salt system.example.com publish.publish '*' cmd.run 'ls -la /tmp'
    salt system.example.com publish.publish '*' test.kwarg arg="['cheese=spam','spam=cheese']"`},
		{Name: "publish.full_data", Params: common, Run: publishFull, Doc: `Like publish.publish, with the whole return of each minion.

CLI Example:

    salt system.example.com publish.full_data '*' cmd.run 'ls -la /tmp'`},
		{Name: "publish.runner", Params: []loader.Param{loader.Req("fun"), loader.Opt("arg", nil), loader.Opt("timeout", int64(5))},
			Run: publishRunner, Doc: `Let the master run a runner function and return its result. The master must allow it (peer_run).

CLI Example:

    salt '*' publish.runner manage.down`},
	})
}

func publish(c *loader.Call, a loader.Args) (any, error) { return publishAs(c, a, "clean") }

func publishFull(c *loader.Call, a loader.Args) (any, error) { return publishAs(c, a, "full") }

// publishAs asks the master to publish and collects the returns until all targeted minions answered or the time
// is over. form "clean" keeps only what the functions returned.
func publishAs(c *loader.Call, a loader.Args, form string) (any, error) {
	master := c.Host().Master
	fun := a.Str("fun")
	switch {
	case master == nil:
		c.Log(slog.LevelError, "Cannot run publish commands without a connection to a salt master. No command sent.")
		return payload.NewMap(0), nil
	case strings.HasPrefix(fun, "publish."):
		c.Log(slog.LevelInfo, "Cannot publish publish calls. Returning {}")
		return payload.NewMap(0), nil
	}
	seconds, ok := loader.ToFloat(a.Get("timeout"))
	if !ok {
		n, err := a.Int("timeout")
		if err != nil {
			return nil, err
		}
		seconds = float64(n)
	}
	load := payload.M("cmd", payload.CmdMinionPub, "fun", fun, "arg", publishArgs(a.Get("arg")), "tgt", a.Get("tgt"),
		"tgt_type", a.Get("tgt_type"), "ret", a.Get("returner"), "tmo", a.Get("timeout"), "form", form, "id", c.ID,
		"no_parse", listOpt(c, "no_parse"))
	if via := viaMaster(a); loader.Truthy(via) {
		other, err := masterByHost(master, pytext.Str(via))
		if err != nil {
			return nil, err
		}
		master = other
	}
	return publishTo(c, master, load, form, seconds)
}

// viaMaster is the master that is to publish; only publish.publish lets one choose.
func viaMaster(a loader.Args) any {
	if !a.Declared("via_master") {
		return nil
	}
	return a.Get("via_master")
}

// masterByHost picks the master via_master names.
func masterByHost(master loader.MasterChannel, host string) (loader.MasterChannel, error) {
	several, ok := master.(loader.MasterByHost)
	if !ok {
		return nil, loader.InvocErr("Could not find list of masters in minion configuration but `via_master` was specified.")
	}
	found, ok := several.MasterByHost(host)
	if !ok {
		return nil, loader.InvocErr("Could not find match for %s in list of configured masters when using `via_master` option", host)
	}
	return found, nil
}

// publishTo sends the publication to one master and waits for its returns there.
func publishTo(c *loader.Call, master loader.MasterChannel, load *payload.Map, form string, seconds float64) (any, error) {
	answer, err := master.Request(c.Ctx, load)
	if timedOut(err) {
		return fmt.Sprintf("'%s' publish timed out", load.Str("fun")), nil
	}
	if err != nil {
		return nil, err
	}
	published, _ := answer.(*payload.Map)
	if published.Len() == 0 {
		return payload.NewMap(0), nil
	}
	if len(published.List("minions")) == 0 {
		return nil, nil
	}
	returns, err := collectReturns(c, master, published, time.Duration(seconds*float64(time.Second)))
	if err != nil || form != "clean" {
		return returns, err
	}
	return onlyReturns(returns), nil
}

// collectInterval is the pause between two questions for the returns of a publication.
const collectInterval = 300 * time.Millisecond

// collectReturns asks until all have answered. Only its pauses count against the limit: a master that is slow to answer
// is waited for.
func collectReturns(c *loader.Call, master loader.MasterChannel, published *payload.Map, limit time.Duration) (*payload.Map, error) {
	load := payload.M("cmd", payload.CmdPubRet, "id", c.ID, "jid", published.Value("jid"))
	want := published.List("minions")
	for paused := time.Duration(0); ; paused += collectInterval {
		answer, err := master.Request(c.Ctx, load)
		if err != nil {
			return nil, err
		}
		returns, ok := answer.(*payload.Map)
		if !ok {
			returns = payload.NewMap(0)
		}
		if hasAll(returns, want) || paused > limit {
			return returns, nil
		}
		select {
		case <-time.After(collectInterval):
		case <-c.Ctx.Done():
			return nil, context.Cause(c.Ctx)
		}
	}
}

func hasAll(returns *payload.Map, minions []any) bool {
	for _, id := range minions {
		if !returns.Has(id) {
			return false
		}
	}
	return true
}

func onlyReturns(returns *payload.Map) *payload.Map {
	out := payload.NewMap(returns.Len())
	for id, v := range returns.All() {
		if m, ok := v.(*payload.Map); ok {
			v = m.Value("ret")
		}
		out.Set(id, v)
	}
	return out
}

func publishRunner(c *loader.Call, a loader.Args) (any, error) {
	master := c.Host().Master
	if master == nil {
		return "No access to master. If using salt-call with --local, please remove.", nil
	}
	fun := a.Str("fun")
	load := payload.M("cmd", payload.CmdMinionRunner, "fun", fun, "arg", publishArgs(a.Get("arg")), "tmo", a.Get("timeout"),
		"id", c.ID, "no_parse", listOpt(c, "no_parse"))
	answer, err := master.Request(c.Ctx, load)
	if timedOut(err) {
		return fmt.Sprintf("'%s' runner publish timed out", fun), nil
	}
	return answer, err
}

// publishArgs types an argument that is text and makes a list of it.
func publishArgs(v any) []any {
	if s, ok := v.(string); ok {
		v = args.Yamlify(s)
	}
	switch x := v.(type) {
	case nil:
		return []any{}
	case []any:
		return x
	}
	return []any{v}
}

func listOpt(c *loader.Call, name string) []any {
	if l := c.Opts().List(name); l != nil {
		return l
	}
	return []any{}
}

// timedOut tells whether the master did not answer in time.
func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, loader.ErrRequestTimeout)
}
