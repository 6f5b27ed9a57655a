package cmdmod

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// setEnvironment builds the environment: that of this process, under the one of the account, under the caller's. A user
// whose login fails has none, which is logged and no error.
func (cmd *command) setEnvironment() error {
	given, err := cmd.givenEnv()
	if err != nil {
		return err
	}
	env := program.Environment{Own: environ.Of(cmd.call.Ctx).ForPrograms(), Given: given, Account: cmd.account,
		Clean: cmd.opt.CleanEnv, Prepend: cmd.opt.PrependPath}
	env.English, _ = cmd.opt.ResetLocale.(bool)
	if cmd.account != nil {
		var login *program.LoginError
		if env.Login, err = cmd.account.Login(cmd.call.Ctx, cmd.shell); errors.As(err, &login) {
			cmd.call.Log(slog.LevelError, fmt.Sprintf("Environment could not be retrieved for user '%s': "+
				"stderr=%s stdout=%s", cmd.account.Name, python.Repr(login.Stderr), python.Repr(login.Stdout)))
		}
	}
	cmd.env = env.List()
	return nil
}

// givenEnv is the env argument: a map, or a list of maps with one entry each.
func (cmd *command) givenEnv() (*program.Vars, error) {
	out := program.NewVars(nil)
	for name, value := range envMap(cmd.opt.Env).All() {
		text := ""
		if value == nil {
			cmd.call.Log(slog.LevelError, fmt.Sprintf("Environment variable '%s' passed without a value. "+
				"Setting value to an empty string", python.Str(name)))
		} else {
			text = python.Str(value)
		}
		switch key := python.Str(name); {
		case strings.ContainsRune(key, '='):
			return nil, loader.Raise("ValueError", "illegal environment variable name")
		case strings.ContainsRune(key+text, 0):
			return nil, loader.Raise("ValueError", "embedded null byte")
		default:
			out.Set(key, text)
		}
	}
	return out, nil
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
	v := cmd.opt.Umask
	if v == nil {
		return nil
	}
	digits := strings.TrimLeft(python.Str(v), "0")
	if digits == "" {
		return loader.ExecErr("Zero umask is not allowed.")
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '7' || n > 0o777777 {
			return loader.ExecErr("Invalid umask: '%s'", python.Str(v))
		}
		n = n*8 + int(d-'0')
	}
	cmd.umask = n
	return nil
}
