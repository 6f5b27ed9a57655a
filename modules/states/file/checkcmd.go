package file

import (
	"errors"
	"os"

	"brine/modules/execution/file"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// checked runs the command of check_cmd on a file with the new content, the owner and the mode. bad is the end of the
// state where the command found it wrong.
func (a managedArgs) checked(c *states.Call, m *file.Managing) (bad *states.Done, err error) {
	f, err := os.CreateTemp(loader.Text(a.TmpDir), "brine-*"+loader.Text(a.TmpExt))
	if err != nil {
		return nil, err
	}
	name := f.Name()
	defer os.Remove(name)
	if err := errors.Join(f.Close(), m.WriteAside(c.Call, name)); err != nil {
		return nil, err
	}
	wrong, err := runCheckCmd(c.Call, python.Str(a.CheckCmd), name, shellOf(c.Call))
	if err != nil || wrong == nil {
		return nil, err
	}
	return &states.Done{Result: false, Comment: wrong.Value("comment"),
		Also: payload.M("skip_watch", true)}, nil
}

// shellOf is the shell that the grains name.
func shellOf(c *loader.Call) *payload.Map {
	kw := payload.NewMap(0)
	if shell, ok := c.Grain("shell"); ok {
		kw.Set("shell", shell)
	}
	return kw
}

type checkCmd struct {
	Cmd      any          `arg:"cmd"`
	Filename any          `arg:"filename"`
	Opts     *payload.Map `arg:"**check_cmd_opts"`
}

// modRunCheckCmd is what other states call with a file of theirs.
func modRunCheckCmd(c *loader.Call, a checkCmd) (any, error) {
	wrong, err := runCheckCmd(c, python.Str(a.Cmd), python.Str(a.Filename), loader.CleanKWArgs(a.Opts))
	if err != nil || wrong != nil {
		return wrong, err
	}
	return true, nil
}

// runCheckCmd runs a command with the name of a file behind it; nil where it succeeds.
func runCheckCmd(c *loader.Call, cmd, name string, opts *payload.Map) (*payload.Map, error) {
	v, err := c.Call("cmd.run_all", []any{cmd + " " + name}, opts)
	if err != nil {
		return nil, err
	}
	out, _ := v.(*payload.Map)
	if code, ok := out.Value("retcode").(int64); ok && code == 0 {
		return nil, nil
	}
	comment := "check_cmd execution failed"
	for _, key := range []string{"stdout", "stderr"} {
		if text := out.Value(key); python.Truth(text) {
			comment += "\n" + python.Str(text)
		}
	}
	return payload.M("comment", comment, "skip_watch", true, "result", false), nil
}
