package cmdmod

import (
	"os"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// The options of a command in groups, as they follow one another in the signatures of the reference: positions count.
type (
	usual struct {
		Cmd any `arg:"cmd"`
		where
		PythonShell any `arg:"python_shell=None"`
		made
		told
		kept
	}

	where struct {
		Cwd   any    `arg:"cwd=None"`
		Stdin any    `arg:"stdin=None"`
		RunAs string `arg:"runas=None"`
		Group string `arg:"group=None"`
		Shell string `arg:"shell=/bin/sh"` // or that of the environment: see inShell
	}

	made struct {
		Env      any  `arg:"env=None"`
		CleanEnv bool `arg:"clean_env=False"`
		Template any  `arg:"template=None"`
		Rstrip   bool `arg:"rstrip=True"`
		Umask    any  `arg:"umask=None"`
	}

	told struct {
		Encoding    string `arg:"output_encoding=None"`
		Loglevel    any    `arg:"output_loglevel=debug"`
		LogCallback bool   `arg:"log_callback=None"`
		HideOutput  bool   `arg:"hide_output=False"`
		Timeout     any    `arg:"timeout=None"`
	}

	kept struct {
		ResetLocale   any    `arg:"reset_system_locale=True"`
		IgnoreRetcode bool   `arg:"ignore_retcode=False"`
		Saltenv       string `arg:"saltenv=None"`
		UseVT         bool   `arg:"use_vt=False"`
	}

	rules struct {
		SuccessRetcodes any `arg:"success_retcodes=None"`
		SuccessStdout   any `arg:"success_stdout=None"`
		SuccessStderr   any `arg:"success_stderr=None"`
	}
)

// options are what one command is run with: the parameters of the function, and what stands beside them. The functions
// pass what they do not know on to the common part.
type options struct {
	usual
	RedirectStderr bool
	BG             bool
	EncodedCmd     bool
	RaiseErr       bool
	PrependPath    string
	rules

	KW *payload.Map // the keywords beside the parameters
}

// common are the options that no parameter gives: keywords, and the defaults of the common part.
func common(kw *payload.Map) *options {
	o := &options{KW: kw}
	o.Shell, o.Rstrip, o.Loglevel, o.ResetLocale = defaultShell(), true, "debug", true
	if kw.Len() == 0 {
		return o
	}
	fields := o.fields()
	for name, v := range kw.All() {
		switch to := fields[name].(type) {
		case *any:
			*to = v
		case *bool:
			*to = python.Truth(v)
		case *string:
			*to = loader.Text(v)
		}
	}
	return o
}

// fields are the places of the options.
func (o *options) fields() map[any]any {
	return map[any]any{
		"cmd": &o.Cmd, "python_shell": &o.PythonShell,
		"cwd": &o.Cwd, "stdin": &o.Stdin, "runas": &o.RunAs, "group": &o.Group, "shell": &o.Shell,
		"env": &o.Env, "clean_env": &o.CleanEnv, "template": &o.Template, "rstrip": &o.Rstrip, "umask": &o.Umask,
		"output_encoding": &o.Encoding, "output_loglevel": &o.Loglevel, "log_callback": &o.LogCallback,
		"hide_output": &o.HideOutput, "timeout": &o.Timeout, "reset_system_locale": &o.ResetLocale,
		"ignore_retcode": &o.IgnoreRetcode, "saltenv": &o.Saltenv, "use_vt": &o.UseVT,
		"redirect_stderr": &o.RedirectStderr, "bg": &o.BG, "encoded_cmd": &o.EncodedCmd, "raise_err": &o.RaiseErr,
		"prepend_path": &o.PrependPath, "success_retcodes": &o.SuccessRetcodes,
		"success_stdout": &o.SuccessStdout, "success_stderr": &o.SuccessStderr,
	}
}

// defaultShell is the login shell of this process's environment.
func defaultShell() string {
	if shell, ok := os.LookupEnv("SHELL"); ok {
		return shell
	}
	return "/bin/sh"
}

// remote tells whether the call came from a publication or from salt-call, not from another function.
func (o *options) remote() bool { return python.Truth(o.KW.Value("__pub_jid")) }

// pythonShell is whether a shell runs the command: by default for calls from outside, and for all with cmd_safe
// set to False.
func (o *options) pythonShell(c *loader.Call) bool {
	v := o.PythonShell
	if v == nil {
		safe, isBool := c.Opts().Value("cmd_safe").(bool)
		return o.remote() || isBool && !safe
	}
	b, isBool := v.(bool)
	return b || !isBool && python.Truth(v)
}
