package all

import (
	"brine/modules/loader"
	"brine/modules/states/alias"
	"brine/modules/states/alternatives"
	"brine/modules/states/beacon"
	"brine/modules/states/cmd"
	"brine/modules/states/cron"
	"brine/modules/states/environ"
	"brine/modules/states/event"
	"brine/modules/states/file"
	"brine/modules/states/grains"
	"brine/modules/states/group"
	"brine/modules/states/host"
	"brine/modules/states/http"
	"brine/modules/states/ini_manage"
	"brine/modules/states/iptables"
	"brine/modules/states/keyboard"
	"brine/modules/states/kmod"
	"brine/modules/states/locale"
	"brine/modules/states/loop"
	"brine/modules/states/module"
	"brine/modules/states/process"
	"brine/modules/states/saltutil"
	"brine/modules/states/schedule"
	"brine/modules/states/service"
	"brine/modules/states/stateconf"
	"brine/modules/states/status"
	"brine/modules/states/sysctl"
	"brine/modules/states/test"
	"brine/modules/states/timezone"
	"brine/modules/states/user"
)

// States are the state modules of a minion. Of two with one name the first that loads counts.
func States() loader.Table {
	return loader.Table{
		alias.Module,
		alternatives.Module,
		beacon.Module,
		cmd.Module,
		cron.Module,
		environ.Module,
		event.Module,
		file.Module,
		grains.Module,
		group.Module,
		host.Module,
		http.Module,
		ini_manage.Module,
		iptables.Module,
		keyboard.Module,
		kmod.Module,
		locale.Module,
		loop.Module,
		module.Module,
		process.Module,
		saltutil.Module,
		schedule.Module,
		service.Module,
		stateconf.Module,
		status.Module,
		sysctl.Module,
		test.Module,
		timezone.Module,
		user.Module,
	}
}
