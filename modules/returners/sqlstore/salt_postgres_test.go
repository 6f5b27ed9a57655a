//go:build interop

package sqlstore_test

import "testing"

// Salt 3008 stores the recorded rows, and both read what either wrote.
func TestSaltPostgres(t *testing.T) {
	s := startPostgres(t)
	for _, name := range []string{"postgres", "pgjsonb"} {
		t.Run(name, func(t *testing.T) {
			env := drivers(t, "3008")
			db, opts := pgDatabase(t, s, name)
			saltStores(t, "3008", name, opts, env, func(jid string) map[string]string { return pgRow(t, db, jid) })
			_, opts = pgDatabase(t, s, name)
			saltReads(t, hostOf(t, opts), "3008", name, opts, env)
		})
	}
}
