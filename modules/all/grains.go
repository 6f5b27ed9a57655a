package all

import (
	"brine/modules/grains"
	"brine/modules/grains/core"
	"brine/modules/grains/disks"
	"brine/modules/grains/extra"
	"brine/modules/grains/lvm"
	"brine/modules/grains/mdadm"
	"brine/modules/grains/minion_process"
	"brine/modules/grains/opts"
	package_ "brine/modules/grains/package"
	"brine/modules/grains/resources"
	"brine/modules/grains/truststore"
)

// Grains are the modules that find facts of a host, in Salt's order: of two with one grain the later one counts.
func Grains() []grains.Module {
	return []grains.Module{
		core.Module(),
		disks.Module(),
		extra.Module(),
		lvm.Module(),
		mdadm.Module(),
		minion_process.Module(),
		opts.Module(),
		package_.Module(),
		resources.Module(),
		truststore.Module(),
	}
}
