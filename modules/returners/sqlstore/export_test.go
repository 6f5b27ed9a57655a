package sqlstore

import (
	"database/sql"

	"github.com/jackc/pgx/v5/pgconn"
)

// OpenPG connects to PostgreSQL by a connection string.
func OpenPG(dsn string) (*sql.DB, error) {
	conf, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(pgConnector{conf}), nil
}
