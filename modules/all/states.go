package all

import (
	"brine/modules/loader"
	"brine/modules/states/file"
	"brine/modules/states/cron"
	"brine/modules/states/group"
	"brine/modules/states/service"
	"brine/modules/states/test"
	"brine/modules/states/user"
)

// States are the state modules of a minion. Of two with one name the first that loads counts.
func States() loader.Table {
	return loader.Table{
		file.Module,
		cron.Module,
		group.Module,
		service.Module,
		test.Module,
		user.Module,
	}
}
