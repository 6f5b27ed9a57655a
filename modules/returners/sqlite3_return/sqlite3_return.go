// Package sqlite3_return is the returner sqlite3 (see sqlstore). Answers to salt/returners/sqlite3_return.py.
package sqlite3_return

import (
	"brine/modules/loader"
	"brine/modules/returners/sqlstore"
)

// Module is the returner sqlite3.
func Module() loader.Module { return sqlstore.SQLite() }
