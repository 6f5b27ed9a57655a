package cmdmod

import (
	"strings"

	"brine/modules/loader"
)

// defaultOf is the default of a parameter by its name.
func defaultOf(name, shell string) any {
	switch name {
	case "shell":
		return shell
	case "output_loglevel":
		return "debug"
	case "rstrip", "reset_system_locale":
		return true
	case "clean_env", "hide_output", "ignore_retcode", "use_vt", "redirect_stderr", "bg", "encoded_cmd", "raise_err":
		return false
	}
	return nil
}

// params builds a parameter list of names; cmd, root and source are required.
func params(names, shell string, special map[string]any) []loader.Param {
	var out []loader.Param
	for _, name := range strings.Fields(names) {
		switch def, ok := special[name]; {
		case name == "cmd" || name == "source" || name == "root":
			out = append(out, loader.Req(name))
		case ok:
			out = append(out, loader.Opt(name, def))
		default:
			out = append(out, loader.Opt(name, defaultOf(name, shell)))
		}
	}
	return out
}

// options are the arguments of one call by name: a declared parameter, or a keyword beside them, since the
// functions pass what they do not know on to the common part.
type options struct {
	args  loader.Args
	fixed map[string]any // set by the function itself, win over the rest
}

// get is a value; what the function has no parameter for has the default of the common part.
func (o options) get(name string) any {
	if v, ok := o.fixed[name]; ok {
		return v
	}
	if v, ok := o.args.KW.Get(name); ok {
		return v
	}
	if o.args.Declared(name) {
		return o.args.Get(name)
	}
	return defaultOf(name, defaultShell())
}

func (o options) flag(name string) bool { return loader.Truthy(o.get(name)) }

func (o options) text(name string) string { return loader.Text(o.get(name)) }

// with adds fixed values.
func (o options) with(kv map[string]any) options {
	fixed := map[string]any{}
	for k, v := range o.fixed {
		fixed[k] = v
	}
	for k, v := range kv {
		fixed[k] = v
	}
	o.fixed = fixed
	return o
}

// remote tells whether the call came from a publication or from salt-call, not from another function.
func (o options) remote() bool { return loader.Truthy(o.args.KW.Value("__pub_jid")) }

// pythonShell is whether a shell runs the command: by default for calls from outside, and for all with cmd_safe
// set to False.
func (o options) pythonShell(c *loader.Call) bool {
	v := o.get("python_shell")
	if v == nil {
		safe, isBool := c.Opts().Value("cmd_safe").(bool)
		return o.remote() || isBool && !safe
	}
	b, isBool := v.(bool)
	return b || !isBool && loader.Truthy(v)
}
