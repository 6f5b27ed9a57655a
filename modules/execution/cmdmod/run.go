package cmdmod

import (
	"log/slog"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// runArgs are the parameters of cmd.run.
type runArgs struct {
	usual
	RedirectStderr bool   `arg:"redirect_stderr=True"`
	BG             bool   `arg:"bg=False"`
	Password       any    `arg:"password=None"`
	EncodedCmd     bool   `arg:"encoded_cmd=False"`
	RaiseErr       bool   `arg:"raise_err=False"`
	PrependPath    string `arg:"prepend_path=None"`
	rules
	KW *payload.Map `arg:"**kwargs"`
}

func run(c *loader.Call, a runArgs) (any, error) {
	o := common(a.KW)
	o.usual, o.rules, o.RedirectStderr, o.BG = a.usual, a.rules, a.RedirectStderr, a.BG
	o.EncodedCmd, o.RaiseErr, o.PrependPath = a.EncodedCmd, a.RaiseErr, a.PrependPath
	return runMerged(c, o)
}

// runMerged is cmd.run: output with standard error in it.
func runMerged(c *loader.Call, o *options) (any, error) {
	r, err := perform(c, o, o.RedirectStderr)
	if err != nil {
		return nil, err
	}
	if err := logRun(c, o, r); err != nil {
		return nil, err
	}
	if o.HideOutput {
		return "", nil
	}
	return r.Str("stdout"), nil
}

// logRun writes the lines cmd.run adds to those of the common part, and turns a failure into an error when asked.
func logRun(c *loader.Call, o *options, r ran) error {
	level, known := levelOf(o.Loglevel)
	if !known {
		logUnknownLevel(c, o.Loglevel)
	}
	if level == levelQuiet {
		return nil
	}
	code, _ := r.Get("retcode")
	if !o.IgnoreRetcode && failed(code) {
		level = max(level, slog.LevelError)
		logFailure(c, o.Cmd, code)
		if o.RaiseErr {
			if o.HideOutput {
				return loader.ExecErr("")
			}
			return loader.ExecErr("%s", r.Str("stdout"))
		}
	}
	c.Log(level, "output: "+r.Str("stdout"))
	return nil
}

type shellArgs struct {
	Cmd any `arg:"cmd"`
	where
	made
	told
	kept
	BG          bool   `arg:"bg=False"`
	Password    any    `arg:"password=None"`
	PrependPath string `arg:"prepend_path=None"`
	rules
	KW *payload.Map `arg:"**kwargs"`
}

func runShell(c *loader.Call, a shellArgs) (any, error) {
	o := common(a.KW)
	o.Cmd, o.where, o.made, o.told, o.kept, o.rules = a.Cmd, a.where, a.made, a.told, a.kept, a.rules
	o.BG, o.PrependPath, o.RedirectStderr = a.BG, a.PrependPath, true
	o.PythonShell = o.PythonShell == nil || python.Truth(o.PythonShell)
	return runMerged(c, o)
}

// streamArgs are the parameters of the functions that return one output.
type streamArgs struct {
	usual
	Password    any    `arg:"password=None"`
	PrependPath string `arg:"prepend_path=None"`
	rules
	KW *payload.Map `arg:"**kwargs"`
}

func runStdout(c *loader.Call, a streamArgs) (any, error) { return oneStream(c, a, "stdout") }

func runStderr(c *loader.Call, a streamArgs) (any, error) { return oneStream(c, a, "stderr") }

func oneStream(c *loader.Call, a streamArgs, name string) (any, error) {
	o := common(a.KW)
	o.usual, o.rules, o.PrependPath = a.usual, a.rules, a.PrependPath
	r, err := perform(c, o, false)
	if err != nil {
		return nil, err
	}
	if o.HideOutput {
		return "", nil
	}
	return r.Str(name), nil
}

type allArgs struct {
	usual
	RedirectStderr bool   `arg:"redirect_stderr=False"`
	Password       any    `arg:"password=None"`
	EncodedCmd     bool   `arg:"encoded_cmd=False"`
	PrependPath    string `arg:"prepend_path=None"`
	rules
	KW *payload.Map `arg:"**kwargs"`
}

func runAll(c *loader.Call, a allArgs) (any, error) {
	o := common(a.KW)
	o.usual, o.rules = a.usual, a.rules
	o.RedirectStderr, o.EncodedCmd, o.PrependPath = a.RedirectStderr, a.EncodedCmd, a.PrependPath
	r, err := perform(c, o, o.RedirectStderr)
	if err != nil {
		return nil, err
	}
	return hidden(o, r.Map), nil
}

// hidden empties the output in a result when the caller does not want to see it.
func hidden(o *options, m *payload.Map) *payload.Map {
	if o.HideOutput {
		m.Set("stdout", "").Set("stderr", "")
	}
	return m
}

type retcodeArgs struct {
	Cmd any `arg:"cmd"`
	where
	PythonShell any    `arg:"python_shell=None"`
	Env         any    `arg:"env=None"`
	CleanEnv    bool   `arg:"clean_env=False"`
	Template    any    `arg:"template=None"`
	Umask       any    `arg:"umask=None"`
	Encoding    string `arg:"output_encoding=None"`
	Loglevel    any    `arg:"output_loglevel=debug"`
	LogCallback bool   `arg:"log_callback=None"`
	Timeout     any    `arg:"timeout=None"`
	kept
	Password any `arg:"password=None"`
	rules
	KW *payload.Map `arg:"**kwargs"`
}

func retcode(c *loader.Call, a retcodeArgs) (any, error) {
	o := common(a.KW)
	o.Cmd, o.where, o.PythonShell, o.kept, o.rules = a.Cmd, a.where, a.PythonShell, a.kept, a.rules
	o.Env, o.CleanEnv, o.Template, o.Umask = a.Env, a.CleanEnv, a.Template, a.Umask
	o.Encoding, o.Loglevel, o.LogCallback, o.Timeout = a.Encoding, a.Loglevel, a.LogCallback, a.Timeout
	r, err := perform(c, o, true)
	if err != nil {
		return nil, err
	}
	return r.Value("retcode"), nil
}

type bgArgs struct {
	Cmd           any    `arg:"cmd"`
	Cwd           any    `arg:"cwd=None"`
	RunAs         string `arg:"runas=None"`
	Group         string `arg:"group=None"`
	Shell         string `arg:"shell=/bin/sh"`
	PythonShell   any    `arg:"python_shell=None"`
	Env           any    `arg:"env=None"`
	CleanEnv      bool   `arg:"clean_env=False"`
	Template      any    `arg:"template=None"`
	Umask         any    `arg:"umask=None"`
	Timeout       any    `arg:"timeout=None"`
	Encoding      string `arg:"output_encoding=None"`
	Loglevel      any    `arg:"output_loglevel=debug"`
	LogCallback   bool   `arg:"log_callback=None"`
	ResetLocale   any    `arg:"reset_system_locale=True"`
	IgnoreRetcode bool   `arg:"ignore_retcode=False"`
	Saltenv       string `arg:"saltenv=None"`
	Password      any    `arg:"password=None"`
	PrependPath   string `arg:"prepend_path=None"`
	rules
	KW *payload.Map `arg:"**kwargs"`
}

func runBG(c *loader.Call, a bgArgs) (any, error) {
	o := common(a.KW)
	o.Cmd, o.Cwd, o.RunAs, o.Group, o.Shell, o.PythonShell = a.Cmd, a.Cwd, a.RunAs, a.Group, a.Shell, a.PythonShell
	o.Env, o.CleanEnv, o.Template, o.Umask = a.Env, a.CleanEnv, a.Template, a.Umask
	o.Timeout, o.Encoding, o.Loglevel, o.LogCallback = a.Timeout, a.Encoding, a.Loglevel, a.LogCallback
	o.ResetLocale, o.IgnoreRetcode, o.Saltenv = a.ResetLocale, a.IgnoreRetcode, a.Saltenv
	o.PrependPath, o.rules, o.BG = a.PrependPath, a.rules, true
	r, err := perform(c, o, false)
	if err != nil {
		return nil, err
	}
	return payload.M("pid", r.Value("pid")), nil
}
