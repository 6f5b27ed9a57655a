package all

import (
	"brine/modules/loader"
	"brine/modules/states/archive"
	"brine/modules/states/file"
	"brine/modules/states/git"
	"brine/modules/states/pip_state"
	"brine/modules/states/test"
	"brine/modules/states/virtualenv_mod"
	"brine/modules/states/x509_v2"
)

// States are the state modules of a minion. Of two with one name the first that loads counts.
func States() loader.Table {
	return loader.Table{
		archive.Module,
		file.Module,
		git.Module,
		pip_state.Module,
		test.Module,
		virtualenv_mod.Module,
		x509_v2.Module,
	}
}
