package state

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"brine/modules/execution/slsutil"
	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/outputters"
	"brine/modules/renderers"
	"brine/modules/states/run"
	"brine/modules/states/run/top"
	"brine/modules/text/dicts"
	"brine/modules/tops/confirm"
	"brine/wire/payload"
	"brine/wire/python"
)

// disabledGrain is the grain in which state.disable keeps what is disabled.
const disabledGrain = "state_runs_disabled"

// settings are how a function wants its states compiled.
type settings struct {
	test      any  // the option test
	setTest   bool // and it is set
	base      bool // without an environment it is base
	override  bool // the keyword pillar counts
	anyPillar bool // a pillar with errors will do
	told      bool // what is wrong with a pillar is an answer, not an error
}

// session is one compilation of a call.
type session struct {
	*run.Compiler
	opts   *payload.Map
	call   *loader.Call // with the options and the pillar of the compilation
	pillar atomic.Pointer[payload.Map]
	query  loader.PillarQuery // which pillar that is
}

// begin makes a compilation with the options and the pillar that the keywords of a function ask for.
func begin(c *loader.Call, kw *payload.Map, how settings) (*session, error) {
	opts, err := optionsOf(c, kw, how)
	if err != nil {
		return nil, err
	}
	pillar, query, err := pillarOf(c, kw, opts, how)
	if err != nil {
		return nil, err
	}
	if errs := pillar.Value("_errors"); python.Truth(errs) && !how.anyPillar && !python.Truth(kw.Value("force")) {
		c.SetRetcode(exitPillar)
		if list, ok := errs.([]any); ok && how.told {
			return nil, &badPillar{append([]any{"Pillar failed to render with the following messages:"}, list...)}
		}
		info, err := outputters.Format("nested", errs, outputters.Options{})
		if err != nil {
			return nil, err
		}
		return nil, loader.ExecErr("Pillar failed to render. Additional info follows:\n\n%s",
			strings.TrimRight(info, " \n"))
	}
	opts.Set("pillar", pillar)
	s := &session{opts: opts, query: query}
	s.pillar.Store(pillar)
	inner := within(c, opts, s.pillar.Load)
	s.call = inner
	client, err := fileclient.For(inner)
	if err != nil {
		return nil, err
	}
	if client == nil {
		return nil, loader.ExecErr("there is no file server to take states from")
	}
	more, err := masterTops(inner)
	if err != nil {
		return nil, err
	}
	s.Compiler = run.New(run.Options{
		Source: &source{inner, client, opts}, Opts: opts, Watches: hasFunction(c, "mod_watch", watching),
		Aggregates: hasFunction(c, "mod_aggregate", nil), Forbidden: forbidden(c),
		Match: top.Matcher{Means: meansOf(inner), More: more, MoreFirst: python.Truth(opts.Value("master_tops_first"))},
		Log:   func(text string) { c.LogAs("salt.state", slog.LevelError, text) },
	})
	return s, nil
}

// statesOf are the state functions of the program of a call.
func statesOf(c *loader.Call) *loader.Registry {
	if states := c.Registry().Program().States; states != nil {
		return states
	}
	return loader.NewRegistry()
}

// hasFunction tells whether a state module has a function for the run. salt are modules that have it in Salt: they
// count as if they were here, so that a tree is shown as Salt shows it.
func hasFunction(c *loader.Call, name string, salt []string) func(module string) bool {
	states := statesOf(c)
	return func(module string) bool {
		_, ok := states.Lookup(module + "." + name)
		return ok || slices.Contains(salt, module)
	}
}

// within is a call whose functions see other options and another pillar.
func within(c *loader.Call, opts *payload.Map, pillar func() *payload.Map) *loader.Call {
	env, inner := *c.Env, *c
	env.Opts = func() *payload.Map { return opts }
	env.Pillar = pillar
	inner.Env = &env
	return &inner
}

// forbidden are globs of functions that state.disable keeps from running.
func forbidden(c *loader.Call) []string {
	v, _ := c.Grain(disabledGrain)
	return payload.Texts(v)
}

// meansOf tells whether a target of a top file means the minion of a call.
func meansOf(c *loader.Call) func(target any, items []any) (bool, error) {
	facts := &matchers.Facts{ID: c.ID, Grains: c.Grains, Pillar: c.Pillar, Nodegroups: c.Opts().Map("nodegroups")}
	return func(target any, items []any) (bool, error) {
		kind, err := confirm.Kind(items)
		if err != nil {
			return false, err
		}
		hit, err := matchers.Match(target, kind, "", facts)
		if err != nil {
			c.Log(slog.LevelError, fmt.Sprintf("top file: target %s: %s", python.Str(target), err))
		}
		return hit, nil
	}
}

// pillarOf is the pillar of a compilation: that of the minion where salt-call has one for the same environment, else a
// fresh one, with the keyword pillar over it.
func pillarOf(c *loader.Call, kw, opts *payload.Map, how settings) (*payload.Map, loader.PillarQuery, error) {
	var override *payload.Map
	var query loader.PillarQuery
	if given := kw.Value("pillar"); how.override && given != nil {
		m, isMap := given.(*payload.Map)
		switch {
		case kw.Value("pillar_enc") != nil:
			return nil, query, loader.ExecErr("Failed to decrypt pillar override: brine does not decrypt it yet")
		case !isMap:
			return nil, query, loader.InvocErr("Pillar data must be formatted as a dictionary, unless pillar_enc is specified.")
		}
		override = m
	}
	query = loader.PillarQuery{Saltenv: loader.Text(opts.Value("saltenv")),
		Pillarenv: loader.Text(opts.Value("pillarenv")), Override: override}
	source, same := c.Host().Secrets, payload.Equal(opts.Value("pillarenv"), c.Opts().Value("pillarenv"))
	has := c.Opts().Str("__cli") == "salt-call" && same && override.Len() == 0 && c.Pillar().Len() > 0
	if source == nil || has {
		pillar, _ := dicts.Clone(c.Pillar()).(*payload.Map)
		if pillar == nil {
			pillar = payload.NewMap(0)
		}
		dicts.Update(pillar, override, false)
		return pillar, query, nil
	}
	pillar, err := source.Compile(c.Ctx, query)
	return pillar, query, err
}

// badPillar is an answer: what is wrong with the pillar.
type badPillar struct{ lines []any }

func (*badPillar) Error() string { return "Pillar failed to render" }

// testValue is the option test of a compilation. Source: _get_test_value.
func testValue(c *loader.Call, test any, kw *payload.Map) any {
	switch test {
	case nil:
	case false:
		return false
	default:
		return true
	}
	for key, v := range kw.All() {
		if name, ok := key.(string); ok && strings.EqualFold(name, "test") && dicts.IsTrue(v) {
			return true
		}
	}
	grain, _ := c.Grain("test")
	if grain == true || c.Pillar().Value("test") == true {
		return true
	}
	return c.Opts().Value("test")
}

// render renders a file through the pipe of the options.
func render(c *loader.Call, file, sls, env string) (any, error) {
	pipe := c.Opts().Str("renderer")
	if pipe == "" {
		pipe = "jinja|yaml"
	}
	return slsutil.Compile(c, pipe, renderers.Input{Template: file, SLS: sls, Saltenv: env})
}

// renderText renders a text through the pipe of the options.
func renderText(c *loader.Call, text string) (any, error) {
	pipe := c.Opts().Str("renderer")
	if pipe == "" {
		pipe = "jinja|yaml"
	}
	return slsutil.Compile(c, pipe, renderers.Input{Data: text, Template: renderers.InString, Saltenv: "base"})
}
