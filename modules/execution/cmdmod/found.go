package cmdmod

import (
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
)

// Which is the path of a program that the environment of a call finds; "" where there is none.
func Which(c *loader.Call, name string) string {
	path, _ := environ.Of(c.Ctx).Get("PATH")
	return program.WhichOn(path, name)
}

// Found is Which, with an error where there is none.
func Found(c *loader.Call, name string) (string, error) {
	if path := Which(c, name); path != "" {
		return path, nil
	}
	return "", loader.ExecErr("Command '%s' cannot be found", name)
}

// Succeeds runs a program as cmd.retcode does, and tells whether its exit code is 0.
func Succeeds(c *loader.Call, argv ...string) (bool, error) {
	out, err := RunAll(c, argv, nil)
	return err == nil && out.Code == 0, err
}
