package cmd

import (
	"os"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type running struct {
	Name        any `arg:"name"`
	Cwd         any `arg:"cwd=None"`
	Root        any `arg:"root=None"`
	RunAs       any `arg:"runas=None"`
	Password    any `arg:"password=None"` // is for Windows
	Shell       any `arg:"shell=None"`
	Env         any `arg:"env=None"`
	PrependPath any `arg:"prepend_path=None"`
	Stateful    any `arg:"stateful=False"`
	told
	Timeout       any  `arg:"timeout=None"`
	IgnoreTimeout bool `arg:"ignore_timeout=False"`
	UseVT         any  `arg:"use_vt=False"`
	success
	KW *payload.Map `arg:"**kwargs"`
}

func run(c *states.Call, a running) (states.Plan, error) {
	how, err := statefulOf(a.Stateful)
	if err != nil || badEnv(a.Env) {
		return states.Wrong(envText), err
	}
	kw, err := a.keywords(c)
	if err != nil {
		return states.Plan{}, err
	}
	apply := func(line any) (states.Done, error) { return a.apply(c, line, kw, how) }
	if c.Test && how.test != nil {
		return how.tried(apply)
	}
	p := states.Would(`Command "`+python.Str(a.Name)+`" would have been executed`, payload.M("cmd", a.Name),
		func() (states.Done, error) { return apply(a.Name) })
	if how.is {
		p.Comment, p.Changes = "", nil
	}
	return p, nil
}

// keywords are those of the execution function.
func (a running) keywords(c *states.Call) (*payload.Map, error) {
	shell, err := shellOf(c, a.Shell)
	if err != nil {
		return nil, err
	}
	kw := a.KW.Clone()
	kw.Update(payload.M("cwd", a.Cwd, "root", a.Root, "runas", a.RunAs, "password", a.Password, "use_vt", a.UseVT,
		"shell", shell, "env", a.Env, "prepend_path", a.PrependPath, "output_loglevel", a.Loglevel,
		"hide_output", a.HideOutput, "success_retcodes", a.Retcodes, "success_stdout", a.success.Stdout,
		"success_stderr", a.success.Stderr, "timeout", a.Timeout, "python_shell", true))
	return kw, nil
}

func (a running) apply(c *states.Call, line any, kw *payload.Map, how stateful) (states.Done, error) {
	if text := noDirectory(a.Cwd); text != "" {
		return states.Failed(text, nil)
	}
	fun := "cmd.run_all"
	if python.Truth(a.Root) {
		fun = "cmd.run_chroot"
	}
	v, err := c.Salt(fun, kw.Clone().Set("cmd", line))
	if err != nil {
		if c.Ctx.Err() != nil {
			return states.Done{}, err
		}
		return states.Failed(loader.Message(err), nil)
	}
	ran, _ := v.(*payload.Map)
	result := !python.Truth(ran.Value("retcode"))
	if code, _ := ran.Int("retcode"); a.IgnoreTimeout && code == 1 &&
		strings.Contains(ran.Str("stdout"), "Timed out after") {
		ran.Set("retcode", int64(0))
		result = true
	}
	return how.read(states.Done{Result: result, Comment: `Command "` + python.Str(line) + `" run`, Changes: ran})
}

// shellOf is the shell of the arguments, or that of the minion.
func shellOf(c *states.Call, given any) (any, error) {
	if python.Truth(given) {
		return given, nil
	}
	shell, ok := c.Grain("shell")
	if !ok {
		return nil, loader.Raise("KeyError", "'shell'")
	}
	return shell, nil
}

const envText = "Invalidly-formatted 'env' parameter. See documentation."

func badEnv(env any) bool {
	switch env.(type) {
	case nil, []any, *payload.Map:
		return false
	}
	return true
}

// noDirectory says that the directory is not there; "" where it is, or none is wanted.
func noDirectory(cwd any) string {
	if !python.Truth(cwd) {
		return ""
	}
	if info, err := os.Stat(python.Str(cwd)); err == nil && info.IsDir() {
		return ""
	}
	return `Desired working directory "` + python.Str(cwd) + `" is not available`
}

func notCallable(v any) error {
	return &loader.ArgumentError{Message: "'" + python.Type(v) + "' object is not callable"}
}
