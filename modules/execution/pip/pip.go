// Package pip is the execution module pip: packages of Python, by the program pip of an environment or of the host. It
// answers to salt/modules/pip.py.
//
// Unlike Salt: without bin_env the pip of python3 on the PATH is meant, since a brine minion has no Python of its own;
// a
// password in a URL of an index or a proxy goes to pip in its environment, not among its arguments; and what is given
// as
// a name is never read as an option.
package pip

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/modules/text/pep440"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// Module is pip.
func Module() loader.Module {
	return loader.Module{File: "pip", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("install", install, "Install packages.", "pip.install flask bin_env=/path/to/virtualenv"),
			loader.Fn("uninstall", uninstall, "Remove packages.", "pip.uninstall flask bin_env=/path/to/virtualenv"),
			loader.Fn("freeze", freeze, "List installed packages in the form of requirements.",
				"pip.freeze bin_env=/home/code/venv"),
			loader.Fn("list_freeze_parse", listFrozen, "List installed packages and their versions, by freeze.",
				"pip.list_freeze_parse salt"),
			loader.Fn("list", list, "List installed packages and their versions.", "pip.list salt").Named("list_"),
			loader.Fn("version", version, "Give the version of pip.", "pip.version"),
			loader.Fn("list_upgrades", listUpgrades, "List packages of which there is a newer version.",
				"pip.list_upgrades"),
			loader.Fn("is_installed", isInstalled, "Tell whether a package is installed.", "pip.is_installed salt"),
			loader.Fn("upgrade_available", upgradeAvailable, "Tell whether there is a newer version of a package.",
				"pip.upgrade_available <package name>"),
			loader.Fn("upgrade", upgrade, "Upgrade all packages.", "pip.upgrade"),
			loader.Fn("list_all_versions", listAllVersions, "List all versions of a package.",
				"pip.list_all_versions <package name>"),
			loader.Fn("normalize", func(_ *loader.Call, a struct {
				Name string `arg:"name"`
			}) (string, error) {
				return pep440.Normalize(a.Name), nil
			}, "Give the name of a package as indexes compare it.", "pip.normalize Flask_Login"),
		}
	}}
}

// binary is how pip is started.
func binary(c *loader.Call, env any) ([]string, error) {
	if !python.Truth(env) {
		path, _ := environ.Of(c.Ctx).Get("PATH")
		if found := program.WhichOn(path, "python3"); found != "" {
			return []string{found, "-m", "pip"}, nil
		}
		return nil, &loader.CommandNotFoundError{Message: "Could not find a `pip` binary"}
	}
	name := python.Str(env)
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return inEnvironment(name)
	case err != nil || !program.Executable(name):
		return nil, &loader.CommandNotFoundError{Message: "Access denied to " + name + ", could not find a pip binary"}
	case strings.Contains(filepath.Base(name), "python"):
		return []string{filepath.Clean(name), "-m", "pip"}, nil
	}
	return []string{filepath.Clean(name)}, nil
}

var interpreter = pattern.New(`^python(\d+(\.\d+)?)?$`)

// inEnvironment is pip of a virtual environment.
func inEnvironment(dir string) ([]string, error) {
	names := []string{"python", "bin/python", "Scripts/python", "bin/python3"}
	others, _ := filepath.Glob(filepath.Join(dir, "bin", "python*"))
	for _, other := range others {
		if interpreter.MatchString(filepath.Base(other)) {
			names = append(names, "bin/"+filepath.Base(other))
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && program.Executable(path) {
			return []string{path, "-m", "pip"}, nil
		}
	}
	return nil, &loader.CommandNotFoundError{Message: "Could not find a pip binary in virtualenv " + dir}
}

// where is which pip runs, and how.
type where struct {
	BinEnv any `arg:"bin_env=None"`
	User   any `arg:"user=None"`
	Cwd    any `arg:"cwd=None"`
}

// run runs pip, and gives the answer of cmd.run_all.
func (a where) run(c *loader.Call, more *payload.Map, words ...string) (*payload.Map, error) {
	argv, err := binary(c, a.BinEnv)
	if err != nil {
		return nil, err
	}
	kw := payload.M("runas", a.User, "python_shell", false)
	if python.Truth(a.Cwd) {
		kw.Set("cwd", a.Cwd)
	}
	kw.Update(more)
	env, _ := kw.Value("env").(*payload.Map)
	env = env.Clone()
	if info, err := os.Stat(loader.Text(a.BinEnv)); err == nil && info.IsDir() {
		env.Set("VIRTUAL_ENV", a.BinEnv)
	}
	if env.Len() > 0 {
		kw.Set("env", env)
	}
	v, err := c.Call("cmd.run_all", []any{payload.AnyList(append(argv, words...))}, kw)
	out, _ := v.(*payload.Map)
	return out, err
}

// failed is whether a program failed.
func failed(out *payload.Map) bool {
	code, _ := out.Int("retcode")
	return code != 0
}

// failure is the error of pip beside all it said.
func failure(text string, out *payload.Map) error {
	if text != "" && !strings.ContainsAny(text[len(text)-1:], ".?!") {
		text += "."
	}
	info := ""
	for _, key := range []string{"pid", "retcode", "stderr", "stdout"} {
		info += "\n" + key + ":\n    " + strings.ReplaceAll(python.Str(out.Value(key)), "\n", "\n    ")
	}
	return loader.ExecErr("%s Additional info follows:\n%s", text, info)
}

func version(c *loader.Call, a struct {
	BinEnv any `arg:"bin_env=None"`
	Cwd    any `arg:"cwd=None"`
	User   any `arg:"user=None"`
}) (any, error) {
	v, err := where{a.BinEnv, a.User, a.Cwd}.version(c)
	if v == "" {
		return nil, err
	}
	return v, err
}

var versionLine = pattern.New(`^pip (\S+)`)

func (a where) version(c *loader.Call) (string, error) {
	out, err := a.run(c, nil, "--version")
	if err != nil {
		return "", err
	}
	if failed(out) {
		return "", &loader.CommandNotFoundError{Message: "Could not find a `pip` binary"}
	}
	if m := versionLine.FindStringSubmatch(out.Str("stdout")); m != nil {
		return m[1], nil
	}
	return "", nil
}

// envVars are variables of the environment as arguments give them.
func envVars(v any) (*payload.Map, error) {
	out := payload.NewMap(0)
	if !python.Truth(v) {
		return out, nil
	}
	m, ok := v.(*payload.Map)
	if !ok {
		return nil, loader.ExecErr("env_vars %s is not a dictionary", python.Str(v))
	}
	for key, value := range m.All() {
		out.Set(python.Str(key), python.Str(value))
	}
	return out, nil
}

type listArgs struct {
	where
	EnvVars any          `arg:"env_vars=None"`
	KW      *payload.Map `arg:"**kwargs"`
}

// more are further arguments of cmd.run_all.
func (a listArgs) more() (*payload.Map, error) {
	more := loader.CleanKWArgs(a.KW)
	env, err := envVars(a.EnvVars)
	if env.Len() > 0 {
		more.Set("env", env)
	}
	return more, err
}

func freeze(c *loader.Call, a struct {
	where
	UseVT   any          `arg:"use_vt=False"`
	EnvVars any          `arg:"env_vars=None"`
	KW      *payload.Map `arg:"**kwargs"`
}) ([]any, error) {
	return frozen(c, listArgs{a.where, a.EnvVars, a.KW})
}

func frozen(c *loader.Call, a listArgs) ([]any, error) {
	more, err := a.more()
	if err != nil {
		return nil, err
	}
	out, err := a.run(c, more, "freeze", "--all", "--disable-pip-version-check")
	if err != nil {
		return nil, err
	}
	if failed(out) {
		return nil, failure(out.Str("stderr"), out)
	}
	return payload.AnyList(cmdmod.Output{Stdout: out.Str("stdout")}.Lines()), nil
}

type prefixed struct {
	Prefix any `arg:"prefix=None"`
	listArgs
}

// matches tells whether a package is asked for.
func (a prefixed) matches(name string) bool {
	return !python.Truth(a.Prefix) || strings.HasPrefix(name, pep440.Normalize(python.Str(a.Prefix)))
}

func listFrozen(c *loader.Call, a prefixed) (*payload.Map, error) {
	out := payload.NewMap(0)
	if !python.Truth(a.Prefix) || strings.HasPrefix("pip", pep440.Normalize(python.Str(a.Prefix))) {
		v, err := a.version(c)
		if err != nil {
			return nil, err
		}
		out.Set("pip", v)
	}
	lines, err := frozen(c, a.listArgs)
	if err != nil {
		return nil, err
	}
	for _, v := range lines {
		line := strings.TrimPrefix(v.(string), "-e ")
		name, version, ok := strings.Cut(line, "==")
		if source, egg, isEgg := strings.Cut(line, "#egg="); isEgg {
			name, version, ok = egg, source, true
		}
		if ok && !strings.HasPrefix(line, "-f") && !strings.HasPrefix(line, "#") && a.matches(pep440.Normalize(name)) {
			out.Set(pep440.Normalize(name), strings.TrimPrefix(version, "="))
		}
	}
	return out, nil
}

func list(c *loader.Call, a prefixed) (*payload.Map, error) {
	if v, err := a.version(c); err != nil {
		return nil, err
	} else if older(v, "9.0") {
		return listFrozen(c, a)
	}
	more, err := a.more()
	if err != nil {
		return nil, err
	}
	found, err := a.table(c, more, "list", "--format=json", "--disable-pip-version-check")
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for _, p := range found {
		if name := pep440.Normalize(p.Str("name")); a.matches(name) {
			out.Set(name, p.Str("version"))
		}
	}
	return out, nil
}

// older tells whether a version is before another one.
func older(v, than string) bool {
	order, ok := pep440.Compare(v, than)
	return ok && order < 0
}

// table runs a command of pip whose answer is a table.
func (a where) table(c *loader.Call, more *payload.Map, words ...string) ([]*payload.Map, error) {
	out, err := a.run(c, more, words...)
	if err != nil {
		return nil, err
	}
	if failed(out) {
		return nil, failure(out.Str("stderr"), out)
	}
	v, err := pyjson.Load(out.Str("stdout"))
	rows, ok := v.([]any)
	if err != nil || !ok {
		return nil, failure("Invalid JSON", out)
	}
	var found []*payload.Map
	for _, row := range rows {
		if m, ok := row.(*payload.Map); ok {
			found = append(found, m)
		}
	}
	return found, nil
}

func listUpgrades(c *loader.Call, a where) (*payload.Map, error) {
	rows, err := a.table(c, nil, "list", "--outdated", "--disable-pip-version-check", "--format=json")
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for _, p := range rows {
		out.Set(p.Str("name"), fmt.Sprintf("%s [%s]", p.Str("latest_version"), p.Str("latest_filetype")))
	}
	return out, nil
}

type oneOf struct {
	Name string `arg:"pkgname"`
	where
}

func isInstalled(c *loader.Call, a oneOf) (bool, error) {
	found, err := list(c, prefixed{a.Name, listArgs{where: a.where}})
	for name := range found.All() {
		if strings.EqualFold(name.(string), a.Name) {
			return true, err
		}
	}
	return false, err
}

func upgradeAvailable(c *loader.Call, a struct {
	Name string `arg:"pkg"`
	where
}) (bool, error) {
	found, err := listUpgrades(c, a.where)
	return found.Has(a.Name), err
}

func upgrade(c *loader.Call, a struct {
	where
	UseVT bool `arg:"use_vt=False"`
}) (*payload.Map, error) {
	before, err := list(c, prefixed{nil, listArgs{where: a.where}})
	if err != nil {
		return nil, err
	}
	newer, err := listUpgrades(c, a.where)
	if err != nil {
		return nil, err
	}
	comment, fine := "", true
	for name := range newer.All() {
		out, err := a.run(c, payload.M("use_vt", a.UseVT), "install", "-U", "--disable-pip-version-check", "--",
			name.(string))
		if err != nil {
			return nil, err
		}
		fine = fine && !failed(out)
		comment += out.Str("stderr")
	}
	after, err := list(c, prefixed{nil, listArgs{where: a.where}})
	if err != nil {
		return nil, err
	}
	return payload.M("changes", compared(before, after), "result", fine, "comment", comment), nil
}

// compared are the differences of two maps.
func compared(before, after *payload.Map) *payload.Map {
	out := payload.NewMap(0)
	for name, v := range after.All() {
		if old, ok := before.Get(name); !ok {
			out.Set(name, payload.M("old", "", "new", v))
		} else if old != v {
			out.Set(name, payload.M("old", old, "new", v))
		}
	}
	for name, v := range before.All() {
		if !after.Has(name) {
			out.Set(name, payload.M("new", "", "old", v))
		}
	}
	return out
}

func listAllVersions(c *loader.Call, a struct {
	Name  string `arg:"pkg"`
	Env   any    `arg:"bin_env=None"`
	Alpha bool   `arg:"include_alpha=False"`
	Beta  bool   `arg:"include_beta=False"`
	RC    bool   `arg:"include_rc=False"`
	User  any    `arg:"user=None"`
	Cwd   any    `arg:"cwd=None"`
	Index any    `arg:"index_url=None"`
	Extra any    `arg:"extra_index_url=None"`
}) (any, error) {
	at := where{a.Env, a.User, a.Cwd}
	v, err := at.version(c)
	if err != nil {
		return nil, err
	}
	if err := cmdmod.Operand(a.Name); err != nil {
		return nil, err
	}
	line := []string{"--disable-pip-version-check", "index", "versions", a.Name}
	answer := regexp.MustCompile(`\s*Available versions: (.*)`)
	if older(v, "21.2") {
		line = []string{"--disable-pip-version-check", "install", a.Name + "==versions"}
		answer = regexp.MustCompile(`\s*Could not find a version.* \(from versions: (.*)\)`)
	}
	env := payload.NewMap(0)
	for _, url := range []struct {
		option string
		value  any
	}{{"--index-url", a.Index}, {"--extra-index-url", a.Extra}} {
		if line, err = withURL(line, env, url.option, url.value); err != nil {
			return nil, err
		}
	}
	more := payload.M("output_loglevel", "quiet", "redirect_stderr", true)
	if env.Len() > 0 {
		more.Set("env", env)
	}
	out, err := at.run(c, more, line...)
	if err != nil {
		return nil, err
	}
	m := answer.FindStringSubmatch(out.Str("stdout"))
	if m == nil {
		return nil, nil
	}
	var versions []string
	for v := range strings.SplitSeq(m[1], ", ") {
		if v != "" && (a.Alpha || !strings.Contains(v, "a")) && (a.Beta || !strings.Contains(v, "b")) &&
			(a.RC || !strings.Contains(v, "rc")) {
			versions = append(versions, v)
		}
	}
	if len(versions) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(versions, func(v, w string) int { order, _ := pep440.Compare(v, w); return order })
	return payload.AnyList(versions), nil
}

// errUnknownURL means a URL of a kind that pip does not fetch.
var errUnknownURL = errors.New("is not a valid URL")

// withURL adds a URL of an index to a command line, or to the environment where it has a password.
func withURL(line []string, env *payload.Map, option string, v any) ([]string, error) {
	if !python.Truth(v) {
		return line, nil
	}
	url := python.Str(v)
	scheme, rest, _ := strings.Cut(url, ":")
	if !slices.Contains([]string{"http", "https", "ftp", "file"}, strings.ToLower(scheme)) {
		return nil, loader.ExecErr("'%s' %v", url, errUnknownURL)
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "/")
	if !strings.Contains(host, "@") {
		return append(line, option, url), nil
	}
	env.Set("PIP_"+strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(option, "--"), "-", "_")), url)
	return line, nil
}
