package state

import (
	"errors"
	"log/slog"
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/states/run/high"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// applying are the functions that apply states.
func applying() []loader.Func {
	return []loader.Func{
		loader.Fn("apply", apply, "Apply SLS files, or without any the highstate.", "state.apply",
			"state.apply stuff", "state.apply stuff pillar='{\"foo\": \"bar\"}'", "state.apply stuff test=True").
			Named("apply_").Shows("highstate"),
		loader.Fn("sls", sls, "Apply SLS files, a list or a text with commas.", "state.sls core,edit.vim saltenv=dev",
			"state.sls core exclude=\"[{'id': 'id_to_exclude'}, {'sls': 'sls_to_exclude'}]\"").Shows("highstate"),
		loader.Fn("highstate", highstate, "Apply what the top files give the minion.", "state.highstate",
			"state.highstate exclude=sls_to_exclude", "state.highstate pillar=\"{foo: 'Foo!'}\"").Shows("highstate"),
		loader.Fn("top", applyTop, "Apply what another top file gives the minion.", "state.top reverse_top.sls").
			Shows("highstate"),
		loader.Fn("test", applyTest, "Show what state.apply would do.", "state.test", "state.test core,edit.vim").
			Shows("highstate"),
		loader.Fn("sls_id", slsID, "Apply an ID of SLS files, with what it requires.", "state.sls_id my_state my_module").
			Shows("highstate"),
	}
}

type (
	applied struct {
		Mods any          `arg:"mods=None"`
		KW   *payload.Map `arg:"**kwargs"`
	}
	slsArgs struct {
		Mods     any          `arg:"mods"`
		Test     any          `arg:"test=None"`
		Exclude  any          `arg:"exclude=None"`
		Queue    any          `arg:"queue=None"`
		SyncMods any          `arg:"sync_mods=None"`
		Events   any          `arg:"state_events=None"`
		KW       *payload.Map `arg:"**kwargs"`
	}
	highstateArgs struct {
		Test   any          `arg:"test=None"`
		Queue  any          `arg:"queue=None"`
		Events any          `arg:"state_events=None"`
		KW     *payload.Map `arg:"**kwargs"`
	}
	topArgs struct {
		File  string       `arg:"topfn"`
		Test  any          `arg:"test=None"`
		Queue any          `arg:"queue=None"`
		KW    *payload.Map `arg:"**kwargs"`
	}
	testArgs struct {
		Mods []any        `arg:"*args"`
		KW   *payload.Map `arg:"**kwargs"`
	}
	slsIDArgs struct {
		ID     any          `arg:"id_"`
		Mods   any          `arg:"mods"`
		Test   any          `arg:"test=None"`
		Queue  any          `arg:"queue=None"`
		Events any          `arg:"state_events=None"`
		KW     *payload.Map `arg:"**kwargs"`
	}
)

// take moves a keyword of a function's own out of those that go on.
func take(kw *payload.Map, key string) any {
	v := kw.Value(key)
	kw.Delete(key)
	return v
}

func apply(c *loader.Call, a applied) (any, error) {
	kw := a.KW.Clone()
	if !python.Truth(a.Mods) {
		return highstate(c, highstateArgs{take(kw, "test"), take(kw, "queue"), take(kw, "state_events"), kw})
	}
	return sls(c, slsArgs{a.Mods, take(kw, "test"), take(kw, "exclude"), take(kw, "queue"), take(kw, "sync_mods"),
		take(kw, "state_events"), kw})
}

func applyTest(c *loader.Call, a testArgs) (any, error) {
	if len(a.Mods) > 1 {
		return nil, &loader.ArgumentError{Message: "apply_() takes from 0 to 1 positional arguments but " +
			python.Str(int64(len(a.Mods))) + " were given"}
	}
	in := applied{KW: a.KW.Clone().Set("test", true)}
	if len(a.Mods) == 1 {
		in.Mods = a.Mods[0]
	}
	return apply(c, in)
}

// withPillar makes a session for a run; a pillar with errors is an answer.
//
// Unlike Salt: an argument that means nothing here is told in the log.
func withPillar(c *loader.Call, test, events any, kw *payload.Map, base bool) (s *session, refused any, err error) {
	return sessionFor(c, test, events, kw, settings{base: base, told: true})
}

// anyPillar makes a session for a run that goes on with a pillar that has errors.
func anyPillar(c *loader.Call, test any, kw *payload.Map) (s *session, refused any, err error) {
	return sessionFor(c, test, nil, kw, settings{anyPillar: true})
}

// sessionFor makes a session for a run.
func sessionFor(c *loader.Call, test, events any, kw *payload.Map, how settings) (s *session, refused any, err error) {
	refuseUnknown(c, kw)
	how.test, how.setTest, how.override = testValue(c, test, kw), true, true
	s, err = begin(c, kw, how)
	var bad *badPillar
	if errors.As(err, &bad) {
		return nil, bad.lines, nil
	}
	if err == nil && events != nil {
		s.opts.Set("state_events", events)
	}
	return s, nil, err
}

// unhonoured are keywords of Salt that mean nothing here yet.
var unhonoured = []string{"localconfig"}

// refuseUnknown warns of keywords that are not honoured.
func refuseUnknown(c *loader.Call, kw *payload.Map) {
	for _, key := range unhonoured {
		if kw.Has(key) {
			c.LogAs("salt.loaded.int.module.state", slog.LevelWarn, "brine does not honour the argument "+key+" yet")
		}
	}
}

func sls(c *loader.Call, a slsArgs) (any, error) {
	if conflict, err := turn(c, a.Queue, a.KW); conflict != nil || err != nil {
		return conflict, err
	}
	mods, isList := a.Mods.([]any)
	if !isList {
		mods = []any{a.Mods}
	}
	if disabled := disabledSLS(c, mods); len(disabled) > 0 {
		return refuse(c, disabled), nil
	}
	s, refused, err := withPillar(c, a.Test, a.Events, a.KW, true)
	if s == nil || err != nil {
		return refused, err
	}
	if err := syncMods(s, a.SyncMods); err != nil {
		return nil, err
	}
	h := how{mock: python.Truth(a.KW.Value("mock")), orchJ: a.KW.Value("orchestration_jid")}
	if python.Truth(a.KW.Value("cache")) {
		if data := cached(c, a.KW); data != nil {
			return s.carryOut(c, data, h)
		}
	}
	data, errs, err := s.High(c.Ctx, payload.M(python.Str(s.opts.Value("saltenv")), splitInput(a.Mods)))
	if err != nil || len(errs) > 0 {
		return refuse(c, errs), err
	}
	exclude(data, a.Exclude, splitInput)
	kept := deepCopy(data)
	ret, err := s.carryOut(c, data, h)
	if err != nil {
		return nil, err
	}
	ret = terse(c, ret, a.KW)
	keep(c, "sls.p", ret)
	answer(c, ret)
	keep(c, cacheName(a.KW), kept)
	return ret, nil
}

// exclude adds what a keyword excludes to high data.
func exclude(data *payload.Map, v any, split func(any) []any) {
	if python.Truth(v) {
		data.Set(high.ExcludeKey, append(slices.Clone(data.List(high.ExcludeKey)), split(v)...))
	}
}

// terse leaves out what went well without changes, where that is wanted.
func terse(c *loader.Call, ret any, kw *payload.Map) any {
	results, isMap := ret.(*payload.Map)
	if !isMap || c.Opts().Str("state_data") != "terse" && !python.Truth(kw.Value("terse")) {
		return ret
	}
	out := payload.NewMap(0)
	for tag, v := range results.All() {
		if m, ok := v.(*payload.Map); ok && (!python.Truth(m.Value("result")) || m.Map("changes").Len() > 0) {
			out.Set(tag, v)
		}
	}
	return out
}

// noStates is the return of a run for which there are no states.
func noStates(comment string) *payload.Map {
	return payload.M("no_|-states_|-states_|-None", payload.M("result", false, "comment", comment, "name", "No States",
		"changes", payload.NewMap(0), "__run_num__", int64(0)))
}

func highstate(c *loader.Call, a highstateArgs) (any, error) {
	if len(disabledSLS(c, []any{"highstate"})) > 0 {
		return payload.M("name", "Salt highstate run is disabled. To re-enable, run state.enable highstate", "result",
			"False", "comment", "Disabled"), nil
	}
	if conflict, err := turn(c, a.Queue, a.KW); conflict != nil || err != nil {
		return conflict, err
	}
	s, refused, err := withPillar(c, a.Test, a.Events, a.KW, false)
	if s == nil || err != nil {
		return refused, err
	}
	ret, err := s.highstate(c, a.KW)
	if err != nil {
		return nil, err
	}
	ret = terse(c, ret, a.KW)
	answer(c, ret)
	return ret, nil
}

// highstate applies what the top files give. Source: BaseHighState.call_highstate.
func (s *session) highstate(c *loader.Call, kw *payload.Map) (any, error) {
	h := how{mock: python.Truth(kw.Value("mock")), orchJ: kw.Value("orchestration_jid")}
	if python.Truth(kw.Value("cache")) {
		if data := cached(c, kw); data != nil {
			return s.carryOut(c, data, h)
		}
	}
	matches, errs, err := s.Matches(c.Ctx)
	if err != nil {
		if c.Ctx.Err() != nil {
			return nil, err
		}
		return noStates("Unable to render top file: " + loader.Message(err)), nil
	}
	if matches.Len() == 0 {
		return noStates("No Top file or master_tops data matches found. Please see master log for details."), nil
	}
	matches = whitelisted(matches, kw.Value("whitelist"))
	data, more, err := s.High(c.Ctx, matches)
	if err != nil {
		return nil, err
	}
	exclude(data, kw.Value("exclude"), func(v any) []any {
		if text, ok := v.(string); ok {
			return payload.AnyList(strings.Split(text, ","))
		}
		list, _ := v.([]any)
		return list
	})
	if errs = append(errs, more...); len(errs) > 0 {
		return payload.AnyList(errs), nil
	}
	if data.Len() == 0 {
		return noStates("No states found for this minion"), nil
	}
	keep(c, cacheName(kw), data)
	return s.carryOut(c, data, h)
}

// whitelisted keeps the SLS that a keyword names.
func whitelisted(matches *payload.Map, v any) *payload.Map {
	if !python.Truth(v) {
		return matches
	}
	list, isList := v.([]any)
	if !isList {
		list = payload.AnyList(strings.Split(python.Str(v), ","))
	}
	out := payload.NewMap(matches.Len())
	for env, names := range matches.All() {
		var left []any
		all, _ := names.([]any)
		for _, name := range all {
			if slices.ContainsFunc(list, func(glob any) bool { return fnmatch.Match(python.Str(glob), python.Str(name)) }) {
				left = append(left, name)
			}
		}
		if len(left) > 0 {
			out.Set(env, left)
		}
	}
	return out
}

func applyTop(c *loader.Call, a topArgs) (any, error) {
	if conflict, err := turn(c, a.Queue, a.KW); conflict != nil || err != nil {
		return conflict, err
	}
	s, refused, err := withTop(c, a)
	if s == nil || err != nil {
		return refused, err
	}
	ret, err := s.highstate(c, a.KW)
	if err == nil {
		answer(c, ret)
	}
	return ret, err
}

// withTop is withPillar with another top file.
func withTop(c *loader.Call, a topArgs) (*session, any, error) {
	inner := *c
	env := *c.Env
	opts := c.Opts().Clone().Set("state_top", a.File)
	if v, given := a.KW.Get("saltenv"); given {
		opts.Set("state_top_saltenv", v)
	}
	env.Opts = func() *payload.Map { return opts }
	inner.Env = &env
	return withPillar(&inner, a.Test, nil, a.KW.Clone().Set("__top", a.File), false)
}

// slsID applies the chunks of one ID, and those that they require.
func slsID(c *loader.Call, a slsIDArgs) (any, error) {
	if conflict, err := turn(c, a.Queue, a.KW); conflict != nil || err != nil {
		return conflict, err
	}
	s, refused, err := withPillar(c, a.Test, a.Events, a.KW, true)
	if s == nil || err != nil {
		return refused, err
	}
	env := python.Str(s.opts.Value("saltenv"))
	data, errs, err := s.High(c.Ctx, payload.M(env, splitInput(a.Mods)))
	if err != nil {
		return nil, err
	}
	errs = append(errs, high.Verify(data)...)
	steps, left, errs := s.Steps(data, errs)
	if len(errs) > 0 {
		return refuse(c, errs), nil
	}
	wanted := ofID(steps, a.ID)
	if len(wanted) == 0 {
		c.SetRetcode(exitFailure)
		return nil, loader.InvocErr("No matches for ID '%s' found in SLS '%s' within saltenv '%s'", python.Str(a.ID),
			python.Str(a.Mods), env)
	}
	_ = left // a chunk that is disabled is none of those that the ID has
	ret, err := s.carry(c, wanted, nil, how{})
	if err == nil {
		answer(c, ret)
	}
	return ret, err
}
