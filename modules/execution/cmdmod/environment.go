package cmdmod

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"brine/config"
	"brine/modules"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// variables is an environment that keeps its order.
type variables struct {
	names  []string
	values map[string]string
}

func newVariables(pairs []string) *variables {
	v := &variables{values: map[string]string{}}
	for _, p := range pairs {
		if name, value, ok := strings.Cut(p, "="); ok {
			v.set(name, value)
		}
	}
	return v
}

func (v *variables) set(name, value string) {
	if _, ok := v.values[name]; !ok {
		v.names = append(v.names, name)
	}
	v.values[name] = value
}

func (v *variables) update(other *variables) {
	for _, n := range other.names {
		v.set(n, other.values[n])
	}
}

func (v *variables) remove(name string) {
	if _, ok := v.values[name]; !ok {
		return
	}
	delete(v.values, name)
	kept := v.names[:0]
	for _, n := range v.names {
		if n != name {
			kept = append(kept, n)
		}
	}
	v.names = kept
}

func (v *variables) list() []string {
	out := make([]string, 0, len(v.names))
	for _, n := range v.names {
		out = append(out, n+"="+v.values[n])
	}
	return out
}

// hideOptions removes the options of this minion, which another user must not read, but for those that the caller gives.
func (v *variables) hideOptions(given *variables) {
	for _, name := range slices.Clone(v.names) {
		if _, ok := given.values[name]; !ok && config.IsVariable(name) {
			v.remove(name)
		}
	}
}

// localeNames are the variables reset_system_locale sets to C, unless the caller set them.
const localeNames = "LC_CTYPE LC_NUMERIC LC_TIME LC_COLLATE LC_MONETARY LC_MESSAGES LC_PAPER LC_NAME LC_ADDRESS LC_TELEPHONE " +
	"LC_MEASUREMENT LC_IDENTIFICATION LANGUAGE"

// setEnvironment builds the environment: that of this process, under the one of the account, under the caller's.
func (cmd *command) setEnvironment() error {
	own := newVariables(nil)
	given := cmd.givenEnv()
	if cmd.account != nil {
		own.update(cmd.account.environment(cmd))
	}
	own.update(given)
	if cmd.account != nil {
		cmd.account.identify(own)
	}
	if reset, _ := cmd.opt.get("reset_system_locale").(bool); reset {
		for _, name := range strings.Fields(localeNames) {
			if _, ok := own.values[name]; !ok {
				own.set(name, "C")
			}
		}
	}
	env := own
	if !cmd.opt.flag("clean_env") {
		env = newVariables(os.Environ())
		env.update(own)
	}
	if prefix := cmd.opt.text("prepend_path"); prefix != "" {
		env.set("PATH", prefix+":"+env.values["PATH"])
	}
	if _, ok := own.values["NOTIFY_SOCKET"]; !ok {
		env.remove("NOTIFY_SOCKET")
	}
	if cmd.account != nil {
		env.hideOptions(given)
	}
	cmd.env = env.list()
	return nil
}

// givenEnv is the env argument: a map, or a list of maps with one entry each.
func (cmd *command) givenEnv() *variables {
	out := newVariables(nil)
	for name, value := range envMap(cmd.opt.get("env")).All() {
		text := ""
		if value == nil {
			cmd.call.Log(slog.LevelError, fmt.Sprintf("Environment variable '%s' passed without a value. "+
				"Setting value to an empty string", pytext.Str(name)))
		} else {
			text = pytext.Str(value)
		}
		out.set(pytext.Str(name), text)
	}
	return out
}

func envMap(v any) *payload.Map {
	switch x := v.(type) {
	case *payload.Map:
		return x
	case []any:
		out := payload.NewMap(len(x))
		for _, e := range x {
			switch m := e.(type) {
			case *payload.Map:
				if m.Len() != 1 {
					return payload.NewMap(0)
				}
				out.Update(m)
			case string, int64, float64:
				out.Set(m, nil)
			default:
				return payload.NewMap(0)
			}
		}
		return out
	}
	return payload.NewMap(0)
}

// setUmask reads the umask, whose digits are octal however they came in.
func (cmd *command) setUmask() error {
	v := cmd.opt.get("umask")
	if v == nil {
		return nil
	}
	digits := strings.TrimLeft(pytext.Str(v), "0")
	if digits == "" {
		return modules.ExecErr("Zero umask is not allowed.")
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '7' || n > 0o777777 {
			return modules.ExecErr("Invalid umask: '%s'", pytext.Str(v))
		}
		n = n*8 + int(d-'0')
	}
	cmd.umask = n
	return nil
}
