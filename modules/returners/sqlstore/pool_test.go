package sqlstore

import (
	"database/sql"
	"strconv"
	"testing"
	"time"
)

// A database is shared while it is used, and closed when nobody came for a while; more than a few are not kept.
func TestPool(t *testing.T) {
	p := newPool()
	p.idle = time.Millisecond
	opened := 0
	open := func() (*sql.DB, error) {
		opened++
		return openSQLite(values{"database": "/nonexistent", "timeout": 1.0})
	}
	get := func(key string) (*sql.DB, func() error) {
		t.Helper()
		db, release, err := p.get(key, open)
		if err != nil {
			t.Fatal(err)
		}
		return db, release
	}
	first, release := get("a")
	second, releaseToo := get("a")
	if first != second || opened != 1 {
		t.Errorf("opened %d times", opened)
	}
	var releases []func() error
	for i := range keptMost {
		_, release := get(strconv.Itoa(i))
		releases = append(releases, release)
	}
	kept := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.kept)
	}
	if kept() != keptMost {
		t.Errorf("%d are kept", kept())
	}
	for _, release := range append(releases, release) {
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	for kept() > 1 { // the others are idle; this one has a user still
		<-time.After(time.Millisecond)
	}
	if third, release := get("a"); third != first {
		t.Error("a database in use was closed")
	} else if err := release(); err != nil {
		t.Error(err)
	}
	if err := releaseToo(); err != nil {
		t.Error(err)
	}
	for kept() > 0 {
		<-time.After(time.Millisecond)
	}
	if _, err := first.Exec("SELECT 1"); err == nil || err.Error() != "sql: database is closed" {
		t.Errorf("not closed: %v", err)
	}
}
