// Package all lists the modules of this program by kind, a line for each. A test compares the lists with the folders.
package all

import (
	"brine/modules/execution/aptpkg"
	"brine/modules/execution/event"
	"brine/modules/execution/grains"
	"brine/modules/execution/hashutil"
	"brine/modules/execution/key"
	"brine/modules/execution/match"
	"brine/modules/execution/mine"
	"brine/modules/execution/pillar"
	"brine/modules/execution/publish"
	"brine/modules/execution/schedule"
	"brine/modules/execution/ssh"
	"brine/modules/execution/systemd_service"
	"brine/modules/loader"
)

// Execution are the modules of a minion and of salt-call. Of two with one name the first that loads counts.
func Execution() loader.Table {
	return loader.Table{
		aptpkg.Module,
		event.Module,
		grains.Module,
		hashutil.Module,
		key.Module,
		match.Module,
		mine.Module,
		pillar.Module,
		publish.Module,
		schedule.Module,
		ssh.Module,
		systemd_service.Module,
	}
}
