package sqlstore

import (
	"database/sql"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/wire/python"
)

// Limits of the connections that are kept.
const (
	keptIdle  = 20 * time.Second // how long what nobody uses stays open
	keptMost  = 4                // databases, by their options: ret_kwargs may name any number of them
	keptConns = 4                // connections to one database
)

// pool keeps databases open for the next call, each for a short while: a minion that returns something once an hour
// holds no connection in between.
type pool struct {
	idle time.Duration

	mu   sync.Mutex
	kept map[string]*kept
}

// kept is a database that calls share.
type kept struct {
	db    *sql.DB
	users int
	timer *time.Timer // runs while there are no users
}

func newPool() *pool { return &pool{idle: keptIdle, kept: map[string]*kept{}} }

// get is the database of a key, which open makes if none is kept. release gives it back.
func (p *pool) get(key string, open func() (*sql.DB, error)) (db *sql.DB, release func() error, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.kept[key]; k != nil {
		k.users++
		if k.timer != nil {
			k.timer.Stop()
			k.timer = nil
		}
		return k.db, func() error { return p.release(key, k) }, nil
	}
	if db, err = open(); err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(keptConns)
	db.SetMaxIdleConns(keptConns)
	db.SetConnMaxIdleTime(p.idle)
	if len(p.kept) >= keptMost {
		return db, db.Close, nil
	}
	k := &kept{db: db, users: 1}
	p.kept[key] = k
	return db, func() error { return p.release(key, k) }, nil
}

// release closes a database for which nobody comes for a while.
func (p *pool) release(key string, k *kept) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.users--; k.users == 0 {
		k.timer = time.AfterFunc(p.idle, func() { p.drop(key, k) })
	}
	return nil
}

// drop closes a database that is still unused. Its connections are idle: no error of theirs concerns anybody.
func (p *pool) drop(key string, k *kept) {
	p.mu.Lock()
	unused := k.users == 0 && p.kept[key] == k
	if unused {
		delete(p.kept, key)
	}
	p.mu.Unlock()
	if unused {
		_ = k.db.Close()
	}
}

// keyOf tells databases apart. It holds their passwords and is shown to nobody.
func keyOf(opt values) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(opt)) {
		b.WriteString(python.Repr([]any{name, opt[name]}))
	}
	return b.String()
}
