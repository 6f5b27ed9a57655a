//go:build interop

package sqlstore_test

import (
	"testing"

	"brine/wire/payload"
)

// Salt 3006, the last long-term release that has the returner, stores the recorded rows, and both read what either
// wrote.
func TestSaltSQLite(t *testing.T) {
	path, db := newSQLite(t)
	opts := payload.M("sqlite3.database", path, "sqlite3.timeout", 5.0)
	saltStores(t, "3006", "sqlite3", opts, nil, func(jid string) map[string]string { return sqliteRow(t, db, jid) })

	path, _ = newSQLite(t)
	opts = payload.M("sqlite3.database", path, "sqlite3.timeout", 5.0)
	saltReads(t, newHost(t, "sqlite3.database", path, "sqlite3.timeout", 5.0), "3006", "sqlite3", opts, nil)
}
