// Package debconfmod holds the functions of module debconf: the answers that packages are given when they are
// installed. It works with the programs of debconf-utils. It answers to salt/modules/debconfmod.py.
package debconfmod

import (
	"os"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is debconf.
func Module() loader.Module {
	return loader.Module{File: "debconfmod", Name: "debconf", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("get_selections", getSelections, "Show all answers, by package.", "debconf.get_selections"),
			loader.Fn("show", show, "Show the answers of a package; nothing for one without.", "debconf.show <package>"),
			loader.Fn("set", set, "Set an answer.",
				"debconf.set <package> <question> <type> <value> [<value> ...]").Named("set_"),
			loader.Fn("set_template", setTemplate, "Set the answers of a template.",
				"debconf.set_template salt://pathto/pkg.selections.jinja jinja None None"),
			loader.Fn("set_file", setFile, "Set the answers of a file.",
				"debconf.set_file salt://pathto/pkg.selections"),
		}
	}}
}

func virtual(p loader.Place) (bool, string) {
	if family, _ := p.Grain("os_family"); family != "Debian" {
		return false, "The debconfmod module could not be loaded: unsupported OS family"
	}
	if program.Which("debconf-get-selections") == "" {
		return false, "The debconfmod module could not be loaded: debconf-utils is not installed."
	}
	return true, ""
}

type fetched struct {
	Empty bool `arg:"fetchempty=True"`
}

func getSelections(c *loader.Call, a fetched) (*payload.Map, error) { return selections(c, a.Empty) }

// answer is a line of debconf: package, question, type, value.
var answer = pattern.New(`(?m)^([^#]\S+)[\t ]+(\S+)[\t ]+(\S+)[\t ]+([^\n]*)$`)

func selections(c *loader.Call, empty bool) (*payload.Map, error) {
	out, err := cmdmod.RunAll(c, []string{"debconf-get-selections"}, nil)
	if err != nil {
		return nil, err
	}
	all := payload.NewMap(0)
	for _, m := range answer.FindAllStringSubmatch(out.Stdout, -1) {
		if empty || m[4] != "" {
			of, _ := all.Value(m[1]).([]any)
			all.Set(m[1], append(of, []any{m[2], m[3], m[4]}))
		}
	}
	return all, nil
}

type named struct {
	Name string `arg:"name"`
}

func show(c *loader.Call, a named) (any, error) {
	all, err := selections(c, true)
	return all.Value(a.Name), err
}

type answered struct {
	Package  string `arg:"package"`
	Question string `arg:"question"`
	Type     string `arg:"type"`
	Value    any    `arg:"value"`
	Extra    []any  `arg:"*extra"`
}

// set gives debconf an answer in a file that only the minion's user may read: it may be a password. Unlike Salt: an
// answer of several lines is refused, and one that debconf does not take is an error.
func set(c *loader.Call, a answered) (bool, error) {
	value := python.Str(a.Value)
	for _, v := range a.Extra {
		value += " " + python.Str(v)
	}
	for _, word := range []string{a.Package, a.Question, a.Type} {
		if word == "" || strings.ContainsFunc(word, python.IsSpace) {
			return false, loader.ExecErr("%s is no word of an answer of debconf", python.Repr(word))
		}
	}
	if strings.ContainsAny(value, "\n\r\x00") {
		return false, loader.ExecErr("the answer to %s has more than one line", a.Question)
	}
	f, err := os.CreateTemp("", "salt-")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(a.Package + " " + a.Question + " " + a.Type + " " + value)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return false, err
	}
	return setFrom(c, f.Name())
}

// setFrom gives debconf the answers of a file.
func setFrom(c *loader.Call, path string) (bool, error) {
	out, err := cmdmod.RunAll(c, []string{"debconf-set-selections", path}, nil)
	return err == nil && out.Code == 0, err
}

type template struct {
	Path     any          `arg:"path"`
	Template any          `arg:"template"`
	Context  any          `arg:"context"`
	Defaults any          `arg:"defaults"`
	Saltenv  any          `arg:"saltenv=base"`
	KW       *payload.Map `arg:"**kwargs"`
}

func setTemplate(c *loader.Call, a template) (bool, error) {
	path, err := c.Call("cp.get_template", nil, a.KW.Clone().Set("path", a.Path).Set("dest", "").
		Set("template", a.Template).Set("saltenv", a.Saltenv).Set("context", a.Context).Set("defaults", a.Defaults))
	if err != nil {
		return false, err
	}
	return setFile(c, file{Path: path, Saltenv: a.Saltenv})
}

type file struct {
	Path    any          `arg:"path"`
	Saltenv any          `arg:"saltenv=base"`
	KW      *payload.Map `arg:"**kwargs"`
}

func setFile(c *loader.Call, a file) (bool, error) {
	path, err := c.Call("cp.cache_file", []any{a.Path, a.Saltenv}, nil)
	if err != nil || !python.Truth(path) {
		return false, err
	}
	return setFrom(c, python.Str(path))
}
