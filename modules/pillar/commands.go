package pillar

import (
	"log/slog"
	"strings"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// shellSigns are those that mean something to a shell. No id of a minion needs them.
const shellSigns = " \t\r\n\"'`$&;|<>()\\*?[]{}!#~"

// command is the command of an external pillar, with the minion's id in place of %s.
//
// Unlike Salt: an id that a shell would read as more than a word is refused.
func (e *extCall) command() (string, error) {
	command, ok := e.args["command"].(string)
	if !ok {
		return "", noAttribute(e.args["command"], "replace")
	}
	if strings.Contains(command, "%s") && strings.ContainsAny(e.q.ID, shellSigns) {
		return "", loader.ExecErr("the minion id %s cannot be put into a command", python.Repr(e.q.ID))
	}
	return strings.ReplaceAll(command, "%s", e.q.ID), nil
}

// output runs a command by an execution function and returns what it wrote.
func (e *extCall) output(fun string, kw *payload.Map) (command, out string, err error) {
	if command, err = e.command(); err != nil {
		return command, "", err
	}
	if e.funcs.Call == nil {
		return command, "", loader.ExecErr("there is no function %s", fun)
	}
	v, err := e.funcs.Call(e.ctx, fun, []any{command}, kw)
	return command, python.Str(v), err
}

func cmdYAML(e *extCall) (any, error) {
	command, out, err := e.output("cmd.run_stdout", payload.M("python_shell", true))
	if err == nil {
		var v any
		if v, err = yaml.Load([]byte(out)); err == nil {
			return v, nil
		}
	}
	e.log(slog.LevelError, "YAML data from '%s' failed to parse: %s. Command output:\n%s", command, err, out)
	return payload.NewMap(0), nil
}

func cmdJSON(e *extCall) (any, error) {
	command, out, err := e.output("cmd.run", nil)
	if err == nil {
		var v any
		if v, err = pyjson.Load(out); err == nil {
			return v, nil
		}
	}
	e.log(slog.LevelError, "JSON data from %s failed to parse: %s", command, err)
	return payload.NewMap(0), nil
}

// cmdYAMLEX is salt/pillar/cmd_yamlex.py of 3007; 3008 has it in an extension. Marks of its lists and maps hold within
// the output.
func cmdYAMLEX(e *extCall) (any, error) {
	command, out, err := e.output("cmd.run", nil)
	if err == nil {
		var v any
		if v, err = yaml.LoadYamlex([]byte(out)); err == nil {
			return v, nil
		}
	}
	e.log(slog.LevelError, "YAML data from %s failed to parse: %s", command, err)
	return payload.NewMap(0), nil
}
