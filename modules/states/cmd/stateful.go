package cmd

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
	"brine/wire/python/shlex"
)

// stateful says whether the output of a command tells what it changed, and which command tells it in test mode.
type stateful struct {
	is   bool
	test any // nil: none
}

// statefulOf reads the argument: True, or a list with a map that has test_name.
func statefulOf(v any) (stateful, error) {
	list, ok := v.([]any)
	if !ok {
		return stateful{is: v == true}, nil
	}
	if len(list) == 0 {
		return stateful{}, loader.Raise("IndexError", "list index out of range")
	}
	out := stateful{is: true}
	if first, ok := list[0].(*payload.Map); ok && python.Truth(first.Value("test_name")) {
		out.test = first.Value("test_name")
	}
	return out, nil
}

// tried is the plan that the command for test mode makes: it is run, and tells what the other one would do.
func (how stateful) tried(apply func(line any) (states.Done, error)) (states.Plan, error) {
	done, err := apply(how.test)
	if done.Result == true && done.Changes.Len() > 0 {
		done.Result = nil
	}
	return states.Plan{Result: done.Result, Comment: done.Comment, Changes: done.Changes, Also: done.Also}, err
}

// read takes the output of the command for what it changed, where that is wanted.
func (how stateful) read(done states.Done) (states.Done, error) {
	if !how.is {
		return done, nil
	}
	return reinterpreted(done)
}

const (
	notObject = "script JSON output must be a JSON object (e.g., {})!"
	notPairs  = "Failed parsing script output! Stdout must be JSON or a line of name=value pairs."
)

// reinterpreted has the last line of the output, or all of it as JSON, tell what was changed.
func reinterpreted(done states.Done) (states.Done, error) {
	ran := done.Changes
	if ran.Len() == 0 { // nothing ran, and the comment says why
		return done, nil
	}
	out := ran.Str("stdout")
	done.Changes, done.Comment = nil, ""
	if out == "" {
		if python.Truth(ran.Value("stderr")) {
			done.Comment = ran.Value("stderr")
		}
		return done, nil
	}
	data, rest := payload.NewMap(0), ""
	if v, err := pyjson.Load(out); err == nil {
		object, ok := v.(*payload.Map)
		if !ok {
			return states.Failed(notObject, nil)
		}
		data = object
	} else {
		line := out
		if i := strings.LastIndexByte(strings.TrimRightFunc(out, python.IsSpace), '\n'); i >= 0 {
			rest, line = out[:i], out[i+1:]
		}
		if !pairs(data, line) {
			return states.Failed(notPairs, ran)
		}
	}
	return changed(done, ran, data, rest)
}

// pairs reads words like name=value; false when there are others.
func pairs(into *payload.Map, line string) bool {
	words, err := shlex.Split(line)
	if err != nil {
		return false
	}
	for _, word := range words {
		key, v, ok := strings.Cut(word, "=")
		if !ok || strings.Contains(v, "=") {
			return false
		}
		into.Set(key, v)
	}
	return true
}

// changed makes what a command told the result of its state. Unlike Salt: of an output of one line nothing stays, as of
// one of several lines the last does not, where Salt cuts its last letter.
func changed(done states.Done, ran, data *payload.Map, rest string) (states.Done, error) {
	yes, err := truthOf(data)
	if err != nil {
		return states.Done{}, err
	}
	if v, ok := data.Get("comment"); ok {
		done.Comment = v
		data.Delete("comment")
	}
	if !yes {
		return done, nil
	}
	for key, v := range ran.All() {
		if !data.Has(key) {
			data.Set(key, v)
		}
	}
	done.Changes = data.Set("stdout", rest)
	return done, nil
}

// truthOf is what a command says of changes.
func truthOf(data *payload.Map) (bool, error) {
	v, ok := data.Get("changed")
	if !ok {
		return false, nil
	}
	switch strings.ToLower(python.Str(v)) {
	case "true", "yes", "1":
		return true, nil
	case "false", "no", "0":
		return false, nil
	}
	return false, loader.Raise("ValueError", "Failed parsing boolean value: %s", python.Str(v))
}
