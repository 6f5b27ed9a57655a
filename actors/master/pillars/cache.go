package pillars

import (
	"strings"
	"time"

	"brine/modules/fleet/datacache"
	"brine/modules/pillar"
	"brine/wire/payload"
)

// Cache is the option pillar_cache: the pillar that is kept of a minion answers it, as long as it is young
// enough. It stands in the data cache, where Salt 3008 keeps it (salt/pillar/__init__.py, PillarCache), so that the
// runners of both see and clear the same.
//
// Unlike Salt: it ends after pillar_cache_ttl, which Salt's localfs driver forgets; what was compiled with an external
// pillar on demand, with an override, or for an environment that there is not is never kept; a pillar with errors is
// compiled anew.
type Cache struct {
	On       bool
	Lives    time.Duration
	Banks    *datacache.Banks
	Accepted func(id string) bool
	Now      func() time.Time
}

// Key is where the pillar of a minion in an environment is kept. ok is false where the name could be another minion's:
// ID:ENVIRONMENT is an id, too, for whoever has that one.
func (c *Cache) Key(id, env string) (key string, ok bool) {
	switch {
	case strings.Contains(id, ":"):
		return id, false
	case env == "":
		return id, true
	}
	key = id + ":" + env
	return key, !c.Accepted(key)
}

// Look returns the pillar that answers a question without its override; nil: there is none, or it is not to be used.
func (c *Cache) Look(q pillar.Question, env string) *payload.Map {
	key, ok := c.Key(q.ID, env)
	if !c.On || !ok || q.Ext != nil {
		return nil
	}
	age := c.Now().Sub(c.Banks.Updated(datacache.BankPillar, key))
	if age < 0 || age >= c.Lives { // one from the future comes from another clock
		return nil
	}
	v, err := c.Banks.Fetch(datacache.BankPillar, key)
	data, _ := v.(*payload.Map)
	if err != nil || data.Len() == 0 || data.Has("_errors") {
		return nil
	}
	return data
}

// Forget drops the pillar of a minion in an environment.
func (c *Cache) Forget(id, env string) error {
	key, ok := c.Key(id, env)
	if !c.On || !ok {
		return nil
	}
	_, err := c.Banks.Flush(datacache.BankPillar, key)
	return err
}

// Keeps tells whether the pillar of a minion in an environment is kept under its name. Without pillar_cache that of an
// id with a colon is, for targets.
func (c *Cache) Keeps(id, env string) bool {
	_, ok := c.Key(id, env)
	return ok || !c.On && env == ""
}
