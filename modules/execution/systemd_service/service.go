// Package systemd_service holds the functions of module service on hosts with systemd that look: what services there
// are, what runs, what starts with the host, what is masked. It starts and stops none. It asks systemctl, as the
// reference does, and like that has systemd read its unit files again where they have changed. It answers to
// salt/modules/systemd_service.py.
package systemd_service

import (
	"os"

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
		Funcs: func() []loader.Func { return append(opt.ofOne(), opt.ofAll()...) }}
}

// run is the body of a function.
type run = func(*host, loader.Args) (any, error)

// fn declares a function; example is what stands behind its name on a command line.
func (o Options) fn(name, doc, example string, f run, params ...loader.Param) loader.Func {
	if example != "" {
		example = " " + example
	}
	return loader.Func{Name: "service." + name, Params: params,
		Doc: doc + "\n\nCLI Example:\n\n    salt '*' service." + name + example,
		Run: func(c *loader.Call, a loader.Args) (any, error) { return f(newHost(o, c), a) }}
}

// ofOne are the functions that tell of one service, or of those that a glob names.
func (o Options) ofOne() []loader.Func {
	name, root := loader.Req("name"), loader.Opt("root", nil)
	enabled := o.fn("enabled", "Tell whether a service starts with the host.", "ssh", enabledFunc, name, root)
	enabled.KWArgs = true
	return []loader.Func{
		o.fn("available", "Tell whether systemd knows a service.", "ssh", availableFunc, name),
		o.fn("missing", "Tell whether systemd knows a service not.", "ssh", missingFunc, name),
		o.fn("status", "Tell whether a service runs; for a glob, which of those that it names do.", "'ssh*'",
			statusFunc, name, loader.Opt("sig", nil)),
		enabled,
		o.fn("disabled", "Tell whether a service does not start with the host.", "ssh", disabledFunc, name, root),
		o.fn("masked", "Tell whether a service is masked for good, or with runtime=True until the next boot.",
			"ssh runtime=True", maskedFunc, name, loader.Opt("runtime", false), root),
		o.fn("show", "Show the properties of a service.", "ssh", showFunc, name, root),
	}
}

// ofAll are the functions that list services.
func (o Options) ofAll() []loader.Func {
	root := loader.Opt("root", nil)
	return []loader.Func{
		o.fn("get_all", "List the services that there are.", "", getAll, root),
		o.fn("get_running", "List the services that run.", "", getRunning),
		o.fn("get_enabled", "List the services that start with the host.", "", getEnabled, root),
		o.fn("get_disabled", "List the services that do not start with the host.", "", getDisabled, root),
		o.fn("get_static", "List the services that start only because another one wants them.", "", getStatic, root),
		o.fn("execs", "Show which file each service starts.", "", execs, root),
	}
}

// virtual wants a host that systemd has booted. Unlike Salt: a systemctl alone is not enough. In Salt it is enough on
// few systems only, since other modules of that name come first on most.
func (o Options) virtual(p loader.Place) (bool, string) {
	_, err := os.Stat(newHost(o, nil).at("/run/systemd/system", nil))
	if kernel, _ := p.Grain("kernel"); kernel == "Linux" && err == nil {
		return true, ""
	}
	return false, "The systemd execution module failed to load: only available on Linux systems " +
		"which have been booted with systemd."
}
