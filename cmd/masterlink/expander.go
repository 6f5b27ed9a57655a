package masterlink

import (
	"brine/cmd/session"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/matchers"
)

// Expander works targets out from the files of the master.
func Expander(s *session.Session) *matchers.Expander {
	return &matchers.Expander{Source: masterFiles{keys.OpenStore(s.Master), Cache(s)}, Nodegroups: s.Master.Nodegroups,
		DataCache: s.Master.MinionDataCache}
}

// masterFiles are the keys and the cached data of a master on this machine, as targets need them.
type masterFiles struct {
	keys *keys.Store
	*datacache.Banks
}

// Accepted lists the ids with an accepted key.
func (f masterFiles) Accepted() ([]string, error) { return f.keys.IDs(keys.Accepted) }
