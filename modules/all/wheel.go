package all

import (
	"brine/modules/loader"
	"brine/modules/wheel"
	"brine/modules/wheel/config"
	"brine/modules/wheel/error"
	"brine/modules/wheel/file_roots"
	"brine/modules/wheel/key"
	"brine/modules/wheel/minions"
	"brine/modules/wheel/pillar_roots"
)

// Wheel are the modules that manage a master, which is as the options say.
func Wheel(o wheel.Options) loader.Listed {
	return loader.Listed{
		config.Module(o),
		error.Module(),
		file_roots.Module(),
		key.Module(o),
		minions.Module(o),
		pillar_roots.Module(),
	}
}
