// Package all lists the modules of this program by kind, a line for each. A test compares the lists with the folders.
package all

import (
	"brine/modules/execution/aptpkg"
	"brine/modules/execution/cp"
	"brine/modules/execution/defaults"
	"brine/modules/execution/file"
	"brine/modules/execution/groupadd"
	"brine/modules/execution/hashutil"
	"brine/modules/execution/jinja"
	"brine/modules/execution/mod_random"
	"brine/modules/execution/network"
	"brine/modules/execution/saltutil"
	"brine/modules/execution/slsutil"
	"brine/modules/execution/useradd"
	"brine/modules/loader"
)

// Execution are the modules of a minion and of salt-call. Of two with one name the first that loads counts.
func Execution() loader.Table {
	return loader.Table{
		aptpkg.Module,
		cp.Module,
		defaults.Module,
		file.Module,
		groupadd.Module,
		hashutil.Module,
		jinja.Module,
		mod_random.Module,
		network.Module,
		saltutil.Module,
		slsutil.Module,
		useradd.Module,
	}
}
