// Package systemd_service is the execution module service on hosts with systemd: what services there are, what runs,
// what starts with the host, what is masked; and it starts and stops them, enables and masks them. It asks systemctl, as
// the reference does, and like that has systemd read its unit files again where they have changed. It answers to
// salt/modules/systemd_service.py.
package systemd_service

import (
	"slices"
	"strings"

	"brine/modules/loader"
)

// name is the module's among functions, file its own.
const (
	name = "service"
	file = "systemd_service"
)

// Options say where the module looks.
type Options struct {
	Root string // the directory that is "/" for it; "": "/"
}

// Module is service for systemd.
func Module() loader.Module { return ModuleOf(Options{}) }

// ModuleOf is the module with other directories.
func ModuleOf(opt Options) loader.Module {
	return loader.Module{File: file, Name: name, Virtual: opt.virtual,
		Funcs: func() []loader.Func { return slices.Concat(opt.ofOne(), opt.ofAll(), opt.ofChange()) }}
}

// fn declares a function; example is what stands behind its name on a command line.
func fn[A, R any](o Options, name string, f func(*host, A) (R, error), doc, example string) loader.Func {
	return loader.Fn(name, func(c *loader.Call, a A) (R, error) { return f(newHost(o, c), a) }, doc,
		strings.TrimSpace("service."+name+" "+example))
}

// Arguments of several functions. Root is another root directory or nothing.
type (
	named struct {
		Name string `arg:"name"`
	}
	rooted struct {
		Root any `arg:"root=None"`
	}
	namedIn struct {
		named
		rooted
	}
)

// ofOne are the functions that tell of one service, or of those that a glob names.
func (o Options) ofOne() []loader.Func {
	return []loader.Func{
		fn(o, "available", availableFunc, "Tell whether systemd knows a service.", "ssh"),
		fn(o, "missing", missingFunc, "Tell whether systemd knows a service not.", "ssh"),
		fn(o, "status", statusFunc, "Tell whether a service runs; for a glob, which of those that it names do.",
			"'ssh*'"),
		fn(o, "enabled", enabledFunc, "Tell whether a service starts with the host.", "ssh"),
		fn(o, "disabled", disabledFunc, "Tell whether a service does not start with the host.", "ssh"),
		fn(o, "masked", maskedFunc,
			"Tell whether a service is masked for good, or with runtime=True until the next boot.", "ssh runtime=True"),
		fn(o, "show", showFunc, "Show the properties of a service.", "ssh"),
	}
}

// ofAll are the functions that list services.
func (o Options) ofAll() []loader.Func {
	return []loader.Func{
		fn(o, "get_all", getAll, "List the services that there are.", ""),
		fn(o, "get_running", getRunning, "List the services that run.", ""),
		fn(o, "get_enabled", getEnabled, "List the services that start with the host.", ""),
		fn(o, "get_disabled", getDisabled, "List the services that do not start with the host.", ""),
		fn(o, "get_static", getStatic, "List the services that start only because another one wants them.", ""),
		fn(o, "execs", execs, "Show which file each service starts.", ""),
	}
}

// virtual wants a host that systemd has booted. Unlike Salt: a systemctl alone is not enough. In Salt it is enough on
// few systems only, since other modules of that name come first on most.
func (o Options) virtual(p loader.Place) (bool, string) {
	if kernel, _ := p.Grain("kernel"); kernel == "Linux" && newHost(o, nil).booted() {
		return true, ""
	}
	return false, "The systemd execution module failed to load: only available on Linux systems " +
		"which have been booted with systemd."
}
