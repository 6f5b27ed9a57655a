// Package test is the state module test: states that do nothing and return what an operator wants to see, to try
// requisites and to hold a place. Answers to salt/states/test.py.
package test

import (
	"math/rand/v2"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module test.
func Module() loader.Module {
	return loader.Module{File: "test", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("nop", succeed, "Do nothing, and succeed."),
			states.Fn("succeed_without_changes", succeed, "Succeed without changes."),
			states.Fn("fail_without_changes", fail, "Fail without changes."),
			states.Fn("succeed_with_changes", succeedChanged, "Succeed, and show changes that nobody made."),
			states.Fn("fail_with_changes", failChanged, "Fail, and show changes that nobody made."),
			states.Fn("configurable_test_state", configurable, "Return what the arguments say, or a random result."),
			states.Fn("show_notification", notify, "Show a text as the comment."),
			states.Fn("check_pillar", checkPillar, "Check that pillar has keys, and of which types they are."),
			states.Fn("mod_watch", watch, "Tell which watched states have changes."),
		}
	}}
}

type anything struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// comment is the comment of the arguments, or another.
func (a anything) comment(otherwise string) any {
	if v, ok := a.KW.Get("comment"); ok {
		return v
	}
	return otherwise
}

// pretended are changes that nobody made.
func pretended() *payload.Map {
	return payload.M("testing", payload.M("old", "Unchanged", "new", "Something pretended to change"))
}

func succeed(_ *states.Call, a anything) (states.Plan, error) {
	return states.Correct(a.comment("Success!")), nil
}

func fail(c *states.Call, a anything) (states.Plan, error) {
	if c.Test {
		return states.Wrong("If we weren't testing, this would be a failure!"), nil
	}
	return states.Wrong(a.comment("Failure!")), nil
}

func succeedChanged(_ *states.Call, a anything) (states.Plan, error) {
	return states.Would("If we weren't testing, this would be successful with changes", pretended(),
		func() (states.Done, error) { return states.Changed(a.comment("Success!"), pretended()) }), nil
}

func failChanged(_ *states.Call, a anything) (states.Plan, error) {
	return states.Would("If we weren't testing, this would be failed with changes", pretended(),
		func() (states.Done, error) { return states.Failed(a.comment("Failure!"), pretended()) }), nil
}

type configured struct {
	Name     any  `arg:"name"`
	Changes  any  `arg:"changes=True"`
	Result   any  `arg:"result=True"`
	Comment  any  `arg:"comment=''"`
	Warnings any  `arg:"warnings=None"`
	Fails    bool `arg:"allow_test_mode_failure=False"`
}

// truthOrRandom reads a truth value, or draws one.
func truthOrRandom(option string, v any) (bool, error) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	if strings.EqualFold(python.Str(v), "random") {
		return rand.IntN(2) == 1, nil
	}
	return false, loader.InvocErr("You have specified the state option '%s' with invalid arguments. It must be either "+
		"True, False, or 'Random'", option)
}

func configurable(_ *states.Call, a configured) (states.Plan, error) {
	changes, err := truthOrRandom("changes", a.Changes)
	if err != nil {
		return states.Plan{}, err
	}
	result, err := truthOrRandom("result", a.Result)
	if err != nil {
		return states.Plan{}, err
	}
	shown := payload.NewMap(0)
	if changes {
		shown = pretended()
	}
	comment := a.Comment
	if !python.Truth(comment) {
		comment = "This is a test"
	}
	p := states.Would(comment, shown, func() (states.Done, error) {
		return states.Done{Result: result, Comment: a.Comment, Changes: shown}, nil
	})
	switch {
	case a.Fails && a.Result == false:
		p.Result = false
	case a.Changes == false:
		p.Result = true
	}
	if a.Warnings == nil {
		return p, nil
	}
	return warned(p, a)
}

// warned adds the warnings of the arguments to a plan.
func warned(p states.Plan, a configured) (states.Plan, error) {
	warnings := a.Warnings
	switch v := warnings.(type) {
	case string:
		warnings = []any{v}
	case []any:
	default:
		return p, loader.InvocErr("You have specified the state option 'warnings' with invalid arguments. It must be a " +
			"string or a list of strings")
	}
	apply := p.Apply
	p.Apply = func() (states.Done, error) {
		done, err := apply()
		return done.With("warnings", warnings), err
	}
	return p.With("warnings", warnings), nil
}

type notification struct {
	Name any          `arg:"name"`
	Text any          `arg:"text=None"`
	KW   *payload.Map `arg:"**kwargs"`
}

func notify(_ *states.Call, a notification) (states.Plan, error) {
	if !python.Truth(a.Text) {
		return states.Plan{}, loader.InvocErr("Missing required argument text.")
	}
	return states.Correct(a.Text), nil
}

type watching struct {
	Name any          `arg:"name"`
	Sfun any          `arg:"sfun=None"`
	KW   *payload.Map `arg:"**kwargs"`
}

// watch is the same in test mode.
func watch(c *states.Call, a watching) (states.Plan, error) {
	changed := []any{}
	results := c.Run.Results()
	for _, v := range c.Chunk.Map("__reqs__").List("watch") {
		req, _ := v.(*payload.Map)
		if python.Truth(results.Map(low.Tag(req)).Value("changes")) {
			changed = append(changed, req.Str("state")+": "+req.Str("__id__"))
		}
	}
	p := states.Plan{Result: true, Comment: "Watch statement fired.",
		Changes: payload.M("Requisites with changes", changed)}
	if v, ok := a.KW.Get("result"); ok {
		p.Result = v
	}
	if v, ok := a.KW.Get("comment"); ok {
		p.Comment = v
	}
	if v, ok := a.KW.Get("changes"); ok {
		p.Changes, _ = v.(*payload.Map)
	}
	return p, nil
}
