// Package keyboard is the execution module keyboard: the layout of the keyboard, of the console and of X. localectl is
// asked where there is one, else the file of the distribution. It answers to salt/modules/keyboard.py.
package keyboard

import (
	"errors"
	"io/fs"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/conffile"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/python"
)

// Module is the module keyboard.
func Module() loader.Module {
	return loader.Module{File: "keyboard", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("get_sys", getSys, "Show the layout of the keyboard.", "keyboard.get_sys"),
			loader.Fn("set_sys", setSys, "Set the layout of the keyboard.", "keyboard.set_sys dvorak"),
			loader.Fn("get_x", getX, "Show the layout of the keyboard in X.", "keyboard.get_x"),
			loader.Fn("set_x", setX, "Set the layout of the keyboard in X.", "keyboard.set_x dvorak"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	family, _ := place.Grain("os_family")
	if _, known := files[python.Str(family)]; known || program.Which("localectl") != "" {
		return true, ""
	}
	return false, "The keyboard exeuction module cannot be loaded: only works on Redhat, Debian or Gentoo systems or if " +
		"localectl binary in path."
}

// kept is where a distribution keeps the layout.
type kept struct{ file, variable string }

var files = map[string]kept{"RedHat": {"/etc/sysconfig/keyboard", "LAYOUT"},
	"Debian": {"/etc/default/keyboard", "XKBLAYOUT"}, "Gentoo": {"/etc/conf.d/keymaps", "keymap"}}

type layout struct {
	Layout string `arg:"layout"`
}

func hasLocalectl(c *loader.Call) bool {
	path, _ := environ.Of(c.Ctx).Get("PATH")
	return program.WhichOn(path, "localectl") != ""
}

func place(c *loader.Call) (kept, error) {
	family, _ := c.Grain("os_family")
	for name, p := range files {
		if strings.Contains(python.Str(family), name) {
			return p, nil
		}
	}
	return kept{}, loader.ExecErr("the layout of the keyboard is not known on %s", python.Str(family))
}

func getSys(c *loader.Call, _ struct{}) (string, error) {
	if hasLocalectl(c) {
		text, err := cmdmod.Run(c, []string{"localectl"}, nil)
		if err != nil {
			return "", err
		}
		for line := range strings.SplitSeq(text, "\n") {
			if _, value, ok := strings.Cut(line, "Keymap: "); ok {
				return strings.ReplaceAll(value, `"`, ""), nil
			}
		}
		return "", loader.ExecErr("localectl tells no layout: %s", text)
	}
	p, err := place(c)
	if err != nil {
		return "", err
	}
	text, err := conffile.Read(p.file)
	if err != nil {
		return "", loader.ExecErr("the layout of the keyboard is not known: %s", loader.Message(err))
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), p.variable+"="); ok {
			return strings.ReplaceAll(rest, `"`, ""), nil
		}
	}
	return "", loader.ExecErr("there is no %s in %s", p.variable, p.file)
}

// checked refuses what is no name of a layout. Unlike Salt, which writes it.
func checked(layout string) error {
	if layout == "" || strings.ContainsAny(layout, " \t\n\r\"'`$\\#;") {
		return loader.InvocErr("%s is no layout of a keyboard", python.Repr(layout))
	}
	return cmdmod.Operand(layout)
}

func setSys(c *loader.Call, a layout) (string, error) {
	if err := checked(a.Layout); err != nil {
		return "", err
	}
	if hasLocalectl(c) {
		_, err := cmdmod.Run(c, []string{"localectl", "set-keymap", a.Layout}, nil)
		return a.Layout, err
	}
	p, err := place(c)
	if err != nil {
		return "", err
	}
	_, err = conffile.Edit(p.file, func(text string) string {
		lines := strings.SplitAfter(text, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, p.variable+"=") {
				lines[i] = p.variable + "=" + a.Layout + line[len(strings.TrimRight(line, "\n")):]
			}
		}
		return strings.Join(lines, "")
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return a.Layout, err
}

func getX(c *loader.Call, _ struct{}) (string, error) {
	text, err := cmdmod.Run(c, []string{"setxkbmap", "-query"}, nil)
	if err != nil {
		return "", err
	}
	for line := range strings.SplitSeq(text, "\n") {
		if _, value, ok := strings.Cut(line, ":"); ok && strings.Contains(line, "layout") {
			return strings.TrimSpace(value), nil
		}
	}
	return "", loader.ExecErr("setxkbmap tells no layout: %s", text)
}

func setX(c *loader.Call, a layout) (string, error) {
	if err := checked(a.Layout); err != nil {
		return "", err
	}
	_, err := cmdmod.Run(c, []string{"setxkbmap", a.Layout}, nil)
	return a.Layout, err
}
