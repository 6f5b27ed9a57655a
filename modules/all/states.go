package all

import (
	"brine/modules/loader"
	"brine/modules/states/alias"
	"brine/modules/states/archive"
	"brine/modules/states/beacon"
	"brine/modules/states/cmd"
	"brine/modules/states/cron"
	"brine/modules/states/environ"
	"brine/modules/states/event"
	"brine/modules/states/file"
	"brine/modules/states/git"
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
	"brine/modules/states/pip_state"
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
	"brine/modules/states/virtualenv_mod"
	"brine/modules/states/x509_v2"
)

// States are the state modules of a minion. Of two with one name the first that loads counts.
func States() loader.Table {
	return loader.Table{
		alias.Module,
		archive.Module,
		beacon.Module,
		cmd.Module,
		cron.Module,
		environ.Module,
		event.Module,
		file.Module,
		git.Module,
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
		pip_state.Module,
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
		virtualenv_mod.Module,
		x509_v2.Module,
	}
}
