// Package http is the state module http: states that ask a web server and look at what it answers. Answers to
// salt/states/http.py.
package http

import (
	"context"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/re"
)

// Module is the state module http.
func Module() loader.Module {
	return loader.Module{File: "http", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("query", query, "Ask a web server, and check its answer.", "http://example.com/:",
				"  http.query:", "    - status: 200"),
			states.Fn("wait_for_successful_query", wait, "Ask a web server until its answer is as wanted.",
				"http://example.com/:", "  http.wait_for_successful_query:", "    - match: SUCCESS",
				"    - status: 200", "    - wait_for: 60"),
		}
	}}
}

type question struct {
	Name       any          `arg:"name"`
	Match      any          `arg:"match=None"`
	MatchType  any          `arg:"match_type=string"`
	Status     any          `arg:"status=None"`
	StatusType any          `arg:"status_type=string"`
	WaitFor    any          `arg:"wait_for=None"`
	KW         *payload.Map `arg:"**kwargs"`
}

// query asks in test mode too, but only the test_url, which must not change anything.
func query(c *states.Call, a question) (states.Plan, error) {
	if a.Match == nil && a.Status == nil {
		return nothingToCheck(), nil
	}
	if !c.Test {
		return states.Plan{Apply: func() (states.Done, error) { return a.ask(c) }}, nil
	}
	done, err := a.ask(c)
	if err != nil {
		return states.Plan{}, err
	}
	comment := done.Comment.(string) + " (TEST MODE"
	if a.KW.Has("test_url") {
		comment += ", TEST URL WAS: " + python.Str(a.KW.Value("test_url"))
	}
	return states.Plan{Comment: comment + ")", Also: done.Also}, nil
}

func nothingToCheck() states.Plan {
	return states.Wrong(" Either match text (match) or a status code (status) is required.").
		With("data", payload.NewMap(0))
}

// ask asks once, or until an answer is no error, and checks the answer.
func (a question) ask(c *states.Call) (states.Done, error) {
	kw := a.KW.Clone()
	if !kw.Has("decode") {
		kw.Set("decode", false)
	}
	kw.Set("text", true).Set("status", true)
	if c.Test {
		kw.Set("test", true)
	}
	fun := "http.query"
	if python.Truth(a.WaitFor) {
		fun = "http.wait_for_successful_query"
		kw.Set("wait_for", a.WaitFor)
	}
	v, err := c.Salt(fun, kw, a.Name)
	if err != nil {
		return states.Done{}, err
	}
	data, _ := v.(*payload.Map)
	return a.judge(data)
}

// verdict is what the checks have found so far.
type verdict struct {
	result any
	told   []string
}

func (v *verdict) say(ok bool, what, found, missing string) {
	if !ok {
		v.result = false
		v.told = append(v.told, what+" "+missing)
		return
	}
	if v.result == nil {
		v.result = true
	}
	v.told = append(v.told, what+" "+found)
}

// judge compares an answer with what is wanted.
func (a question) judge(data *payload.Map) (states.Done, error) {
	v := &verdict{}
	if err := a.judgeText(v, data); err != nil {
		return states.Done{}, err
	}
	if err := a.judgeStatus(v, data); err != nil {
		return states.Done{}, err
	}
	return states.Done{Result: v.result, Comment: strings.Join(v.told, " ")}.With("data", data), nil
}

func (a question) judgeText(v *verdict, data *payload.Map) error {
	if a.Match == nil {
		return nil
	}
	want, text := python.Str(a.Match), loader.Text(data.Value("text"))
	switch a.MatchType {
	case "string":
		v.say(strings.Contains(text, want), `Match text "`+want+`"`, "was found.", "was not found.")
	case "pcre":
		ok, err := search(want, text)
		if err != nil {
			return err
		}
		v.say(ok, `Match pattern "`+want+`"`, "was found.", "was not found.")
	default:
		return loader.InvocErr("match_type must be string or pcre, not %s", python.Str(a.MatchType))
	}
	return nil
}

func (a question) judgeStatus(v *verdict, data *payload.Map) error {
	if a.Status == nil {
		return nil
	}
	want, got := python.Str(a.Status), loader.Text(data.Value("status"))
	switch a.StatusType {
	case "list":
		a.judgeList(v, got)
	case "pcre":
		ok, err := search(want, got)
		if err != nil {
			return err
		}
		v.say(ok, `Status pattern "`+want+`"`, "was found.", "was not found.")
	case "string":
		v.say(got == want, "Status "+want, "was found.", "was not found.")
	default:
		return loader.InvocErr("status_type must be string, pcre or list, not %s", python.Str(a.StatusType))
	}
	return nil
}

// judgeList wants one of several codes.
func (a question) judgeList(v *verdict, got string) {
	list, ok := a.Status.([]any)
	if !ok {
		list = []any{a.Status}
	}
	for _, one := range list {
		if python.Str(one) == got {
			v.say(true, "Status "+got, "was found.", "")
			return
		}
	}
	v.say(false, "Statuses "+python.Str(a.Status), "", "were not found.")
}

func search(pattern, text string) (bool, error) {
	p, err := re.CompileSearch(pattern)
	if err != nil {
		return false, loader.Raise("re.error", "%s", err)
	}
	return p.Match(text)
}

// between is the time between two questions that nobody has set. Unlike Salt, which asks again at once.
const between = 200 * time.Millisecond

type repeated struct {
	Name    any          `arg:"name"`
	WaitFor any          `arg:"wait_for=300"`
	KW      *payload.Map `arg:"**kwargs"`
}

// wait asks once in test mode. Unlike Salt, which asks there until all the time is over.
func wait(c *states.Call, a repeated) (states.Plan, error) {
	patience, ok := python.Number(a.WaitFor)
	if !ok {
		return states.Plan{}, &loader.ArgumentError{Message: "unsupported operand type(s) for +: 'float' and '" +
			python.Type(a.WaitFor) + "'"}
	}
	asked := loader.Fn("query", func(_ *loader.Call, q question) (question, error) { return q, nil }, "")
	bound, err := loader.Bind(&asked, []any{a.Name}, a.KW)
	if err != nil {
		return states.Plan{}, err
	}
	v, err := asked.Run(c.Call, bound)
	if err != nil {
		return states.Plan{}, err
	}
	q, _ := v.(question)
	p, err := query(c, q)
	if err != nil || p.Apply == nil {
		return p, err
	}
	ask, pause := p.Apply, between
	if n, ok := python.Number(a.KW.Value("request_interval")); ok {
		pause = time.Duration(n * float64(time.Second))
	}
	p.Apply = func() (states.Done, error) {
		return until(c.Ctx, time.Duration(patience*float64(time.Second)), pause, ask)
	}
	return p, nil
}

// until asks again until an answer is as wanted or patience is at its end.
func until(ctx context.Context, patience, pause time.Duration, ask func() (states.Done, error)) (states.Done, error) {
	for end := time.Now().Add(patience); ; {
		done, err := ask()
		if err == nil && done.Result == true || time.Now().After(end) {
			return done, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return states.Done{}, context.Cause(ctx)
		}
	}
}
