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
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

// scriptArgs are the parameters of cmd.script.
type scriptArgs struct {
	Source string `arg:"source"`
	Args   any    `arg:"args=None"`
	where
	PythonShell any `arg:"python_shell=None"`
	Env         any `arg:"env=None"`
	Template    any `arg:"template=None"`
	Umask       any `arg:"umask=None"`
	told
	ResetLocale any    `arg:"reset_system_locale=True"`
	Saltenv     string `arg:"saltenv=None"`
	UseVT       bool   `arg:"use_vt=False"`
	BG          bool   `arg:"bg=False"`
	Password    any    `arg:"password=None"`
	rules
	KW *payload.Map `arg:"**kwargs"`
}

func script(c *loader.Call, a scriptArgs) (*payload.Map, error) {
	o := common(a.KW)
	o.where, o.PythonShell, o.told, o.rules, o.BG = a.where, a.PythonShell, a.told, a.rules, a.BG
	o.Env, o.Template, o.Umask = a.Env, a.Template, a.Umask
	o.ResetLocale, o.Saltenv, o.UseVT = a.ResetLocale, a.Saltenv, a.UseVT
	return runScript(c, a.Source, a.Args, o)
}

type scriptRetcodeArgs struct {
	Source string `arg:"source"`
	Args   any    `arg:"args=None"`
	where
	PythonShell any    `arg:"python_shell=None"`
	Env         any    `arg:"env=None"`
	Template    any    `arg:"template=jinja"`
	Umask       any    `arg:"umask=None"`
	Timeout     any    `arg:"timeout=None"`
	ResetLocale any    `arg:"reset_system_locale=True"`
	Saltenv     string `arg:"saltenv=None"`
	Encoding    string `arg:"output_encoding=None"`
	Loglevel    any    `arg:"output_loglevel=debug"`
	LogCallback bool   `arg:"log_callback=None"`
	UseVT       bool   `arg:"use_vt=False"`
	Password    any    `arg:"password=None"`
	rules
	KW *payload.Map `arg:"**kwargs"`
}

func scriptRetcode(c *loader.Call, a scriptRetcodeArgs) (any, error) {
	o := common(a.KW)
	o.where, o.PythonShell, o.rules = a.where, a.PythonShell, a.rules
	o.Env, o.Template, o.Umask, o.Timeout = a.Env, a.Template, a.Umask, a.Timeout
	o.ResetLocale, o.Saltenv, o.UseVT = a.ResetLocale, a.Saltenv, a.UseVT
	o.Encoding, o.Loglevel, o.LogCallback = a.Encoding, a.Loglevel, a.LogCallback
	r, err := runScript(c, a.Source, a.Args, o)
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
func runScript(c *loader.Call, source string, args any, o *options) (*payload.Map, error) {
	local, remove, err := fetch(c, source, o)
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
	ext := filepath.Ext(strings.TrimSuffix(source, "?"+queryOf(source)))
	file, err := makeScript(loader.Text(o.Cwd), ext, o.RunAs, in, false)
	if err != nil {
		return nil, err
	}
	defer file.remove()
	words, shell, err := scriptWords(c, args, o, file.path)
	if err != nil {
		return nil, err
	}
	o.Cmd, o.PythonShell, o.Template = words, shell, nil
	r, err := perform(c, o, false)
	switch err.(type) {
	case nil:
		return hidden(o, r.Map), nil
	case *loader.CommandExecutionError, *loader.InvocationError:
		c.Log(slog.LevelError, fmt.Sprintf("cmd.script: Unable to run script '%s': %s", python.Repr(words), err))
		return hidden(o, payload.NewMap(0)), nil
	}
	return nil, err
}

func queryOf(source string) string {
	_, query, _ := strings.Cut(source, "?")
	return query
}

// fetch makes the source a local file, rendered where it is a template; "" when it is not to be had. remove is called
// when the file is not needed any more.
func fetch(c *loader.Call, source string, o *options) (path string, remove func(), err error) {
	remove = func() {}
	env := cmp.Or(o.Saltenv, "base")
	if engine := o.Template; python.Truth(engine) {
		dir, err := os.MkdirTemp("", "__salt.tmp.")
		if err != nil {
			return "", remove, fmt.Errorf("fetch the script: %w", err)
		}
		remove = func() { _ = os.RemoveAll(dir) } // what is left there is nobody's
		kw := loader.CleanKWArgs(o.KW)
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
func scriptWords(c *loader.Call, args any, o *options, path string) ([]any, bool, error) {
	words := []any{path}
	switch x := args.(type) {
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
		return nil, false, &loader.ArgumentError{Message: "Value after * must be an iterable, not " + python.Type(x)}
	}
	return words, len(words) == 1 && o.pythonShell(c), nil
}

type codeArgs struct {
	Lang any          `arg:"lang"`
	Code string       `arg:"code"`
	Cwd  any          `arg:"cwd=None"`
	Args any          `arg:"args=None"`
	KW   *payload.Map `arg:"**kwargs"`
}

func execCode(c *loader.Call, a codeArgs) (any, error) {
	r, err := runCode(c, a)
	if err != nil {
		return nil, err
	}
	return r.Str("stdout"), nil
}

func execCodeAll(c *loader.Call, a codeArgs) (*payload.Map, error) { return runCode(c, a) }

// runCode writes the code to a file and runs the interpreter on it.
func runCode(c *loader.Call, a codeArgs) (*payload.Map, error) {
	o := common(a.KW)
	file, err := makeScript("", "", o.RunAs, strings.NewReader(a.Code), true)
	if err != nil {
		return nil, err
	}
	defer file.remove()
	words := []any{a.Lang, file.path}
	switch x := a.Args.(type) {
	case string:
		words = append(words, x)
	case []any:
		words = append(words, x...)
	}
	o.Cwd, o.Cmd, o.PythonShell = a.Cwd, words, false
	r, err := perform(c, o, o.RedirectStderr)
	if err != nil {
		return nil, err
	}
	return hidden(o, r.Map), nil
}
