package all

import (
	"brine/modules/loader"
	"brine/modules/states/beacon"
	"brine/modules/states/cmd"
	"brine/modules/states/environ"
	"brine/modules/states/event"
	"brine/modules/states/grains"
	"brine/modules/states/http"
	"brine/modules/states/loop"
	"brine/modules/states/module"
	"brine/modules/states/mount"
	"brine/modules/states/process"
	"brine/modules/states/saltutil"
	"brine/modules/states/schedule"
	"brine/modules/states/stateconf"
	"brine/modules/states/status"
	"brine/modules/states/test"
)

// States are the state modules of a minion. Of two with one name the first that loads counts.
func States() loader.Table {
	return loader.Table{
		beacon.Module,
		cmd.Module,
		environ.Module,
		event.Module,
		grains.Module,
		http.Module,
		loop.Module,
		module.Module,
		mount.Module,
		process.Module,
		saltutil.Module,
		schedule.Module,
		stateconf.Module,
		status.Module,
		test.Module,
	}
}
