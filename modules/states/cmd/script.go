package cmd

import (
	"errors"
	"strings"
	"syscall"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type scripted struct {
	Name     any `arg:"name"`
	Source   any `arg:"source=None"`
	Template any `arg:"template=None"`
	Cwd      any `arg:"cwd=None"`
	RunAs    any `arg:"runas=None"`
	Password any `arg:"password=None"` // is for Windows
	Shell    any `arg:"shell=None"`
	Env      any `arg:"env=None"`
	Stateful any `arg:"stateful=False"`
	Timeout  any `arg:"timeout=None"`
	UseVT    any `arg:"use_vt=False"`
	told
	Defaults any `arg:"defaults=None"`
	Context  any `arg:"context=None"`
	success
	KW *payload.Map `arg:"**kwargs"`
}

func script(c *states.Call, a scripted) (states.Plan, error) {
	how, err := statefulOf(a.Stateful)
	switch {
	case err != nil:
		return states.Plan{}, err
	case badEnv(a.Env):
		return states.Wrong(envText), nil
	case badContext(a.Context):
		return states.Wrong("Invalidly-formatted 'context' parameter. Must be formed as a dict."), nil
	case badContext(a.Defaults):
		return states.Wrong("Invalidly-formatted 'defaults' parameter. Must be formed as a dict."), nil
	}
	kw, err := a.keywords(c)
	if err != nil {
		return states.Plan{}, err
	}
	apply := func(name any) (states.Done, error) { return a.apply(c, name, kw.Clone(), how) }
	if c.Test && how.test != nil {
		p, err := how.tried(apply)
		p.Name = how.test
		return p, err
	}
	p := states.Would("Command '"+python.Str(a.Name)+"' would have been executed", nil,
		func() (states.Done, error) { return apply(a.Name) })
	if how.is {
		p.Comment = ""
	}
	return p, nil
}

func badContext(v any) bool {
	_, isMap := v.(*payload.Map)
	return python.Truth(v) && !isMap
}

// keywords are those of the execution function.
func (a scripted) keywords(c *states.Call) (*payload.Map, error) {
	shell, err := shellOf(c, a.Shell)
	if err != nil {
		return nil, err
	}
	variables := payload.NewMap(0)
	for _, v := range []any{a.Defaults, a.Context} {
		if m, ok := v.(*payload.Map); ok {
			variables.Update(m)
		}
	}
	kw := a.KW.Clone()
	kw.Update(payload.M("runas", a.RunAs, "password", a.Password, "shell", shell, "env", a.Env, "cwd", a.Cwd,
		"template", a.Template, "timeout", a.Timeout, "output_loglevel", a.Loglevel, "hide_output", a.HideOutput,
		"use_vt", a.UseVT, "context", variables, "saltenv", c.Saltenv, "success_retcodes", a.Retcodes,
		"success_stdout", a.success.Stdout, "success_stderr", a.success.Stderr, "python_shell", true))
	return kw, nil
}

func (a scripted) apply(c *states.Call, name any, kw *payload.Map, how stateful) (states.Done, error) {
	source := a.Source
	if source == nil {
		source = name
	}
	if words := afterFirst(python.Str(name)); words != "" && !python.Truth(kw.Value("args")) {
		kw.Set("args", words)
	}
	if text := noDirectory(a.Cwd); text != "" {
		return states.Failed(text, nil)
	}
	v, err := c.Salt("cmd.script", kw, source)
	if err != nil {
		if foreseen(err) && c.Ctx.Err() == nil {
			return states.Failed(loader.Message(err), nil)
		}
		return states.Done{}, err
	}
	ran, _ := v.(*payload.Map)
	code, known := ran.Get("retcode")
	if !known { // it could not be started, which the log tells
		return states.Done{}, loader.Raise("KeyError", "'retcode'")
	}
	done := states.Done{Result: !python.Truth(code), Comment: "Command '" + python.Str(name) + "' run", Changes: ran}
	if python.Truth(a.KW.Value("retcode")) {
		done.Result = ran.Len() == 0
	}
	if python.Truth(ran.Value("cache_error")) {
		done.Comment = "Unable to cache script " + python.Str(source) + " from saltenv '" + c.Saltenv + "'"
	}
	return how.read(done)
}

// afterFirst are the words behind the first one, as they stand: the arguments of the script.
func afterFirst(line string) string {
	if len(strings.FieldsFunc(line, python.IsSpace)) < 2 {
		return ""
	}
	_, rest, _ := strings.Cut(line, " ")
	return rest
}

// foreseen tells the errors that are the comment of a failing state; others end it with an exception.
func foreseen(err error) bool {
	var (
		exec   *loader.CommandExecutionError
		number syscall.Errno
	)
	return errors.As(err, &exec) || errors.As(err, &number) || loader.ClassOf(err) == "salt.exceptions.SaltRenderError"
}
