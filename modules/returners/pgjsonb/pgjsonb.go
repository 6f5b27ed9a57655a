// Package pgjsonb is the returner pgjsonb (see sqlstore). Answers to salt/returners/pgjsonb.py.
package pgjsonb

import (
	"brine/modules/loader"
	"brine/modules/returners/sqlstore"
)

// Module is the returner pgjsonb.
func Module() loader.Module { return sqlstore.PGJSONB() }
