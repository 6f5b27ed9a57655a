// Package alternatives is the execution module alternatives: which of several programs stands behind a common name, by
// update-alternatives or alternatives. It answers to salt/modules/alternatives.py of 3006.
package alternatives

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

const dir = "/etc/alternatives"

// Module is the module alternatives.
func Module() loader.Module {
	return loader.Module{File: "alternatives", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("display", display, "Show what is known of a name.", "alternatives.display editor").Shows("txt"),
			loader.Fn("show_link", showLink, "Show the link that programs are called by.", "alternatives.show_link editor"),
			loader.Fn("show_current", showCurrent, "Show the path that a name has now.",
				"alternatives.show_current editor"),
			loader.Fn("check_exists", checkExists, "Tell whether a path is an alternative of a name.",
				"alternatives.check_exists name path"),
			loader.Fn("check_installed", checkInstalled, "Tell whether a name has a path now.",
				"alternatives.check_installed name path"),
			loader.Fn("install", install, "Add an alternative.",
				"alternatives.install editor /usr/bin/editor /usr/bin/emacs23 50").Shows("txt"),
			loader.Fn("remove", remove, "Remove an alternative.", "alternatives.remove name path").Shows("txt"),
			loader.Fn("auto", auto, "Have the priorities choose the path of a name.", "alternatives.auto name"),
			loader.Fn("set", set, "Choose the path of a name.", "alternatives.set name path").Named("set_"),
		}
	}}
}

func virtual(loader.Place) (bool, string) {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return true, ""
	}
	return false, "Cannot load alternatives module: /etc/alternatives dir not found"
}

type (
	named struct {
		Name string `arg:"name"`
	}
	pathed struct {
		named
		Path string `arg:"path"`
	}
	added struct {
		named
		Link     string `arg:"link"`
		Path     string `arg:"path"`
		Priority any    `arg:"priority"`
	}
)

func family(c *loader.Call) string {
	v, _ := c.Grain("os_family")
	return python.Str(v)
}

var quiet = payload.M("ignore_retcode", true)

// run runs the program of the distribution. Unlike Salt: words that it would take for options are refused.
func run(c *loader.Call, how *payload.Map, command string, words ...string) (cmdmod.Output, error) {
	if err := cmdmod.Operand(words...); err != nil {
		return cmdmod.Output{}, err
	}
	argv := []string{"update-alternatives", command}
	if family(c) == "RedHat" {
		argv[0] = "alternatives"
	}
	return cmdmod.RunAll(c, append(argv, words...), how)
}

func display(c *loader.Call, a named) (string, error) {
	out, err := run(c, quiet, "--display", a.Name)
	if out.Code > 0 && out.Stderr != "" {
		return out.Stderr, err
	}
	return out.Stdout, err
}

func showLink(c *loader.Call, a named) (any, error) {
	switch family(c) {
	case "RedHat":
		return linkIn(c, "/var/lib/alternatives", a.Name), nil
	case "Suse":
		return linkIn(c, "/var/lib/rpm/alternatives", a.Name), nil
	}
	out, err := run(c, quiet, "--query", a.Name)
	if err != nil || out.Code > 0 && out.Stderr != "" {
		return false, err
	}
	first, _, _ := strings.Cut(out.Stdout, "\n\n")
	for line := range strings.SplitSeq(first, "\n") {
		if rest, ok := strings.CutPrefix(line, "Link:"); ok {
			return strings.TrimSpace(rest), nil
		}
	}
	return false, nil
}

// linkIn reads a file of the program: its second line is the link. Without one it is false.
func linkIn(c *loader.Call, folder, name string) any {
	text := []byte(nil)
	err := fs.ErrNotExist
	if filepath.IsLocal(name) {
		text, err = os.ReadFile(filepath.Join(folder, name))
	}
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) < 2 {
		c.Log(slog.LevelError, "alternatives: "+name+" does not exist")
		return false
	}
	return lines[1]
}

// current is the path of a name; "" where there is none.
func current(name string) string {
	if !filepath.IsLocal(name) {
		return ""
	}
	path, err := os.Readlink(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

func showCurrent(c *loader.Call, a named) (any, error) {
	if path := current(a.Name); path != "" {
		return path, nil
	}
	c.Log(slog.LevelError, "alternative: "+a.Name+" does not exist")
	return false, nil
}

func checkInstalled(_ *loader.Call, a pathed) (bool, error) { return current(a.Name) == a.Path, nil }

// checkExists compares whole paths. In the reference a path exists where it begins that of an alternative.
func checkExists(c *loader.Call, a pathed) (bool, error) {
	out, err := run(c, quiet, "--display", a.Name)
	if err != nil || out.Code > 0 && out.Stderr != "" {
		return false, err
	}
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if path, _, _ := strings.Cut(line, " - "); path == a.Path {
			return true, nil
		}
	}
	return false, nil
}

// told is what the program says: its complaint where it fails.
func told(out cmdmod.Output, err error) (string, error) {
	if out.Code > 0 {
		return out.Stderr, err
	}
	return out.Stdout, err
}

func install(c *loader.Call, a added) (string, error) {
	return told(run(c, nil, "--install", a.Link, a.Name, a.Path, python.Str(a.Priority)))
}

func remove(c *loader.Call, a pathed) (string, error) {
	return told(run(c, nil, "--remove", a.Name, a.Path))
}

func auto(c *loader.Call, a named) (string, error) { return told(run(c, nil, "--auto", a.Name)) }

func set(c *loader.Call, a pathed) (string, error) { return told(run(c, nil, "--set", a.Name, a.Path)) }
