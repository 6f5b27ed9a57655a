// Package postgres is the returner postgres (see sqlstore). Answers to salt/returners/postgres.py.
package postgres

import (
	"brine/modules/loader"
	"brine/modules/returners/sqlstore"
)

// Module is the returner postgres.
func Module() loader.Module { return sqlstore.Postgres() }
