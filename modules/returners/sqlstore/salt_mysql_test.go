//go:build interop

package sqlstore_test

import "testing"

// Salt 3006, the last long-term release that has the returner, stores the recorded rows, and both read what either
// wrote.
func TestSaltMySQL(t *testing.T) {
	env := drivers(t, "3006")
	s := startMySQL(t, "--sql-mode=STRICT_TRANS_TABLES")
	db, opts := mysqlDatabase(t, s, "utf8")
	saltStores(t, "3006", "mysql", opts, env, func(jid string) map[string]string { return mysqlRow(t, db, jid) })
	_, opts = mysqlDatabase(t, s, "utf8")
	saltReads(t, hostOf(t, opts), "3006", "mysql", opts, env)
}
