package all

import (
	"brine/modules/loader"
	"brine/modules/states/alias"
	"brine/modules/states/alternatives"
	"brine/modules/states/host"
	"brine/modules/states/ini_manage"
	"brine/modules/states/iptables"
	"brine/modules/states/keyboard"
	"brine/modules/states/kmod"
	"brine/modules/states/locale"
	"brine/modules/states/sysctl"
	"brine/modules/states/test"
	"brine/modules/states/timezone"
)

// States are the state modules of a minion. Of two with one name the first that loads counts.
func States() loader.Table {
	return loader.Table{
		alias.Module,
		alternatives.Module,
		host.Module,
		ini_manage.Module,
		iptables.Module,
		keyboard.Module,
		kmod.Module,
		locale.Module,
		sysctl.Module,
		test.Module,
		timezone.Module,
	}
}
