// Package publish is the execution module publish: a minion lets its master run functions on other minions, and
// runners. It answers to salt/modules/publish.py.
package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/text/args"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module publish.
func Module() loader.Module {
	return loader.Module{File: "publish", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("publish", clean,
				"Let the master run a function on other minions and return what they answered. "+
					"The master must allow it (peer).",
				"salt system.example.com publish.publish '*' cmd.run 'ls -la /tmp'",
				`salt system.example.com publish.publish '*' test.kwarg arg="['cheese=spam','spam=cheese']"`),
			loader.Fn("full_data", full, "Like publish.publish, with the whole return of each minion.",
				"salt system.example.com publish.full_data '*' cmd.run 'ls -la /tmp'"),
			loader.Fn("runner", runner,
				"Let the master run a runner function and return its result. The master must allow it (peer_run).",
				"publish.runner manage.down"),
		}
	}}
}

// publication is what the master is to publish; only publish.publish lets one choose the master.
type publication struct {
	Tgt      any    `arg:"tgt"`
	Fun      string `arg:"fun"`
	Arg      any    `arg:"arg=None"`
	TgtType  any    `arg:"tgt_type=glob"`
	Returner any    `arg:"returner=''"`
	Timeout  any    `arg:"timeout=5"`
}

type toMaster struct {
	publication
	Via any `arg:"via_master=None"`
}

func clean(c *loader.Call, a toMaster) (any, error) { return ask(c, a.publication, a.Via, "clean") }

func full(c *loader.Call, a publication) (any, error) { return ask(c, a, nil, "full") }

// ask asks the master to publish and collects the returns until all targeted minions answered or the time
// is over. form "clean" keeps only what the functions returned.
func ask(c *loader.Call, a publication, via any, form string) (any, error) {
	master := c.Host().Master
	switch {
	case master == nil:
		c.Log(slog.LevelError, "Cannot run publish commands without a connection to a salt master. No command sent.")
		return payload.NewMap(0), nil
	case strings.HasPrefix(a.Fun, "publish."):
		c.Log(slog.LevelInfo, "Cannot publish publish calls. Returning {}")
		return payload.NewMap(0), nil
	}
	seconds, ok := python.Number(a.Timeout)
	if !ok {
		n, err := loader.ToInt(a.Timeout)
		if err != nil {
			return nil, err
		}
		seconds = float64(n)
	}
	load := payload.M("cmd", payload.CmdMinionPub, "fun", a.Fun, "arg", arguments(a.Arg), "tgt", a.Tgt,
		"tgt_type", a.TgtType, "ret", a.Returner, "tmo", a.Timeout, "form", form, "id", c.ID,
		"no_parse", listOpt(c, "no_parse"))
	if python.Truth(via) {
		other, err := masterByHost(master, python.Str(via))
		if err != nil {
			return nil, err
		}
		master = other
	}
	return send(c, master, load, form, seconds)
}

// masterByHost picks the master via_master names.
func masterByHost(master loader.MasterChannel, host string) (loader.MasterChannel, error) {
	several, ok := master.(loader.MasterByHost)
	if !ok {
		return nil, loader.InvocErr("Could not find list of masters in minion configuration but `via_master` was " +
			"specified.")
	}
	found, ok := several.MasterByHost(host)
	if !ok {
		return nil, loader.InvocErr("Could not find match for %s in list of configured masters "+
			"when using `via_master` option", host)
	}
	return found, nil
}

// send sends the publication to one master and waits for its returns there.
func send(c *loader.Call, master loader.MasterChannel, load *payload.Map, form string, seconds float64) (any, error) {
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
	returns, err := collect(c, master, published, time.Duration(seconds*float64(time.Second)))
	if err != nil || form != "clean" {
		return returns, err
	}
	return onlyReturns(returns), nil
}

// collectInterval is the pause between two questions for the returns of a publication.
const collectInterval = 300 * time.Millisecond

// collect asks until all have answered. Only its pauses count against the limit: a master that is slow to answer
// is waited for.
func collect(
	c *loader.Call, master loader.MasterChannel, published *payload.Map, limit time.Duration,
) (*payload.Map, error) {
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

type runnerCall struct {
	Fun     string `arg:"fun"`
	Arg     any    `arg:"arg=None"`
	Timeout any    `arg:"timeout=5"`
}

func runner(c *loader.Call, a runnerCall) (any, error) {
	master := c.Host().Master
	if master == nil {
		return "No access to master. If using salt-call with --local, please remove.", nil
	}
	load := payload.M("cmd", payload.CmdMinionRunner, "fun", a.Fun, "arg", arguments(a.Arg), "tmo", a.Timeout,
		"id", c.ID, "no_parse", listOpt(c, "no_parse"))
	answer, err := master.Request(c.Ctx, load)
	if timedOut(err) {
		return fmt.Sprintf("'%s' runner publish timed out", a.Fun), nil
	}
	return answer, err
}

// arguments types an argument that is text and makes a list of it.
func arguments(v any) []any {
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
