//go:build interop

package sqlstore_test

import (
	"flag"
	"testing"
	"time"

	"brine/wire/payload"
)

var speed = flag.Int("speed", 0, "how many returns brine and Salt write into each database, to measure both")

// TestSaltSpeed measures returns a second, one after the other, of both into the same databases.
func TestSaltSpeed(t *testing.T) {
	if *speed == 0 {
		t.Skip("-speed 0")
	}
	pg, my := startPostgres(t), startMySQL(t)
	path, _ := newSQLite(t)
	_, text := pgDatabase(t, pg, "postgres")
	_, json := pgDatabase(t, pg, "pgjsonb")
	_, mysql := mysqlDatabase(t, my, "utf8")
	for _, tt := range []struct {
		name, release string
		opts          *payload.Map
	}{
		{"sqlite3", "3006", payload.M("sqlite3.database", path, "sqlite3.timeout", 5.0)}, {"postgres", "3008", text},
		{"pgjsonb", "3008", json}, {"mysql", "3006", mysql},
	} {
		var calls [][]any
		for range *speed {
			calls = append(calls, []any{"returner", cases()[1].ret})
		}
		results, seconds := salt(t, tt.release, tt.name, tt.opts, drivers(t, tt.release), calls...)
		for _, r := range results {
			given(t, r)
		}
		h, begin := hostOf(t, tt.opts), time.Now()
		for range *speed {
			h.must(tt.name+".returner", cases()[1].ret)
		}
		took := time.Since(begin).Seconds()
		t.Logf("%s: Salt %.0f a second, brine %.0f, %.1f times", tt.name, float64(*speed)/seconds, float64(*speed)/took,
			seconds/took)
	}
}
