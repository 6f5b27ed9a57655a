// Package cmd is the state module cmd: commands and scripts that run in a state, each time, or when something that they
// watch has changed. The programs themselves are run by the execution module of the same name. Answers to
// salt/states/cmd.py.
package cmd

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
)

// Module is the state module cmd.
func Module() loader.Module {
	return loader.Module{File: "cmd", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("run", run, "Run a command.", "cmd.run:", "  - name: date > /tmp/salt-run"),
			states.Fn("script", script, "Fetch a script and run it.", "cmd.script:",
				"  - source: salt://scripts/foo.sh"),
			states.Fn("wait", wait, "Run a command when something that it watches has changed.", "cmd.wait:",
				"  - name: echo changed", "  - watch:", "    - file: /etc/a"),
			states.Fn("watch", wait, "Another name of wait."),
			states.Fn("wait_script", waitScript, "Run a script when something that it watches has changed."),
			states.Fn("call", call, "Call a function of Python, which only trees written in Python can name."),
			states.Fn("wait_call", waitCall, "Call a function of Python when something that it watches has changed."),
			states.Fn("mod_watch", modWatch, "Run what a watched state has set off."),
		}
	}}
}

// told are the arguments on what is shown of a command.
type told struct {
	Loglevel   any `arg:"output_loglevel=debug"`
	HideOutput any `arg:"hide_output=False"`
}

// success are the arguments on what counts as success.
type success struct {
	Retcodes any `arg:"success_retcodes=None"`
	Stdout   any `arg:"success_stdout=None"`
	Stderr   any `arg:"success_stderr=None"`
}

type waiting struct {
	Name     any `arg:"name"`
	Cwd      any `arg:"cwd=None"`
	Root     any `arg:"root=None"`
	RunAs    any `arg:"runas=None"`
	Shell    any `arg:"shell=None"`
	Env      any `arg:"env=[]"`
	Stateful any `arg:"stateful=False"`
	told
	UseVT any `arg:"use_vt=False"`
	success
	KW *payload.Map `arg:"**kwargs"`
}

// wait does nothing: mod_watch does it.
func wait(*states.Call, waiting) (states.Plan, error) { return states.Correct(""), nil }

type waitingScript struct {
	Name     any `arg:"name"`
	Source   any `arg:"source=None"`
	Template any `arg:"template=None"`
	Cwd      any `arg:"cwd=None"`
	RunAs    any `arg:"runas=None"`
	Shell    any `arg:"shell=None"`
	Env      any `arg:"env=None"`
	Stateful any `arg:"stateful=False"`
	UseVT    any `arg:"use_vt=False"`
	told
	success
	KW *payload.Map `arg:"**kwargs"`
}

func waitScript(*states.Call, waitingScript) (states.Plan, error) { return states.Correct(""), nil }

type calling struct {
	Name any `arg:"name"`
	Func any `arg:"func"`
	Args any `arg:"args=[]"`
	Kws  any `arg:"kws=None"`
	told
	UseVT any          `arg:"use_vt=False"`
	KW    *payload.Map `arg:"**kwargs"`
}

// call fails in every mode: what YAML can name is no function of Python.
func call(c *states.Call, a calling) (states.Plan, error) {
	if _, err := shellOf(c, nil); err != nil {
		return states.Plan{}, err
	}
	return states.Plan{}, notCallable(a.Func)
}

type waitingCall struct {
	Name     any `arg:"name"`
	Func     any `arg:"func"`
	Args     any `arg:"args=[]"`
	Kws      any `arg:"kws=None"`
	Stateful any `arg:"stateful=False"`
	UseVT    any `arg:"use_vt=False"`
	told
	KW *payload.Map `arg:"**kwargs"`
}

func waitCall(*states.Call, waitingCall) (states.Plan, error) { return states.Correct(""), nil }
