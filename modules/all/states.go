package all

import (
	"brine/modules/loader"
	"brine/modules/states/cron"
	"brine/modules/states/file"
	"brine/modules/states/group"
	"brine/modules/states/service"
	"brine/modules/states/ssh_auth"
	"brine/modules/states/ssh_known_hosts"
	"brine/modules/states/test"
	"brine/modules/states/user"
)

// States are the state modules of a minion. Of two with one name the first that loads counts.
func States() loader.Table {
	return loader.Table{
		cron.Module,
		file.Module,
		group.Module,
		service.Module,
		ssh_auth.Module,
		ssh_known_hosts.Module,
		test.Module,
		user.Module,
	}
}
