// Package linux_sysctl is the execution module sysctl: it reads and sets parameters of the kernel, now by the program
// sysctl and for later in a file. It answers to salt/modules/linux_sysctl.py.
package linux_sysctl

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/conffile"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/host/systemd"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module sysctl.
func Module() loader.Module {
	return loader.Module{File: "linux_sysctl", Name: "sysctl", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("default_config", defaultConfig, "Show in which file parameters are kept on this host.",
				"sysctl.default_config"),
			loader.Fn("show", show, "Show all parameters, or those of a file.", "sysctl.show"),
			loader.Fn("get", get, "Show a parameter.", "sysctl.get net.ipv4.ip_forward"),
			loader.Fn("assign", assign, "Set a parameter until the next boot.", "sysctl.assign net.ipv4.ip_forward 1"),
			loader.Fn("persist", persist, "Set a parameter now, and for later in a file.",
				"sysctl.persist net.ipv4.ip_forward 1"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if kernel, _ := place.Grain("kernel"); kernel != "Linux" {
		return false, "The linux_sysctl execution module cannot be loaded: only available on Linux systems."
	}
	return true, ""
}

// Arguments.
type (
	named struct {
		Name string `arg:"name"`
	}
	setting struct {
		named
		Value any `arg:"value"`
	}
	kept struct {
		setting
		Config any `arg:"config=None"`
	}
	shown struct {
		Config any `arg:"config_file=False"`
	}
)

// DefaultConfig is the file in which parameters are kept on this host.
func DefaultConfig(c *loader.Call) string {
	if systemd.Booted() {
		if release, known := systemd.Version(c.Ctx); known && release >= 207 {
			return "/etc/sysctl.d/99-salt.conf"
		}
	}
	return "/etc/sysctl.conf"
}

func defaultConfig(c *loader.Call, _ struct{}) (string, error) { return DefaultConfig(c), nil }

// sysctl is the command line of the program.
func sysctl(c *loader.Call, words ...string) ([]string, error) {
	path, _ := environ.Of(c.Ctx).Get("PATH")
	found := program.WhichOn(path, "sysctl")
	if found == "" {
		return nil, loader.ExecErr("Command 'sysctl' cannot be found")
	}
	return append([]string{found}, words...), nil
}

func show(c *loader.Call, a shown) (any, error) {
	if python.Truth(a.Config) {
		return shownIn(c, python.Str(a.Config)), nil
	}
	argv, err := sysctl(c, "-a")
	if err != nil {
		return nil, err
	}
	out, err := cmdmod.RunAll(c, argv, nil)
	if err != nil {
		return nil, err
	}
	all := payload.NewMap(0)
	for _, line := range out.Lines() {
		if name, value, ok := strings.Cut(line, " = "); ok {
			all.Set(name, value)
		}
	}
	return all, nil
}

// shownIn are the parameters in a file: an empty list where there is none, nil for one that cannot be read.
func shownIn(c *loader.Call, file string) any {
	text, err := conffile.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return []any{}
	}
	if err != nil {
		c.Log(slog.LevelError, "The file of parameters is not read: "+loader.Message(err))
		return nil
	}
	all := payload.NewMap(0)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			all.Set(strings.TrimRight(name, " \t"), strings.TrimLeft(value, " \t"))
		}
	}
	return all
}

// Get is what the program says of a parameter, complaints included.
func Get(c *loader.Call, name string) (string, error) {
	if err := checked(name, ""); err != nil {
		return "", err
	}
	argv, err := sysctl(c, "-n", name)
	if err != nil {
		return "", err
	}
	return cmdmod.Run(c, argv, nil)
}

func get(c *loader.Call, a named) (string, error) { return Get(c, a.Name) }

// checked refuses names and values that would be more than one line of the file, or an option of the program. Unlike
// Salt, which writes them.
func checked(name, value string) error {
	if err := cmdmod.Operand(name); err != nil {
		return err
	}
	if name == "" || strings.ContainsAny(name, "=#; \t\r\n\v\f") {
		return loader.ExecErr("%s is no name of a parameter of the kernel", python.Repr(name))
	}
	if strings.ContainsAny(value, "\r\n\v\f") {
		return loader.ExecErr("%s is no value of a parameter of the kernel: it has more than one line", python.Repr(value))
	}
	return nil
}

func assign(c *loader.Call, a setting) (*payload.Map, error) {
	value := python.Str(a.Value)
	if err := checked(a.Name, value); err != nil {
		return nil, err
	}
	swap := strings.NewReplacer(".", "/", "/", ".")
	if _, err := os.Stat("/proc/sys/" + swap.Replace(a.Name)); err != nil {
		return nil, loader.ExecErr("sysctl %s does not exist", a.Name)
	}
	argv, err := sysctl(c, "-w", a.Name+"="+value)
	if err != nil {
		return nil, err
	}
	out, err := cmdmod.RunAll(c, argv, nil)
	if err != nil {
		return nil, err
	}
	if !isSetting(out.Stdout, a.Name, value) || strings.Contains(out.Stderr, "Invalid argument") {
		text := out.Stdout
		if out.Code != 0 && out.Stderr != "" {
			text = out.Stderr
		}
		return nil, loader.ExecErr("sysctl -w failed: %s", text)
	}
	name, set, _ := strings.Cut(out.Stdout, " = ")
	return payload.M(name, set), nil
}

// isSetting tells whether the program's answer is that a parameter has a value.
func isSetting(text, name, value string) bool {
	rest, ok := strings.CutPrefix(text, name)
	if !ok {
		return false
	}
	left, right, ok := strings.Cut(rest, "=")
	space, ended := strings.CutSuffix(right, value)
	return ok && ended && left != "" && space != "" && strings.TrimSpace(left) == "" && strings.TrimSpace(space) == ""
}

func persist(c *loader.Call, a kept) (string, error) {
	s, err := Look(c, a.Name, a.Value, a.Config)
	if err != nil {
		return "", err
	}
	return s.Persist(c)
}
