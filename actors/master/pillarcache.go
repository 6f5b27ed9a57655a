package master

import (
	"strings"
	"time"

	"brine/modules/fleet/datacache"
	"brine/modules/pillar"
	"brine/wire/payload"
)

// pillarCache is the option pillar_cache: the pillar that is kept of a minion answers it, as long as it is young
// enough. It stands in the data cache, where Salt 3008 keeps it (salt/pillar/__init__.py, PillarCache), so that the
// runners of both see and clear the same.
//
// Unlike Salt: it ends after pillar_cache_ttl, which Salt's localfs driver forgets; what was compiled with an external
// pillar on demand, with an override, or for an environment that there is not is never kept; a pillar with errors is
// compiled anew.
type pillarCache struct {
	on       bool
	lives    time.Duration
	banks    *datacache.Banks
	accepted func(id string) bool
	now      func() time.Time
}

// key is where the pillar of a minion in an environment is kept. ok is false where the name could be another minion's:
// ID:ENVIRONMENT is an id, too, for whoever has that one.
func (c *pillarCache) key(id, env string) (key string, ok bool) {
	switch {
	case strings.Contains(id, ":"):
		return id, false
	case env == "":
		return id, true
	}
	key = id + ":" + env
	return key, !c.accepted(key)
}

// look returns the pillar that answers a question without its override; nil: there is none, or it is not to be used.
func (c *pillarCache) look(q pillar.Question, env string) *payload.Map {
	key, ok := c.key(q.ID, env)
	if !c.on || !ok || q.Ext != nil {
		return nil
	}
	age := c.now().Sub(c.banks.Updated(datacache.BankPillar, key))
	if age < 0 || age >= c.lives { // one from the future comes from another clock
		return nil
	}
	v, err := c.banks.Fetch(datacache.BankPillar, key)
	data, _ := v.(*payload.Map)
	if err != nil || data.Len() == 0 || data.Has("_errors") {
		return nil
	}
	return data
}

// forget drops the pillar of a minion in an environment.
func (c *pillarCache) forget(id, env string) error {
	key, ok := c.key(id, env)
	if !c.on || !ok {
		return nil
	}
	_, err := c.banks.Flush(datacache.BankPillar, key)
	return err
}

// keeps tells whether the pillar of a minion in an environment is kept under its name. Without pillar_cache that of an
// id with a colon is, for targets.
func (c *pillarCache) keeps(id, env string) bool {
	_, ok := c.key(id, env)
	return ok || !c.on && env == ""
}
