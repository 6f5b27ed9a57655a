// Package execution puts together what execution functions run in: the functions of all modules, the grains of the
// machine and its options. A module is a folder below. The functions hold no state and know no daemon: everything they
// need comes with loader.Call. They answer to salt/modules/*.py.
package execution

import (
	"os"

	"brine/modules/absent"
	"brine/modules/all"
	"brine/modules/grains"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/runners"
	"brine/wire/payload"
)

// Machine says on which machine functions run, and for which daemon or tool.
type Machine struct {
	ID         string
	Opts       *payload.Map // the options of the daemon, those of "grains" among them
	Version    string       // Salt release the program answers as: "3008.3"
	ZMQVersion string       // "" leaves the grain out
	Refresh    bool         // grains are computed anew, whatever a cache holds
}

// Functions are all functions, as far as the options let them be called.
func (m Machine) Functions() *loader.Registry {
	reg := loader.NewRegistry()
	reg.Lacks(absent.Of(absent.Execution))
	reg.Offer(all.Execution())
	reg.Of(loader.Program{Version: m.Version, States: m.states(), Runners: m.runners(), Returners: m.Returners()})
	reg.Limit(loader.LimitsOf(m.Opts, "modules"))
	reg.Provide(loader.ProvidersOf(m.Opts))
	return reg
}

// states are all state functions, as far as the options let them be called.
func (m Machine) states() *loader.Registry {
	reg := loader.NewRegistry()
	reg.Lacks(absent.Of(absent.State))
	reg.Offer(all.States())
	reg.Limit(loader.LimitsOf(m.Opts, "states"))
	return reg
}

// runners are the runner functions that the module sys tells about, on every machine as in Salt; they cannot run.
func (m Machine) runners() *loader.Registry {
	reg := loader.NewRegistry()
	reg.Offer(loader.Later(func() loader.Source { return all.Runners(runners.Options{}) }))
	reg.Limit(loader.LimitsOf(m.Opts, "runners"))
	return reg
}

// Returners are all returners of the machine.
func (m Machine) Returners() *loader.Registry {
	reg := loader.NewRegistry()
	reg.Offer(loader.Later(func() loader.Source {
		return all.Returners(returners.Options{Registry: reg, Stdout: os.Stdout})
	}))
	return reg
}

// Grains are the grains of the machine, with those of the configuration. None is computed before it is asked for.
func (m Machine) Grains() *grains.Collector {
	return grains.New(grains.Options{Opts: m.Opts, Static: m.Opts.Map("grains"), Version: m.Version,
		ZMQVersion: m.ZMQVersion, Refresh: m.Refresh}, all.Grains())
}

// NewEnv is what functions are called in. The caller adds what its process offers them (loader.Host), and a pillar.
func NewEnv(m Machine) *loader.Env {
	reg := m.Functions()
	facts := m.Grains()
	env := &loader.Env{Registry: reg, ID: m.ID, Opts: func() *payload.Map {
		return m.Opts
	}, Grains: facts.Map, GrainOf: facts.Get}
	reg.On(env)
	reg.Program().States.On(env)
	return env
}
