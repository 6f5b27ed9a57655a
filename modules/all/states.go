package all

import (
	"brine/modules/loader"
	"brine/modules/states/beacon"
	"brine/modules/states/cmd"
	"brine/modules/states/cron"
	"brine/modules/states/environ"
	"brine/modules/states/event"
	"brine/modules/states/file"
	"brine/modules/states/grains"
	"brine/modules/states/group"
	"brine/modules/states/http"
	"brine/modules/states/loop"
	"brine/modules/states/module"
	"brine/modules/states/mount"
	"brine/modules/states/process"
	"brine/modules/states/saltutil"
	"brine/modules/states/schedule"
	"brine/modules/states/service"
	"brine/modules/states/stateconf"
	"brine/modules/states/status"
	"brine/modules/states/test"
	"brine/modules/states/user"
)

// States are the state modules of a minion. Of two with one name the first that loads counts.
func States() loader.Table {
	return loader.Table{
		beacon.Module,
		cmd.Module,
		cron.Module,
		environ.Module,
		event.Module,
		file.Module,
		grains.Module,
		group.Module,
		http.Module,
		loop.Module,
		module.Module,
		mount.Module,
		process.Module,
		saltutil.Module,
		schedule.Module,
		service.Module,
		stateconf.Module,
		status.Module,
		test.Module,
		user.Module,
	}
}
