// Package loop is the state module loop: states that call an execution function again and again until it returns what is
// wanted. Answers to salt/states/loop.py.
package loop

import (
	"context"
	"fmt"
	"time"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module loop.
func Module() loader.Module {
	return loader.Module{File: "loop", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("until", until, "Call a function until an expression with what it returned (m_ret) is true.",
				"service.status:", "  loop.until:", "    - m_args: [nginx]", "    - condition: m_ret == True",
				"    - timeout: 60"),
			states.Fn("until_no_eval", untilEqual, "Call a function until what it returns compares well with a value.",
				"service.status:", "  loop.until_no_eval:", "    - args: [nginx]", "    - expected: true"),
		}
	}}
}

type conditional struct {
	Name      any `arg:"name"`
	Args      any `arg:"m_args=None"`
	KW        any `arg:"m_kwargs=None"`
	Condition any `arg:"condition=None"`
	Period    any `arg:"period=1"`
	Timeout   any `arg:"timeout=60"`
}

const (
	noPeriod  = "Period must be specified as a float in seconds"
	noTimeout = "Timeout must be specified as a float in seconds"
)

func until(c *states.Call, a conditional) (states.Plan, error) {
	name, condition := python.Str(a.Name), python.Str(a.Condition)
	period, ok := seconds(a.Period)
	patience, fine := seconds(a.Timeout)
	switch {
	case !c.Has(name):
		return states.Wrong("Cannot find module " + name), nil
	case a.Condition == nil:
		return states.Wrong("An exit condition must be specified"), nil
	case !ok:
		return states.Wrong(noPeriod), nil
	case !fine:
		return states.Wrong(noTimeout), nil
	}
	return states.Would("The execution module "+name+" will be run", nil, func() (states.Done, error) {
		met, _, err := repeat(c.Ctx, patience, period, func() (bool, error) {
			v, err := callWith(c, name, a.Args, a.KW)
			if err != nil {
				return false, err
			}
			return holds(c, condition, payload.M("m_ret", v))
		})
		switch {
		case err != nil:
			return states.Done{}, err
		case met:
			return states.Changed("Condition "+condition+" was met", nil)
		}
		return states.Failed("Timed out while waiting for condition "+condition, nil)
	}), nil
}

// callWith calls a function with a list and a map of arguments.
func callWith(c *states.Call, name string, args, kw any) (any, error) {
	list, ok := args.([]any)
	named, fine := kw.(*payload.Map)
	switch {
	case args != nil && !ok:
		return nil, &loader.ArgumentError{Message: "the arguments must be a list, not " + python.Type(args)}
	case kw != nil && !fine:
		return nil, &loader.ArgumentError{Message: "the keywords must be a dict, not " + python.Type(kw)}
	}
	return c.Salt(name, named, list...)
}

// seconds is a number as a time.
func seconds(v any) (time.Duration, bool) {
	n, ok := python.Number(v)
	return time.Duration(n * float64(time.Second)), ok
}

// repeat calls try until it says true, an error comes, or patience is at its end. times is how often it was called.
func repeat(ctx context.Context, patience, period time.Duration, try func() (bool, error)) (met bool, times int,
	err error) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		times++
		if met, err = try(); met || err != nil {
			return met, times, err
		}
		if err = pause(ctx, period); err != nil {
			return false, times, err
		}
	}
	return false, times, nil
}

// pause waits, or gives the cause of ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type compared struct {
	Name     any `arg:"name"`
	Expected any `arg:"expected"`
	Operator any `arg:"compare_operator=eq"`
	Timeout  any `arg:"timeout=60"`
	Period   any `arg:"period=1"`
	InitWait any `arg:"init_wait=0"`
	Args     any `arg:"args=None"`
	KW       any `arg:"kwargs=None"`
}

func untilEqual(c *states.Call, a compared) (states.Plan, error) {
	would := fmt.Sprintf(`Would have waited for "%s" to produce "%s".`, python.Str(a.Name), python.StrOrdered(a.Expected))
	return states.Would(would, nil, func() (states.Done, error) { return a.apply(c) }), nil
}

// apply finds faults of the arguments only here: a state before this one may bring the function that is missing.
func (a compared) apply(c *states.Call) (states.Done, error) {
	name, operator := python.Str(a.Name), python.Str(a.Operator)
	period, ok := seconds(a.Period)
	patience, fine := seconds(a.Timeout)
	compare := comparison(c, operator, a.Expected)
	switch {
	case !c.Has(name):
		return states.Failed(`Module.function "`+name+`" is unavailable.`, nil)
	case !ok:
		return states.Failed(noPeriod, nil)
	case !fine:
		return states.Failed(noTimeout, nil)
	case compare == nil:
		return states.Failed(`Invalid operator "`+operator+`" supplied.`, nil)
	}
	if python.Truth(a.InitWait) {
		wait, _ := seconds(a.InitWait)
		if err := pause(c.Ctx, wait); err != nil {
			return states.Done{}, err
		}
	}
	var failed error
	met, times, err := repeat(c.Ctx, patience, period, func() (bool, error) {
		v, err := callWith(c, name, a.Args, a.KW)
		if failed = err; err != nil {
			return false, err
		}
		return compare(v)
	})
	switch {
	case failed != nil && c.Ctx.Err() == nil:
		return states.Failed(fmt.Sprintf("Exception occurred while executing %s: <class '%s'>:%s", name,
			loader.ClassOf(failed), loader.Message(failed)), nil)
	case err != nil:
		return states.Done{}, err
	case met:
		return states.Changed(fmt.Sprintf("Call provided the expected results in %d attempts", times), nil)
	}
	return states.Failed(fmt.Sprintf("Call did not produce the expected result after %d attempts", times), nil)
}
