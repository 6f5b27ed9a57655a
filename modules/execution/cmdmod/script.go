package cmdmod

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/modules/text/shlex"
	"brine/wire/payload"
)

func script(c *loader.Call, a loader.Args) (any, error) {
	r, err := runScript(c, options{args: a})
	if err != nil {
		return nil, err
	}
	return r, nil
}

func scriptRetcode(c *loader.Call, a loader.Args) (any, error) {
	r, err := runScript(c, options{args: a})
	if err != nil {
		return nil, err
	}
	code, ok := r.Get("retcode")
	if !ok {
		return nil, &loader.Exception{Class: "KeyError", Message: "'retcode'"}
	}
	return code, nil
}

// cacheError is the result of a script that cannot be fetched.
func cacheError() *payload.Map {
	return payload.M("pid", int64(0), "retcode", int64(1), "stdout", "", "stderr", "", "cache_error", true)
}

// runScript fetches a script into a temporary file that only its user can run, runs it and removes it.
func runScript(c *loader.Call, o options) (*payload.Map, error) {
	source := o.text("source")
	local, remove, err := fetch(c, o)
	if err != nil {
		return nil, err
	}
	defer remove()
	if local == "" {
		return cacheError(), nil
	}
	in, err := os.Open(local)
	if errors.Is(err, fs.ErrNotExist) {
		return cacheError(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the script: %w", err)
	}
	defer func() { _ = in.Close() }()
	file, err := makeScript(o.text("cwd"), filepath.Ext(strings.TrimSuffix(source, "?"+queryOf(source))), o.text("runas"), in, false)
	if err != nil {
		return nil, err
	}
	defer file.remove()
	words, shell, err := scriptWords(c, o, file.path)
	if err != nil {
		return nil, err
	}
	r, err := perform(c, o.with(map[string]any{"cmd": words, "python_shell": shell, "template": nil}), false)
	switch err.(type) {
	case nil:
		return hidden(o, r.Map), nil
	case *loader.CommandExecutionError, *loader.InvocationError:
		c.Log(slog.LevelError, fmt.Sprintf("cmd.script: Unable to run script '%s': %s", pytext.Repr(words), err))
		return hidden(o, payload.NewMap(0)), nil
	}
	return nil, err
}

func queryOf(source string) string {
	_, query, _ := strings.Cut(source, "?")
	return query
}

// fetch makes the source a local file, rendered where it is a template; "" when it is not to be had. remove is called when the
// file is not needed any more.
func fetch(c *loader.Call, o options) (path string, remove func(), err error) {
	remove = func() {}
	source, env := o.text("source"), cmp.Or(o.text("saltenv"), "base")
	if engine := o.get("template"); loader.Truthy(engine) {
		dir, err := os.MkdirTemp("", "__salt.tmp.")
		if err != nil {
			return "", remove, fmt.Errorf("fetch the script: %w", err)
		}
		remove = func() { _ = os.RemoveAll(dir) } // what is left there is nobody's
		kw := o.args.UserKW()
		kw.Set("template", engine).Set("saltenv", env)
		v, err := c.Call("cp.get_template", []any{source, filepath.Join(dir, "script")}, kw)
		path, _ = v.(string)
		return path, remove, err
	}
	v, err := c.Call("cp.cache_file", []any{source, env}, nil)
	path, _ = v.(string)
	return path, remove, err
}

// scriptWords are the script and its arguments; arguments rule out the shell.
func scriptWords(c *loader.Call, o options, path string) ([]any, bool, error) {
	words := []any{path}
	switch x := o.get("args").(type) {
	case nil:
	case string:
		more, err := shlex.Split(x)
		if err != nil {
			return nil, false, loader.Raise("ValueError", "%s", err)
		}
		words = append(words, payload.AnyList(more)...)
	case []any:
		words = append(words, x...)
	default:
		return nil, false, &loader.ArgumentError{Message: "Value after * must be an iterable, not " + pytext.Type(x)}
	}
	return words, len(words) == 1 && o.pythonShell(c), nil
}

func execCode(c *loader.Call, a loader.Args) (any, error) {
	r, err := runCode(c, options{args: a})
	if err != nil {
		return nil, err
	}
	return r.Str("stdout"), nil
}

func execCodeAll(c *loader.Call, a loader.Args) (any, error) {
	r, err := runCode(c, options{args: a})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// runCode writes the code to a file and runs the interpreter on it.
func runCode(c *loader.Call, o options) (*payload.Map, error) {
	file, err := makeScript("", "", o.text("runas"), strings.NewReader(o.text("code")), true)
	if err != nil {
		return nil, err
	}
	defer file.remove()
	words := []any{o.get("lang"), file.path}
	switch x := o.get("args").(type) {
	case string:
		words = append(words, x)
	case []any:
		words = append(words, x...)
	}
	o = o.with(map[string]any{"cmd": words, "python_shell": false, "args": nil})
	r, err := perform(c, o, o.flag("redirect_stderr"))
	if err != nil {
		return nil, err
	}
	return hidden(o, r.Map), nil
}
