// Package execution registers the execution functions of this program: what a job of the master or salt-call may
// call on a minion. A module is a package below.
//
// The functions hold no state and know no daemon: everything they need comes with loader.Call. They answer to
// salt/modules/*.py.
package execution

import (
	"brine/modules/absent"
	"brine/modules/all"
	"brine/modules/loader"
	"brine/wire/payload"
)

// Options say what the functions tell about the program.
type Options struct {
	Version  string              // Salt release it answers as: "3008.3"
	Versions func() *payload.Map // further sections of the versions report; may be nil

	// The other registries sys.*_doc, sys.list_* and sys.*_argspec tell about; may be nil.
	States, Runners, Returners, Renderers *loader.Registry
}

// Register adds all functions.
func Register(reg *loader.Registry, opt Options) {
	reg.Lacks(absent.Of(absent.Execution))
	reg.Offer(all.Execution())
	reg.Of(loader.Program{Version: opt.Version, Versions: opt.Versions, States: opt.States, Runners: opt.Runners,
		Returners: opt.Returners, Renderers: opt.Renderers})
}
