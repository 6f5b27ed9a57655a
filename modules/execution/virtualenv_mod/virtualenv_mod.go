// Package virtualenv_mod is the execution module virtualenv: environments of Python, made by virtualenv or by the
// module
// venv. It answers to salt/modules/virtualenv_mod.py.
//
// Unlike Salt: "venv" is that of python3 on the PATH, since a brine minion has no Python of its own, and nothing is
// fetched from the network to get pip or setuptools into an environment.
package virtualenv_mod

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/modules/text/pep440"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is virtualenv.
func Module() loader.Module {
	return loader.Module{File: "virtualenv_mod", Name: "virtualenv", Virtual: loader.Always,
		Funcs: func() []loader.Func {
			return []loader.Func{
				loader.Fn("virtualenv_ver", runVersion, "Give the version of virtualenv.",
					"virtualenv.virtualenv_ver virtualenv").AsTuple(),
				loader.Fn("create", create, "Create a virtual environment.",
					"virtualenv.create /path/to/new/virtualenv"),
				loader.Fn("get_site_packages", sitePackages, "Give the directory of packages of an environment.",
					"virtualenv.get_site_packages /path/to/my/venv"),
				loader.Fn("get_distribution_path", distributionPath, "Give the place of a package in an environment.",
					"virtualenv.get_distribution_path /path/to/my/venv my_distribution"),
				loader.Fn("get_resource_path", resource("resource_filename"), "Give the place of a file of a package.",
					"virtualenv.get_resource_path /path/to/my/venv my_package my/resource.xml"),
				loader.Fn("get_resource_content", resource("resource_string"),
					"Give the content of a file of a package.",
					"virtualenv.get_resource_content /path/to/my/venv my_package my/resource.xml"),
			}
		}}
}

func which(c *loader.Call, name string) string {
	path, _ := environ.Of(c.Ctx).Get("PATH")
	return program.WhichOn(path, name)
}

var interpreter = pattern.New(`(?i)^(python|pypy)[0-9.]*(\.exe)?$`)

type createArgs struct {
	Path       string       `arg:"path"`
	Bin        any          `arg:"venv_bin=None"`
	System     any          `arg:"system_site_packages=False"`
	Distribute bool         `arg:"distribute=False"`
	Clear      any          `arg:"clear=False"`
	Python     any          `arg:"python=None"`
	Extra      any          `arg:"extra_search_dir=None"`
	Never      any          `arg:"never_download=None"`
	Prompt     any          `arg:"prompt=None"`
	Pip        bool         `arg:"pip=False"`
	Symlinks   any          `arg:"symlinks=None"`
	Upgrade    any          `arg:"upgrade=None"`
	User       any          `arg:"user=None"`
	UseVT      bool         `arg:"use_vt=False"`
	Saltenv    any          `arg:"saltenv=base"`
	KW         *payload.Map `arg:"**kwargs"`
}

// bin is what makes the environment: that of the arguments, the pillar or the options, or what there is.
func (a createArgs) bin(c *loader.Call) string {
	for _, v := range []any{a.Bin, c.Pillar().Value("venv_bin"), c.Opts().Value("venv_bin")} {
		if python.Truth(v) {
			return python.Str(v)
		}
	}
	for _, name := range []string{"virtualenv3", "virtualenv"} {
		if path := which(c, name); path != "" {
			return path
		}
	}
	return "venv"
}

func given(v any) string { return strings.TrimSpace(loader.Text(v)) }

func create(c *loader.Call, a createArgs) (*payload.Map, error) {
	argv, err := a.command(c, a.bin(c))
	if err != nil {
		return nil, err
	}
	if err := cmdmod.Operand(a.Path); err != nil {
		return nil, err
	}
	if a.Clear == true {
		argv = append(argv, "--clear")
	}
	if a.System == true {
		argv = append(argv, "--system-site-packages")
	}
	_, err = os.Lstat(a.Path)
	fresh := err != nil
	more := loader.CleanKWArgs(a.KW).Set("runas", a.User).Set("python_shell", false)
	v, err := c.Call("cmd.run_all", []any{payload.AnyList(append(argv, a.Path))}, more)
	if err != nil {
		return nil, err
	}
	out, _ := v.(*payload.Map)
	if code, _ := out.Int("retcode"); code != 0 && fresh && filepath.IsAbs(a.Path) {
		_ = safefile.Remove(a.Path) // of what is half made
	}
	if _, err := os.Stat(filepath.Join(a.Path, "bin", "pip")); a.Pip && err != nil {
		return nil, loader.ExecErr("The environment %s has no pip, and a brine minion fetches none", a.Path)
	}
	return out, nil
}

// command is the program that makes the environment, with its options.
func (a createArgs) command(c *loader.Call, bin string) ([]string, error) {
	wanted := given(a.Python)
	var argv []string
	isPython := interpreter.MatchString(filepath.Base(bin))
	switch {
	case bin == "venv":
		name := "python3"
		if wanted != "" {
			name = wanted
		}
		if which(c, name) == "" {
			return nil, loader.ExecErr("Cannot find requested python (%s).", name)
		}
		argv = []string{name, "-m", "venv"}
	case isPython && wanted != "":
		return nil, loader.ExecErr("Pass the target interpreter either as `venv_bin` or as `python`, not both.")
	case isPython:
		if which(c, bin) == "" {
			return nil, loader.ExecErr("Cannot find requested python (%s).", bin)
		}
		argv = []string{bin, "-m", "venv"}
	default:
		argv = []string{bin}
	}
	if bin == "venv" || isPython {
		return a.venv(argv, "")
	}
	if strings.Contains(bin, "venv") {
		return a.venv(argv, bin)
	}
	return a.virtualenv(c, argv, bin)
}

// venv adds the options of the module venv; bin is a program around it, "" for the module itself.
func (a createArgs) venv(argv []string, bin string) ([]string, error) {
	no := func(name, option string) error {
		return loader.ExecErr("The `%s`(`%s`) option is not supported by '%s'", name, option, a.shownBin(bin))
	}
	switch _, isText := a.Extra.(string); {
	case bin != "" && given(a.Python) != "":
		return nil, no("python", "--python")
	case a.Extra != nil && (!isText || given(a.Extra) != ""):
		return nil, no("extra_search_dir", "--extra-search-dir")
	case a.Never != nil:
		return nil, no("never_download", "--never-download")
	}
	if a.Upgrade == true {
		argv = append(argv, "--upgrade")
	}
	if a.Symlinks == true {
		argv = append(argv, "--symlinks")
	}
	if given(a.Prompt) != "" {
		argv = append(argv, "--prompt", python.Str(a.Prompt))
	}
	return argv, nil
}

func (a createArgs) shownBin(bin string) string {
	switch {
	case bin != "":
		return bin
	case a.Bin != nil:
		return python.Str(a.Bin)
	}
	return "venv"
}

// virtualenv adds the options of the program virtualenv.
func (a createArgs) virtualenv(c *loader.Call, argv []string, bin string) ([]string, error) {
	switch {
	case a.Upgrade != nil:
		return nil, loader.ExecErr("The `upgrade`(`--upgrade`) option is not supported by '%s'", bin)
	case a.Symlinks != nil:
		return nil, loader.ExecErr("The `symlinks`(`--symlinks`) option is not supported by '%s'", bin)
	}
	version, err := versionOf(c, bin, a.User, loader.CleanKWArgs(a.KW))
	if err != nil {
		return nil, err
	}
	before := func(than string) bool { order, ok := pep440.Compare(version, than); return ok && order < 0 }
	if a.Distribute && before("1.10") {
		argv = append(argv, "--distribute")
	}
	if wanted := given(a.Python); wanted != "" {
		if which(c, wanted) == "" {
			return nil, loader.ExecErr("Cannot find requested python (%s).", wanted)
		}
		argv = append(argv, "--python="+wanted)
	}
	for _, dir := range loader.StringList(a.Extra) {
		argv = append(argv, "--extra-search-dir="+dir)
	}
	switch {
	case a.Never == true && (before("1.10") || !before("14.0.0")):
		argv = append(argv, "--never-download")
	case a.Never == false && !before("20.0"):
		argv = append(argv, "--download")
	}
	if given(a.Prompt) != "" {
		argv = append(argv, "--prompt='"+python.Str(a.Prompt)+"'")
	}
	return argv, nil
}

var firstVersion = pattern.New(`\d+(\.\d+)+`)

// versionOf is the version of virtualenv.
func versionOf(c *loader.Call, bin string, user any, more *payload.Map) (string, error) {
	if err := cmdmod.Operand(bin); err != nil {
		return "", err
	}
	out, err := cmdmod.RunAll(c, []string{bin, "--version"}, more.Clone().Set("runas", user).Set("redirect_stderr",
		true))
	if err != nil {
		return "", err
	}
	found := firstVersion.FindString(out.Stdout)
	if out.Code > 0 || found == "" {
		return "", loader.ExecErr("Unable to get the virtualenv version output using '%s'. Returned data: %s",
			python.Repr([]any{bin, "--version"}), out.Stdout)
	}
	return found, nil
}

func runVersion(c *loader.Call, a struct {
	Bin  string       `arg:"venv_bin"`
	User any          `arg:"user=None"`
	KW   *payload.Map `arg:"**kwargs"`
}) ([]any, error) {
	text, err := versionOf(c, a.Bin, a.User, loader.CleanKWArgs(a.KW))
	out := []any{}
	for part := range strings.SplitSeq(text, ".") {
		if n, err := loader.ToInt(part); err == nil {
			out = append(out, n)
		}
	}
	return out, err
}

// ask has the Python of an environment run code, and gives what it prints.
func ask(c *loader.Call, venv, code string) (string, error) {
	bin := filepath.Join(venv, "bin", "python")
	if _, err := os.Stat(bin); err != nil {
		return "", loader.ExecErr("Path '%s' does not appear to be a virtualenv: '%s' not found.", venv, bin)
	}
	if err := cmdmod.Operand(bin); err != nil {
		return "", err
	}
	out, err := cmdmod.RunAll(c, []string{bin, "-c", code}, nil)
	if err == nil && out.Code != 0 {
		err = loader.ExecErr("%s\n%s", out.Stdout, out.Stderr)
	}
	return out.Stdout, err
}

type inVenv struct {
	Venv string `arg:"venv"`
}

func sitePackages(c *loader.Call, a inVenv) (string, error) {
	return ask(c, a.Venv, `import sysconfig; print(sysconfig.get_path("purelib"))`)
}

// safe refuses what salt.utils.verify.safe_py_code does.
func safe(words ...string) error {
	for _, word := range words {
		for _, bad := range []string{"import", ";", "subprocess", "eval", "open", "file", "exec", "input"} {
			if strings.Contains(word, bad) {
				return loader.InvocErr("Unsafe python code detected in '%s'", word)
			}
		}
	}
	return nil
}

func distributionPath(c *loader.Call, a struct {
	inVenv
	Name string `arg:"distribution"`
}) (string, error) {
	if err := safe(a.Name); err != nil {
		return "", err
	}
	return ask(c, a.Venv, fmt.Sprintf("import sysconfig\ntry:\n    import importlib.metadata as m\n    "+
		"m.distribution(%[1]s)\n"+
		"    print(sysconfig.get_path('purelib'))\nexcept ImportError:\n    import pkg_resources\n"+
		"    print(pkg_resources.get_distribution(%[1]s).location)\n", python.Repr(a.Name)))
}

type resourceArgs struct {
	inVenv
	Package  string `arg:"package=None"`
	Resource string `arg:"resource=None"`
}

func resource(function string) func(*loader.Call, resourceArgs) (string, error) {
	return func(c *loader.Call, a resourceArgs) (string, error) {
		if err := safe(a.Package, a.Resource); err != nil {
			return "", err
		}
		return ask(c, a.Venv, fmt.Sprintf("import pkg_resources; print(pkg_resources.%s(%s, %s))", function,
			python.Repr(a.Package), python.Repr(a.Resource)))
	}
}
