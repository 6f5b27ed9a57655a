// Package all lists the modules of this program by kind, a line for each. A test compares the lists with the folders.
package all

import (
	"brine/modules/execution/aptpkg"
	"brine/modules/execution/brine"
	"brine/modules/execution/cmdmod"
	"brine/modules/execution/config"
	"brine/modules/execution/cp"
	"brine/modules/execution/defaults"
	"brine/modules/execution/disk"
	"brine/modules/execution/dnsutil"
	"brine/modules/execution/environ"
	"brine/modules/execution/event"
	"brine/modules/execution/file"
	"brine/modules/execution/grains"
	"brine/modules/execution/groupadd"
	"brine/modules/execution/hashutil"
	"brine/modules/execution/http"
	"brine/modules/execution/jinja"
	"brine/modules/execution/key"
	"brine/modules/execution/logmod"
	"brine/modules/execution/match"
	"brine/modules/execution/mine"
	"brine/modules/execution/minion"
	"brine/modules/execution/mod_random"
	"brine/modules/execution/mount"
	"brine/modules/execution/network"
	"brine/modules/execution/pillar"
	"brine/modules/execution/ps"
	"brine/modules/execution/publish"
	"brine/modules/execution/saltutil"
	"brine/modules/execution/schedule"
	"brine/modules/execution/sdb"
	"brine/modules/execution/slsutil"
	"brine/modules/execution/ssh"
	"brine/modules/execution/state"
	"brine/modules/execution/status"
	"brine/modules/execution/sysmod"
	"brine/modules/execution/systemd_service"
	"brine/modules/execution/test"
	"brine/modules/execution/useradd"
	"brine/modules/loader"
)

// Execution are the modules of a minion and of salt-call. Of two with one name the first that loads counts.
func Execution() loader.Table {
	return loader.Table{
		aptpkg.Module,
		brine.Module,
		cmdmod.Module,
		config.Module,
		cp.Module,
		defaults.Module,
		disk.Module,
		dnsutil.Module,
		environ.Module,
		event.Module,
		file.Module,
		grains.Module,
		groupadd.Module,
		hashutil.Module,
		http.Module,
		jinja.Module,
		key.Module,
		logmod.Module,
		match.Module,
		mine.Module,
		minion.Module,
		mod_random.Module,
		mount.Module,
		network.Module,
		pillar.Module,
		ps.Module,
		publish.Module,
		saltutil.Module,
		schedule.Module,
		sdb.Module,
		slsutil.Module,
		ssh.Module,
		state.Module,
		status.Module,
		sysmod.Module,
		systemd_service.Module,
		test.Module,
		useradd.Module,
	}
}
