// Package mysql is the returner mysql (see sqlstore). Answers to salt/returners/mysql.py.
package mysql

import (
	"brine/modules/loader"
	"brine/modules/returners/sqlstore"
)

// Module is the returner mysql.
func Module() loader.Module { return sqlstore.MySQL() }
